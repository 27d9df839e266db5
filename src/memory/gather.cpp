#include "memory/gather.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "memory/fact_text.hpp"

namespace plimsoll::memory {
namespace {

using Answer = Result<std::vector<RecalledFact>>;

// Outlives the waiting request: a provider may answer after its deadline.
struct Waiting {
  std::mutex mutex;
  std::condition_variable came;
  std::vector<std::optional<Answer>> answers;
};

Answer asked(MemoryProvider& provider, const RecallAsk& ask, Deadline deadline) {
  try {
    return provider.recall(ask, deadline);
  } catch (const std::exception& bug) {  // adapters must not throw
    return fail(Errc::upstream_failed, "{}", bug.what());
  }
}

std::string shown(const MemoryProvider& provider) {
  return provider.name().empty() ? "our own memory"
                                 : fmt::format("the memory provider '{}'", provider.name());
}

// Limits a provider's facts: single lines, and a limited amount.
std::vector<RecalledFact> tamed(std::vector<RecalledFact> facts, bool own) {
  if (!own && facts.size() > most_facts) facts.resize(most_facts);
  std::erase_if(facts, [](RecalledFact& one) {
    one.fact.text = one_line(one.fact.text);
    return one.fact.text.empty() || one.fact.text.size() > longest_fact_bytes ||
           !base::is_valid_utf8(one.fact.text);
  });
  return facts;
}

void take(const AskedProvider& from, std::vector<RecalledFact> facts, const ChooseRules& rules,
          Gathered& out) {
  const std::string name(from.provider->name());
  Chosen chosen =
      choose(tamed(std::move(facts), from.provider->is_filtered()), rules, from.provider->is_filtered());
  for (RecalledFact& one : chosen.facts) out.facts.push_back({name, std::move(one)});
  for (LeftFact& one : chosen.left) {
    one.provider = name;
    out.left.push_back(std::move(one));
  }
}

// False: not asked; `problems` has the reason.
bool send_off(const AskedProvider& to, const std::shared_ptr<Waiting>& waiting, std::size_t place,
              const RecallAsk& wanted, Deadline deadline, std::vector<std::string>& problems) {
  if (to.unanswered->fetch_add(1) >= most_unanswered) {
    to.unanswered->fetch_sub(1);
    problems.push_back(fmt::format("{} has not answered {} earlier requests: not asked", shown(*to.provider),
                                   most_unanswered));
    return false;
  }
  RecallAsk ask = wanted;
  if (!to.provider->takes_limits()) {
    ask.limit = 0;
    ask.min_trust = 0;
  }
  try {
    std::thread([provider = to.provider, unanswered = to.unanswered, waiting, place, deadline,
                 question = std::move(ask)] {
      Answer answer = asked(*provider, question, deadline);
      unanswered->fetch_sub(1);
      const std::lock_guard lock(waiting->mutex);
      waiting->answers[place] = std::move(answer);
      waiting->came.notify_all();
    }).detach();
  } catch (const std::system_error& error) {
    to.unanswered->fetch_sub(1);
    problems.push_back(fmt::format("cannot ask {}: {}", shown(*to.provider), error.what()));
    return false;
  }
  return true;
}

}  // namespace

Gathered gather(const std::vector<AskedProvider>& providers, const RecallAsk& ask, const ChooseRules& rules,
                Deadline deadline) {
  Gathered out;
  const auto waiting = std::make_shared<Waiting>();
  waiting->answers.resize(providers.size());
  std::vector<std::optional<Deadline>> until(providers.size());
  for (std::size_t i = 0; i < providers.size(); ++i) {
    const Deadline own = sooner(deadline, Deadline::after(providers[i].patience));
    if (send_off(providers[i], waiting, i, ask, own, out.problems)) until[i] = own;
  }
  for (std::size_t i = 0; i < providers.size(); ++i) {
    if (!until[i]) continue;
    std::unique_lock lock(waiting->mutex);
    const bool came =
        waiting->came.wait_until(lock, until[i]->moment(), [&] { return waiting->answers[i].has_value(); });
    if (!came) {
      out.problems.push_back(fmt::format("{} did not answer within {} ms", shown(*providers[i].provider),
                                         providers[i].patience.count()));
      continue;
    }
    Answer answer = *std::move(waiting->answers[i]);
    lock.unlock();
    if (!answer)
      out.problems.push_back(fmt::format("{}: {}", shown(*providers[i].provider), answer.error().what));
    else
      take(providers[i], *std::move(answer), rules, out);
  }
  return out;
}

}  // namespace plimsoll::memory
