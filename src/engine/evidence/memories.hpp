// What people and programs do with memories: add, list, search, judge, forget.
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
  std::string session{};  // empty: of all conversations
  std::string source = "user";
  std::optional<double> importance{}, trust{};
};

struct AddedFact {
  Fact fact;
  bool is_new = true;
  std::string note{};  // why it is found by its words alone
};

struct FactWithHistory {
  Fact fact;
  std::vector<FactFeedback> history;  // oldest first
};

// Any thread may call at any time; all of it blocks. The store outlives it.
class Memories {
 public:
  Memories(FactStore& store, memory::FindEmbedder embedder, std::int64_t most)
      : own_(store, std::move(embedder)), most_(most) {}

  // bad_input says what is wrong with the fact.
  Result<AddedFact> add(std::string_view owner, const NewFact& given, Deadline deadline);
  Result<std::vector<Fact>> list(const FactScope& scope, std::size_t limit);
  Result<memory::OwnSearch> search(const FactScope& scope, std::string_view query, std::size_t limit,
                                   Deadline deadline);
  Result<FactWithHistory> show(std::string_view owner, std::string_view id);
  Result<Fact> feedback(std::string_view owner, std::string_view id, bool helpful);
  Result<Forgotten> forget(std::string_view owner, std::string_view id);
  Result<Forgotten> forget_session(std::string_view owner, std::string_view session);

  memory::OwnFacts& own() { return own_; }
  // Called first whenever something is to be forgotten: whoever has traces to write writes them now. To be
  // set before anybody forgets.
  void before_forgetting(std::function<void()> call) { before_forgetting_ = std::move(call); }

 private:
  std::function<void()> before_forgetting_;
  memory::OwnFacts own_;
  std::int64_t most_;
};

}  // namespace plimsoll::engine
