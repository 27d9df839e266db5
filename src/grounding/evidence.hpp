// The sentences of all passages, and which of them have a word or a number.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grounding/claims.hpp"
#include "plimsoll/grounding.hpp"

namespace plimsoll::grounding {

// Whether two stems contradict each other: "increas", "decreas".
bool are_opposite(std::string_view a, std::string_view b);

struct EvidenceSentence {
  std::size_t passage = 0;
  std::string_view text;
  Claims claims;
};

// The passages must outlive it. Lists of sentences are indexes, ascending.
class PassageSentences {
 public:
  explicit PassageSentences(std::span<const GivenPassage> passages);

  const std::vector<EvidenceSentence>& sentences() const { return sentences_; }

  // Returns the passage with these words in a row, from the start of a sentence or clause on.
  std::optional<std::size_t> with_quotation(std::string_view sentence) const;
  // Returns the sentences with this word; null: none.
  const std::vector<std::uint32_t>* with(const std::string& stem) const;
  // Returns the sentences with a word that is a form of this one: "navigator", "navigation".
  std::vector<std::uint32_t> with_related(const std::string& stem) const;
  std::vector<std::uint32_t> with(const Number& number) const;
  bool has_in_context(std::size_t passage, const std::string& stem) const;

 private:
  void add(std::uint32_t place);

  using Postings = std::unordered_map<std::string, std::vector<std::uint32_t>>;
  std::vector<EvidenceSentence> sentences_;
  std::vector<Claims> context_;
  std::vector<std::string> lines_;  // the passages' texts with single blanks
  Postings words_, numbers_;
};

}  // namespace plimsoll::grounding
