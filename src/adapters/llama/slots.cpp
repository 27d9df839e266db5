#include "adapters/llama/slots.hpp"

#include <algorithm>

#include "base/text/text.hpp"

namespace plimsoll::llama {
namespace {

using Clock = std::chrono::steady_clock;

// While others answer, a long prompt is read in stretches of this many tokens, so that nobody stands still.
constexpr std::size_t stretch_beside_answers = 128;

std::size_t common_prefix(const std::vector<Token>& a, const std::vector<Token>& b) {
  const auto end = std::ranges::mismatch(a, b).in1;
  return static_cast<std::size_t>(end - a.begin());
}

std::int64_t microseconds_since(Clock::time_point begun) {
  return std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun).count();
}

}  // namespace

bool Slots::has_free() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) { return !slot.job; });
}

bool Slots::is_busy() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.job != nullptr; });
}

bool Slots::is_abandoned() const {
  return std::ranges::all_of(slots_, [](const Slot& slot) { return !slot.job || slot.job->given_up(); });
}

std::size_t Slots::held_of(const Slot& slot, const Generation& asked) {
  return slot.owner == asked.owner ? common_prefix(slot.held, asked.prompt) : 0;
}

std::size_t Slots::best_for(const Generation& asked) const {
  std::size_t best = slots_.size(), most = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].job) continue;
    const std::size_t common = held_of(slots_[i], asked);
    const bool better = best == slots_.size() || common > most ||
                        (common == most && slots_[i].last_used < slots_[best].last_used);
    if (better) best = i, most = common;
  }
  return best;
}

void Slots::admit(std::shared_ptr<Job> job) {
  const std::vector<Token>& prompt = job->asked.prompt;
  const auto length = static_cast<Tokens>(prompt.size());
  if (prompt.empty() || length >= runtime_.window()) {
    job->fail({prompt.empty() ? Errc::bad_input : Errc::over_budget,
               fmt::format(
                   "This model's maximum context length is {} tokens. However, your messages resulted in {} "
                   "tokens.",
                   runtime_.window(), length)});
    return;
  }
  Slot& slot = slots_[best_for(job->asked)];
  auto sampler = runtime_.sampler(job->asked.sampling);
  if (!sampler) {
    job->fail(sampler.error());
    return;
  }
  // At least one token must be read anew: what follows the last one is not kept.
  std::size_t kept = std::min(held_of(slot, job->asked), prompt.size() - 1);
  if (!runtime_.shorten(number_of(slot), static_cast<std::int32_t>(kept))) kept = 0;
  slot.held.resize(kept);
  slot.owner = job->asked.owner;
  slot.text = TextStream(job->asked.stop);
  slot.job = std::move(job);
  slot.sampler = *std::move(sampler);
  slot.read = kept;
  slot.next.reset();
  slot.spent = {.prompt = length, .cached = static_cast<Tokens>(kept)};
  slot.begun = Clock::now();
  slot.last_used = ++uses_;
}

void Slots::gather(std::vector<Input>& inputs, std::vector<Wanted>& wanted) {
  for (Slot& slot : slots_)
    if (slot.job && slot.job->given_up()) finish(slot, "given up");
  const auto add = [&](Slot& slot, Token token, bool wants_next) {
    if (wants_next) wanted.push_back({static_cast<std::size_t>(number_of(slot)), inputs.size()});
    inputs.push_back({number_of(slot), static_cast<std::int32_t>(slot.held.size()), token, wants_next});
    slot.held.push_back(token);
  };
  for (Slot& slot : slots_)
    if (slot.job && slot.next) add(slot, *std::exchange(slot.next, std::nullopt), true);
  std::size_t room = inputs.empty() ? Runtime::most_inputs
                                    : std::min(Runtime::most_inputs - inputs.size(), stretch_beside_answers);
  for (Slot& slot : slots_) {
    if (!slot.job) continue;
    const std::vector<Token>& prompt = slot.job->asked.prompt;
    for (; slot.read < prompt.size() && room > 0; --room) {
      const bool last = slot.read + 1 == prompt.size();
      add(slot, prompt[slot.read++], last);
    }
  }
}

void Slots::step() {
  std::vector<Input> inputs;
  std::vector<Wanted> wanted;
  gather(inputs, wanted);
  if (inputs.empty()) return;
  const auto done = runtime_.read(inputs);
  if (!done || !*done) {
    const Error why = done ? Error{Errc::upstream_failed, "the embedded model was stopped"} : done.error();
    for (const Input& input : inputs)
      if (Slot& slot = slots_[static_cast<std::size_t>(input.slot)]; slot.job) fail(slot, why);
    return;
  }
  for (const Wanted& one : wanted) choose(slots_[one.slot], one.input);
}

void Slots::choose(Slot& slot, std::size_t input) {
  if (slot.spent.answer == 0) {
    slot.answering = Clock::now();
    slot.spent.prompt_us = microseconds_since(slot.begun);
  }
  const auto token = runtime_.choose(*slot.sampler, input);
  if (!token) return fail(slot, token.error());
  ++slot.spent.answer;
  if (runtime_.ends(*token)) return finish(slot, "stop");
  slot.job->add(slot.text.add(runtime_.bytes_of(*token)));
  if (slot.text.stopped()) return finish(slot, "stop");
  const bool full = static_cast<Tokens>(slot.held.size()) + 1 >= runtime_.window();
  if (slot.spent.answer >= slot.job->asked.most || full) return finish(slot, "length");
  slot.next = *token;
}

// What it has read stays, for the next turn.
void Slots::finish(Slot& slot, std::string_view reason) {
  if (!slot.text.stopped()) slot.job->add(slot.text.rest());
  if (slot.spent.answer > 0) slot.spent.answer_us = microseconds_since(slot.answering);
  slot.job->end(reason, slot.spent);
  slot.job.reset();
  slot.sampler.reset();
  slot.next.reset();
}

void Slots::fail_all(const Error& error) {
  for (Slot& slot : slots_)
    if (slot.job) fail(slot, error);
}

void Slots::fail(Slot& slot, const Error& error) {
  slot.job->fail(error);
  slot.job.reset();
  slot.sampler.reset();
  slot.next.reset();
  slot.held.clear();
  runtime_.shorten(number_of(slot), 0);
}

}  // namespace plimsoll::llama
