// Operations on memories: add, list, search, rate, forget.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory/own_facts.hpp"
#include "plimsoll/memory.hpp"

namespace plimsoll::engine {

struct NewFact {
  std::string text;
  std::string session{};  // empty: all conversations
  std::string source = "user";
  std::optional<double> importance{}, trust{};
};

struct AddedFact {
  Fact fact;
  bool is_new = true;
  std::string note{};  // why it has keyword search only
};

struct FactWithHistory {
  Fact fact;
  std::vector<FactFeedback> history;  // oldest first
};

// Thread-safe; all calls block. The store must outlive it.
class Memories {
 public:
  Memories(FactStore& store, memory::FindEmbedder embedder, std::int64_t most)
      : own_(store, std::move(embedder)), most_(most) {}

  // bad_input: the fact is invalid; the error says why.
  Result<AddedFact> add(std::string_view owner, const NewFact& given, Deadline deadline);
  Result<std::vector<Fact>> list(const FactScope& scope, std::size_t limit);
  Result<memory::OwnSearch> search(const FactScope& scope, std::string_view query, std::size_t limit,
                                   Deadline deadline);
  Result<FactWithHistory> show(std::string_view owner, std::string_view id);
  Result<Fact> feedback(std::string_view owner, std::string_view id, bool helpful);
  Result<Forgotten> forget(std::string_view owner, std::string_view id);
  Result<Forgotten> forget_session(std::string_view owner, std::string_view session);

  memory::OwnFacts& own() { return own_; }
  // Sets a callback that runs before each deletion, to write pending traces first. Set it before the first
  // deletion.
  void before_forgetting(std::function<void()> call) { before_forgetting_ = std::move(call); }

 private:
  std::function<void()> before_forgetting_;
  memory::OwnFacts own_;
  std::int64_t most_;
};

}  // namespace plimsoll::engine
