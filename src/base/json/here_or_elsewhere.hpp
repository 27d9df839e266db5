// Reading and writing a request's JSON without holding up the other requests of the thread.
#pragma once

#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include "plimsoll/upstream.hpp"

namespace plimsoll::base {

// Most bytes of JSON that are read or written on a thread that others wait for.
constexpr std::size_t most_bytes_at_once = std::size_t{32} << 10;

// Does the work, which returns a value: on this thread if it is quick or no other is given.
template <typename Work>
Awaitable<std::invoke_result_t<Work>> here_or_elsewhere(RequestResources* resources, bool is_quick,
                                                        Work work) {
  if (is_quick || resources == nullptr) co_return work();
  std::optional<std::invoke_result_t<Work>> done;
  std::function<void()> job = [&] { done.emplace(work()); };
  co_await resources->elsewhere(std::move(job));
  co_return *std::move(done);
}

// The same for JSON of this many bytes.
template <typename Work>
Awaitable<std::invoke_result_t<Work>> off_thread_if_long(RequestResources* resources, std::size_t bytes,
                                                         Work work) {
  return here_or_elsewhere(resources, bytes <= most_bytes_at_once, std::move(work));
}

}  // namespace plimsoll::base
