#include "adapters/llama/embedded_model.hpp"

#include "adapters/llama/slots.hpp"
#include "base/log.hpp"

namespace plimsoll::llama {

EmbeddedModel::EmbeddedModel(Options options) : options_(std::move(options)) {}

EmbeddedModel::~EmbeddedModel() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

std::shared_ptr<Job> EmbeddedModel::submit(Generation generation) {
  auto job = std::make_shared<Job>(std::move(generation));
  std::call_once(started_, [this] { thread_ = std::thread([this] { run(); }); });
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(waiting_, [](const auto& other) { return other->given_up(); });
    if (waiting_.size() >= options_.most_waiting) return nullptr;
    waiting_.push_back(job);
  }
  changed_.notify_all();
  return job;
}

std::shared_ptr<Job> EmbeddedModel::next_waiting() {
  const std::lock_guard lock(mutex_);
  while (!waiting_.empty()) {
    auto job = std::move(waiting_.front());
    waiting_.pop_front();
    if (!job->given_up()) return job;
  }
  return nullptr;
}

void EmbeddedModel::refuse_waiting(const Error& why) {
  while (const auto job = next_waiting()) job->fail(why);
}

void EmbeddedModel::run() {
  while (true) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !waiting_.empty(); });
    }
    if (stopping_) return refuse_waiting({Errc::unreachable, "the server is going down"});
    const auto begun = std::chrono::steady_clock::now();
    auto runtime = Runtime::load(
        options_.runtime, [this] { return stopping_ || (serving_ != nullptr && serving_->is_abandoned()); });
    if (!runtime) {
      log::error("embedded model not loaded", {{"why", runtime.error().what}});
      refuse_waiting(runtime.error());
      continue;
    }
    const auto took = std::chrono::steady_clock::now() - begun;
    log::debug("embedded model loaded",
               {{"file", options_.runtime.file.filename().string()},
                {"window", (*runtime)->window()},
                {"slots", options_.runtime.slots},
                {"ms", std::chrono::duration_cast<std::chrono::milliseconds>(took).count()}});
    loaded_ = true;
    serve(**runtime);
    loaded_ = false;
    log::debug("embedded model let go");
  }
}

void EmbeddedModel::serve(Runtime& runtime) {
  Slots slots(runtime, options_.runtime.slots);
  serving_ = &slots;
  const auto over = [this](const Slots*) { serving_ = nullptr; };
  const std::unique_ptr<const Slots, decltype(over)> until_the_end(&slots, over);
  while (!stopping_) {
    while (slots.has_free()) {
      auto job = next_waiting();
      if (!job) break;
      slots.admit(std::move(job));
    }
    if (slots.is_busy()) {
      slots.step();
      continue;
    }
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, options_.idle, [&] { return stopping_ || !waiting_.empty(); })) return;
  }
  slots.fail_all({Errc::unreachable, "the server is going down"});
}

}  // namespace plimsoll::llama
