#include "adapters/llama/job.hpp"

#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace plimsoll::llama {

namespace asio = boost::asio;

void Job::wake() {
  if (auto waiter = std::exchange(waiter_, {})) waiter();
}

void Job::add(std::string_view text) {
  if (text.empty()) return;
  const std::lock_guard lock(mutex_);
  text_ += text;
  if (!waits_for_all_) wake();
}

void Job::end(std::string_view finish_reason, const Spent& spent) {
  const std::lock_guard lock(mutex_);
  finish_reason_ = finish_reason;
  spent_ = spent;
  wake();
}

void Job::fail(Error error) {
  const std::lock_guard lock(mutex_);
  error_ = std::move(error);
  wake();
}

void Job::give_up() {
  given_up_ = true;
  const std::lock_guard lock(mutex_);
  waiter_ = {};
}

Awaitable<Result<Job::News>> Job::news(Deadline deadline, bool all) {
  const auto executor = co_await asio::this_coro::executor;
  auto timer = std::make_shared<asio::steady_timer>(executor, deadline.moment());
  {
    const std::lock_guard lock(mutex_);
    // Moved to a moment that has passed, the timer ends also a wait that has not begun yet.
    waits_for_all_ = all;
    if (!is_over() && (all || text_.empty()))
      waiter_ = [timer, executor] {
        asio::post(executor, [timer] { timer->expires_at(asio::steady_timer::time_point::min()); });
      };
    else
      timer.reset();
  }
  if (timer) co_await timer->async_wait(asio::as_tuple(asio::use_awaitable));
  const std::lock_guard lock(mutex_);
  waiter_ = {};
  if (!finish_reason_.empty() || (!all && !text_.empty()))
    co_return News{std::exchange(text_, {}), std::exchange(finish_reason_, {}), spent_};
  if (error_) co_return tl::unexpected(*error_);
  co_return plimsoll::fail(Errc::timed_out, "the embedded model had no answer in time");
}

}  // namespace plimsoll::llama
