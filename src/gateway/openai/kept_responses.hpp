// Stored responses, which later requests can continue.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "plimsoll/sessions.hpp"

namespace plimsoll::gateway {

struct KeptResponsesLimits {
  std::int64_t count = 2'000;                  // per owner; the oldest are deleted first
  std::int64_t bytes = std::int64_t{4} << 20;  // of one response with its request
  std::size_t chain = 1'000;                   // responses in one conversation
  std::size_t chain_bytes = std::size_t{32} << 20;
};

struct Conversation {
  std::string root;                                                // its first response
  nlohmann::ordered_json items = nlohmann::ordered_json::array();  // input and output, oldest first
};

// Thread-safe; calls block. The store must outlive it.
class KeptResponses {
 public:
  explicit KeptResponses(SessionStore& store, KeptResponsesLimits limits = {})
      : store_(store), limits_(limits) {}

  static std::string new_id();

  // Returns the conversation up to this response. not_found: it is not stored, or a response that it
  // continues was deleted.
  Result<Conversation> until(std::string_view owner, std::string_view id) const;
  // `items`: the input without the continued conversation, a JSON list.
  Result<void> keep(std::string_view owner, const nlohmann::ordered_json& response,
                    std::string_view items) const;
  // not_found: not stored.
  Result<nlohmann::ordered_json> response(std::string_view owner, std::string_view id) const;
  Result<nlohmann::ordered_json> items(std::string_view owner, std::string_view id) const;
  // Also deletes the stored data of the conversation that it started.
  Result<void> forget(std::string_view owner, std::string_view id) const;

 private:
  SessionStore& store_;
  KeptResponsesLimits limits_;
};

}  // namespace plimsoll::gateway
