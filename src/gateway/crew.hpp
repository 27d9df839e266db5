// One thread of the server: its loop, its links to upstreams, and the way to the workers.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>

#include "gateway/http_server.hpp"

namespace plimsoll::gateway {

class ThreadCrew final : public engine::Crew {
 public:
  ThreadCrew(const CrewMaker& maker, boost::asio::thread_pool& workers);

  UpstreamLink& link(std::size_t member) override;
  Awaitable<void> elsewhere(std::function<void()> work) override;
  Awaitable<void> pause(std::chrono::milliseconds time) override;

  boost::asio::io_context& loop() { return loop_; }
  void release() { guard_.reset(); }  // the loop ends with its last connection
  std::string_view date();            // for the header, made once a second

 private:
  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{loop_.get_executor()};
  const CrewMaker& maker_;
  boost::asio::thread_pool& workers_;
  std::unique_ptr<HttpStreams> streams_;
  std::vector<std::unique_ptr<UpstreamLink>> links_;
  std::int64_t date_second_ = -1;
  std::string date_;
};

}  // namespace plimsoll::gateway
