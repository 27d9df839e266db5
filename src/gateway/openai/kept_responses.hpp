// Responses that are kept: what a later one goes on from.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "plimsoll/sessions.hpp"

namespace plimsoll::gateway {

struct KeptResponsesLimits {
  std::int64_t count = 2'000;                  // of one owner; beyond it the oldest go
  std::int64_t bytes = std::int64_t{4} << 20;  // of one, with what was asked
  std::size_t chain = 1'000;                   // of those that one goes on from
  std::size_t chain_bytes = std::size_t{32} << 20;
};

struct Conversation {
  std::string root;                                                // the response that it began with
  nlohmann::ordered_json items = nlohmann::ordered_json::array();  // asked and said, oldest first
};

// Any thread may call at any time; calls block. The store outlives it.
class KeptResponses {
 public:
  explicit KeptResponses(SessionStore& store, KeptResponsesLimits limits = {})
      : store_(store), limits_(limits) {}

  static std::string new_id();

  // All that was asked and said up to this response. not_found: it is not kept here, or one that it goes on
  // from is gone.
  Result<Conversation> until(std::string_view owner, std::string_view id) const;
  // `items`: what was asked beside the conversation that it goes on from, a JSON list.
  Result<void> keep(std::string_view owner, const nlohmann::ordered_json& response,
                    std::string_view items) const;
  // not_found: it is not kept here.
  Result<nlohmann::ordered_json> response(std::string_view owner, std::string_view id) const;
  Result<nlohmann::ordered_json> items(std::string_view owner, std::string_view id) const;
  // With what was kept of the conversation that it began.
  Result<void> forget(std::string_view owner, std::string_view id) const;

 private:
  SessionStore& store_;
  KeptResponsesLimits limits_;
};

}  // namespace plimsoll::gateway
