// Runs another program with bounds: of time, memory and output. Its group is killed when one is passed.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::ingest {

struct ChildLimits {
  std::chrono::milliseconds time{60'000};  // wall clock, and of its processor
  std::uint64_t memory_bytes = std::uint64_t{1} << 30;
  std::uint64_t output_bytes = std::uint64_t{64} << 20;
};

struct ChildOutput {
  std::string output;
  std::string errors;  // the first 4 KiB of what it complained of
  int status = 0;      // of its exit; 128 + the signal that ended it
  bool cut = false;    // it wrote more than it may; the rest was not taken
};

// `arguments[0]` is looked for in PATH. An argument that is "{input}" becomes a path to a file that holds
// `input` and lies in memory. not_found: there is no such program. timed_out: it was killed.
Result<ChildOutput> run_child(const std::vector<std::string>& arguments, std::string_view input,
                              const ChildLimits& limits);

}  // namespace plimsoll::ingest
