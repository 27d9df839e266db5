#include "gateway/http/server_thread.hpp"

#include <ctime>
#include <exception>

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "engine/client_gone.hpp"

namespace plimsoll::gateway {

namespace asio = boost::asio;

ServerThread::ServerThread(const ThreadMaker& maker, Post post)
    : maker_(maker),
      post_(std::move(post)),
      streams_(maker.streams(loop_.get_executor())),
      links_(maker.members) {}

ServerThread::ServerThread(const ThreadMaker& maker, WorkerPools& workers)
    : ServerThread(maker, [&workers](Lane lane, const std::string& owner, WorkerPool::Work work) {
        workers.at(lane).post(owner, std::move(work));
      }) {}

ServerThread::ServerThread(const ThreadMaker& maker, WorkerPool& workers)
    : ServerThread(maker, [&workers](Lane, const std::string& owner, WorkerPool::Work work) {
        workers.post(owner, std::move(work));
      }) {}

UpstreamLink& ServerThread::link(std::size_t member) {
  if (!links_[member]) links_[member] = maker_.link(*streams_, member);
  return *links_[member];
}

Awaitable<void> ServerThread::elsewhere(std::function<void()> work) {
  return elsewhere_for(Lane::interactive, {}, std::move(work));
}

Awaitable<void> ServerThread::elsewhere_for_key(std::size_t key_number, std::function<void()> work) {
  return elsewhere_for(Lane::interactive, fmt::format("\n{}", key_number), std::move(work));
}

// Must not be cancelled: the work uses objects of the waiting coroutine.
Awaitable<void> ServerThread::elsewhere_for(Lane lane, std::string owner, std::function<void()> work) {
  std::exception_ptr thrown;  // rethrown here: on a worker's thread it would end the program
  auto initiate = [&](auto handler) {
    auto held = std::make_shared<decltype(handler)>(std::move(handler));
    post_(lane, owner, [this, &work, &thrown, held] {
      try {
        work();
      } catch (...) {
        thrown = std::current_exception();
      }
      asio::post(loop_, std::move(*held));
    });
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<>, void()>(initiate, asio::use_awaitable);
  if (thrown) std::rethrow_exception(thrown);
}

Awaitable<void> ServerThread::pause(std::chrono::milliseconds time) {
  asio::steady_timer timer(loop_, time);
  co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
}

Awaitable<Result<void>> OwnerThread::begin_plan(Deadline deadline) {
  constexpr std::size_t small = std::size_t{256} << 10;
  constexpr std::chrono::milliseconds step{10};
  if (memory_ == nullptr || memory_->body_bytes() <= small || turn_) co_return Result<void>();
  turn_.emplace(memory_->budget().plan_turns(), memory_->key(), memory_->body_bytes());
  while (!turn_->has_begun()) {
    const bool gone = co_await engine::client_is_gone();
    if (gone || deadline.passed()) {
      turn_.reset();
      co_return fail(
          Errc::unreachable,
          "other large requests are being planned, and there is no memory for the plan of one more "
          "of {} bytes (max_memory); retry in 2 s, or send a shorter request",
          memory_->body_bytes());
    }
    co_await pause(step);
  }
  co_return Result<void>();
}

std::string_view ServerThread::date() {
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
