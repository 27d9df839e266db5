// What `plimsoll strategy` found out, and how people see it.
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
  std::string model;          // the catalogue's name; empty: none was named
  std::string tokenizer;      // that files were counted with; empty: none was needed, or none could be opened
  std::string not_counted;    // why files were estimated
  std::string window_source;  // "given", "configured", "catalogue", "default"
  ContextBudget pressure;
  double base_min_trust = 0.3;
  bool prefetch_wanted = true;  // rule S3, for the query
};

std::string strategy_report(const StrategyFindings& findings, const Terminal& terminal);
std::string strategy_json(const StrategyFindings& findings);

}  // namespace plimsoll
