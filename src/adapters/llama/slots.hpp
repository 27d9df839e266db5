// The conversations that a loaded model has at once, and their next step.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "adapters/llama/job.hpp"
#include "adapters/llama/runtime.hpp"
#include "adapters/llama/text_stream.hpp"

namespace plimsoll::llama {

// For one thread.
class Slots {
 public:
  Slots(Runtime& runtime, std::int32_t count) : runtime_(runtime), slots_(static_cast<std::size_t>(count)) {}

  bool has_free() const;
  bool is_busy() const;
  // Whether nobody waits any more for what is under way. Also for the threads that step() waits for.
  bool is_abandoned() const;
  // Into the free slot that has read the most of its prompt already, for the same owner: how much of a prompt
  // need not be read would tell another what was asked. A prompt that leaves no room for an
  // answer fails.
  void admit(std::shared_ptr<Job> job);
  // One step of everything under way: each answer's next token, and a stretch of each prompt that is not read
  // yet.
  void step();
  void fail_all(const Error& error);

 private:
  struct Slot {
    std::vector<Token> held;  // that the model has read, in this order
    std::string owner;        // of these
    std::shared_ptr<Job> job;
    std::optional<Sampler> sampler;
    TextStream text{{}};
    std::size_t read = 0;  // of the prompt
    std::optional<Token> next;
    Spent spent;
    std::chrono::steady_clock::time_point begun, answering;
    std::uint64_t last_used = 0;
  };
  struct Wanted {
    std::size_t slot;
    std::size_t input;
  };

  static std::size_t held_of(const Slot& slot, const Generation& asked);
  std::size_t best_for(const Generation& asked) const;
  void gather(std::vector<Input>& inputs, std::vector<Wanted>& wanted);
  void choose(Slot& slot, std::size_t input);
  void finish(Slot& slot, std::string_view reason);
  void fail(Slot& slot, const Error& error);
  std::int32_t number_of(const Slot& slot) const { return static_cast<std::int32_t>(&slot - slots_.data()); }

  Runtime& runtime_;
  std::vector<Slot> slots_;
  std::uint64_t uses_ = 0;
};

}  // namespace plimsoll::llama
