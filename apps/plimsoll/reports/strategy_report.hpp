// Results of `plimsoll strategy`, and how they are printed.
#pragma once

#include <string>
#include <vector>

#include "plimsoll/strategy.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

struct WeighedFile {
  std::string path;
  std::int64_t bytes = 0;
  Tokens tokens = 0;
  bool counted = false;    // else estimated from its size
  std::string document{};  // "PDF" or ".docx": its text was counted; else empty
};
struct SkippedFile {
  std::string path;
  std::string why;
};

struct StrategyFindings {
  StrategyDecision decision;
  std::vector<WeighedFile> files;
  std::vector<SkippedFile> skipped;
  std::string model;          // name in the catalogue; empty: no model given
  std::string tokenizer;      // used to count files; empty: not needed or not available
  std::string not_counted;    // why files were estimated
  std::string window_source;  // "given", "configured", "catalogue", "default"
  ContextBudget pressure;
  double base_min_trust = 0.3;
  bool prefetch_wanted = true;  // rule S3, for the query
};

std::string strategy_report(const StrategyFindings& findings, const Terminal& terminal);
std::string strategy_json(const StrategyFindings& findings);

}  // namespace plimsoll
