// A line on stderr with progress, rate and time left. Nothing is drawn if stderr is not a terminal.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace plimsoll {

class ProgressBar {
 public:
  // `total`: in the same unit as `done` below, such as bytes; 0: not known. `unit`: name of one item, "file";
  // empty: the items are bytes, and so is the total.
  ProgressBar(std::uint64_t total, std::string unit, bool quiet = false);
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  ~ProgressBar();  // clears the line

  // Draws at most ten times a second. `items`: counted for the rate; `what`: the current item.
  void show(std::uint64_t done, std::uint64_t items, std::string_view what);

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t total_;
  std::string unit_;
  bool shown_;
  bool drawn_ = false;
  std::uint64_t first_items_ = 0;
  Clock::time_point started_ = Clock::now();
  Clock::time_point last_{};
};

}  // namespace plimsoll
