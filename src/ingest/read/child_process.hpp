// Runs another program with limits of time, memory and output. Its process group is killed if it exceeds one.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

struct ChildLimits {
  std::chrono::milliseconds time{60'000};  // wall clock and CPU time
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  std::uint64_t output_bytes = std::uint64_t{64} << 20;
};

struct ChildOutput {
  std::string output;
  std::string errors;  // the first 4 KiB of standard error
  int status = 0;      // exit status; 128 + the signal that ended it
  bool cut = false;    // the output was too long and was truncated
};

// `arguments[0]` is searched in PATH. The argument "{input}" is replaced by the path of a file in memory with
// `input`. not_found: no such program. timed_out: it was killed.
Result<ChildOutput> run_child(const std::vector<std::string>& arguments, std::string_view input,
                              const ChildLimits& limits);

}  // namespace plimsoll::ingest
