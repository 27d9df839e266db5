#include "terminal/progress_bar.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text/text.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

std::size_t columns_of_stderr() {
  winsize size{};
  if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string time_left(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole >= 3'600) return fmt::format("{} h {} min", whole / 3'600, whole % 3'600 / 60);
  if (whole >= 60) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} s", whole);
}

}  // namespace

ProgressBar::ProgressBar(std::uint64_t total, std::string unit, bool quiet)
    : total_(total), unit_(std::move(unit)), shown_(!quiet && ::isatty(STDERR_FILENO) != 0) {}

ProgressBar::~ProgressBar() {
  if (drawn_) fmt::print(stderr, "\r\033[K");
}

void ProgressBar::show(std::uint64_t done, std::uint64_t items, std::string_view what) {
  const Clock::time_point now = Clock::now();
  if (!shown_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  const double seconds = std::max(std::chrono::duration<double>(now - started_).count(), 0.001);
  const double share =
      total_ == 0 ? 0 : std::min(1.0, static_cast<double>(done) / static_cast<double>(total_));
  if (first_items_ == 0) first_items_ = items;  // a download may continue an earlier one
  const std::uint64_t new_items = unit_.empty() ? items - std::min(items, first_items_) : items;
  const double rate = static_cast<double>(new_items) / seconds;
  std::string line = fmt::format("{} {:3.0f}%  ", bar(share, 24), 100 * share);
  line += unit_.empty() ? fmt::format("{} of {}, {}/s", base::human_bytes(items), base::human_bytes(total_),
                                      base::human_bytes(static_cast<std::uint64_t>(rate)))
                        : fmt::format("{}, {:.0f}/s", several(items, unit_), rate);
  if (unit_.empty()) {
    if (rate > 0 && seconds > 1)
      line +=
          fmt::format(", {} left", time_left(static_cast<double>(total_ - std::min(total_, items)) / rate));
  } else if (share > 0.01 && seconds > 1) {
    line += fmt::format(", {} left", time_left(seconds / share - seconds));
  }
  const std::size_t columns = columns_of_stderr();
  const std::size_t used = display_width(line) + 2;
  if (used + 8 < columns) line += "  " + printable(what, columns - used - 2);
  fmt::print(stderr, "\r\033[K{}", line);
  std::fflush(stderr);
}

}  // namespace plimsoll
