#include "count/chat/jinja_hooks.hpp"

#include <cmath>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace plimsoll::count::hooks {
namespace {

thread_local Budget* current = nullptr;

// The address of the frame: a sanitizer may move variables elsewhere.
const char* here() {
  return static_cast<const char*>(__builtin_frame_address(0));
}

}  // namespace

Budget::Budget(std::uint64_t request_bytes)
    : steps_limit(most_steps + 4 * request_bytes),
      bytes_limit(most_bytes + 16 * request_bytes),
      outer_(current) {
  stack = here();
  current = this;
}

Budget::~Budget() {
  for (const auto& call : at_end) call();
  current = outer_;
}

void at_end(std::function<void()> call) {
  if (current != nullptr) current->at_end.push_back(std::move(call));
}

void step(std::uint64_t weight) {
  if (current == nullptr) return;
  current->steps += weight;
  if (current->steps > current->steps_limit)
    throw std::runtime_error(fmt::format("it takes more than {} steps", current->steps_limit));
  const char* const top = here();
  const auto depth = current->stack > top ? current->stack - top : top - current->stack;
  if (static_cast<std::size_t>(depth) > most_stack) throw std::runtime_error("it is nested too deeply");
}

void grow(std::size_t bytes) {
  if (current == nullptr) return;
  current->bytes += bytes;
  if (current->bytes > current->bytes_limit)
    throw std::runtime_error(fmt::format("it makes more than {} bytes of text", current->bytes_limit));
}

std::string python_float(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  std::string text = fmt::format("{}", number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace plimsoll::count::hooks
