#include "gateway/crew.hpp"

#include <ctime>
#include <exception>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace plimsoll::gateway {

namespace asio = boost::asio;

ThreadCrew::ThreadCrew(const CrewMaker& maker, asio::thread_pool& workers)
    : maker_(maker),
      workers_(workers),
      streams_(maker.streams(loop_.get_executor())),
      links_(maker.members) {}

UpstreamLink& ThreadCrew::link(std::size_t member) {
  if (!links_[member]) links_[member] = maker_.link(*streams_, member);
  return *links_[member];
}

// Not to be cancelled in between: the work uses what belongs to the one who waits.
Awaitable<void> ThreadCrew::elsewhere(std::function<void()> work) {
  std::exception_ptr thrown;  // goes on here: on a worker's thread it would end the program
  auto initiate = [this, &work, &thrown](auto handler) {
    asio::post(workers_, [this, &work, &thrown, handler = std::move(handler)]() mutable {
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
      asio::post(loop_, std::move(handler));
    });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(initiate, asio::use_awaitable);
  if (thrown) std::rethrow_exception(thrown);
}

Awaitable<void> ThreadCrew::pause(std::chrono::milliseconds time) {
  asio::steady_timer timer(loop_, time);
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

std::string_view ThreadCrew::date() {
  const std::time_t now = std::time(nullptr);
  if (now != date_second_) {
    std::tm utc{};
    gmtime_r(&now, &utc);
    char text[40];
    date_.assign(text, std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &utc));
    date_second_ = now;
  }
  return date_;
}

}  // namespace plimsoll::gateway
