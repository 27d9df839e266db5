// How well the check of answers tells sentences that passages support from those that they do not.
//
// A data set is a file with a JSON object per line: {sentence, supported, passages: [text, ...], question,
// kind}.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/grounding.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::eval {

struct GroundingCase {
  std::string sentence;
  bool is_supported = false;  // what is true
  std::vector<std::string> passages;
  std::string question;  // may be empty
  std::string kind;      // "number", "verbatim"; may be empty
};

// bad_input names the line.
Result<std::vector<GroundingCase>> read_grounding_cases(std::string_view lines);

struct GroundingScore {
  std::string kind;
  std::size_t cases = 0;
  bool is_supported = false;
  std::size_t flagged = 0;  // found unsupported
};

struct GroundingReport {
  std::vector<GroundingScore> kinds;  // by kind and truth, in the order of their first case
  std::size_t made_up = 0;            // cases that are not supported
  std::size_t flagged = 0;            // cases found unsupported
  std::size_t flagged_made_up = 0;    // both
  double precision = 0, recall = 0;   // of "unsupported"
  std::vector<std::size_t> wrong;     // indexes of cases with the wrong verdict
};

// A case is flagged if one of its sentences is unsupported.
GroundingReport evaluate_grounding(const std::vector<GroundingCase>& cases, const Similarity& similarity);

std::string report_json(const GroundingReport& report);

}  // namespace plimsoll::eval
