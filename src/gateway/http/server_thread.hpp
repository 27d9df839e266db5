// One thread of the server: its loop, its links to upstreams, and access to the workers.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "gateway/http/http_server.hpp"
#include "gateway/http/worker_pool.hpp"
#include "gateway/limits/memory_budget.hpp"

namespace plimsoll::gateway {

class ServerThread final : public engine::WorkerContext {
 public:
  ServerThread(const ThreadMaker& maker, WorkerPools& workers);
  // For work of all lanes on one pool.
  ServerThread(const ThreadMaker& maker, WorkerPool& workers);

  UpstreamLink& link(std::size_t member) override;
  // For work that belongs to no key.
  Awaitable<void> elsewhere(std::function<void()> work) override;
  // For work whose owner is not known yet: each key waits for its turn.
  Awaitable<void> elsewhere_for_key(std::size_t key_number, std::function<void()> work);
  Awaitable<void> elsewhere_for(Lane lane, std::string owner, std::function<void()> work);
  Awaitable<void> pause(std::chrono::milliseconds time) override;

  boost::asio::io_context& loop() { return loop_; }
  void release() { guard_.reset(); }  // the loop ends after its last connection
  std::string_view date();            // for the Date header, updated once a second

 private:
  boost::asio::io_context loop_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{loop_.get_executor()};
  using Post = std::function<void(Lane lane, const std::string& owner, WorkerPool::Work work)>;
  ServerThread(const ThreadMaker& maker, Post post);

  const ThreadMaker& maker_;
  Post post_;
  std::unique_ptr<HttpStreams> streams_;
  std::vector<std::unique_ptr<UpstreamLink>> links_;
  std::int64_t date_second_ = -1;
  std::string date_;
};

// The thread for one request: its work is of one kind and waits for its owner's turn.
class OwnerThread final : public engine::WorkerContext {
 public:
  // `memory`: of the request; null: none, as for work behind the answers.
  OwnerThread(ServerThread& thread, Lane lane, std::string owner, HeldMemory* memory = nullptr)
      : thread_(thread), lane_(lane), owner_(std::move(owner)), memory_(memory) {}

  UpstreamLink& link(std::size_t member) override { return thread_.link(member); }
  Awaitable<void> elsewhere(std::function<void()> work) override {
    return thread_.elsewhere_for(lane_, owner_, std::move(work));
  }
  Awaitable<void> wait_elsewhere(std::function<void()> work) override {
    return thread_.elsewhere_for(Lane::upstreams, owner_, std::move(work));
  }
  Awaitable<void> pause(std::chrono::milliseconds time) override { return thread_.pause(time); }
  bool hold_answer(std::size_t bytes) override {
    return memory_ == nullptr || bytes <= least_held_answer || memory_->grow_to_answer(bytes);
  }
  // A small body is planned without a turn.
  Awaitable<Result<void>> begin_plan(Deadline deadline) override;
  void end_plan() override { turn_.reset(); }

 private:
  ServerThread& thread_;
  Lane lane_;
  std::string owner_;
  HeldMemory* memory_;
  std::optional<PlanTurns::Turn> turn_;
};

}  // namespace plimsoll::gateway
