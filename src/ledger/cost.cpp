#include "ledger/cost.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.hpp"

namespace plimsoll::ledger {
namespace {

// The largest sum fits into 64 bits: each token of a reply is counted once.
static_assert(2 * most_reported < INT64_MAX / most_price);

Cost not_known(std::string why) {
  return {std::nullopt, std::move(why)};
}

// Returns the tokens of the answer that are paid for. Some providers report thinking beside the answer and
// not in it: the total tells.
Tokens output_of(const Usage& usage) {
  const Tokens total = std::clamp(usage.total.value_or(0), Tokens{0}, 2 * most_reported);
  return std::min(std::max(*usage.answer, total - *usage.input), most_reported);
}

}  // namespace

Cost cost_of(const std::optional<Prices>& prices, const Usage& usage) {
  if (!prices) return not_known("no price is known for this model on this server");
  if (!usage.input || !usage.answer) return not_known("the server did not report its usage");
  if (usage.has_other_price)
    return not_known("the server reports a service tier or tokens of sound, which have other prices");
  const Tokens input = *usage.input, cached = usage.cached.value_or(0), written = usage.written.value_or(0);
  const Tokens hour = usage.written_hour.value_or(0);
  const auto is_possible = [](Tokens tokens) { return tokens >= 0 && tokens <= most_reported; };
  if (!std::ranges::all_of(std::array{input, *usage.answer, cached, written, hour}, is_possible) ||
      cached + written > input || hour > written)
    return not_known("the reported usage contradicts itself");
  if (prices->longest_prompt > 0 && input > prices->longest_prompt)
    return not_known(fmt::format("prompts of more than {} tokens have other prices", prices->longest_prompt));
  const std::array parts{
      std::pair{input - cached - written, std::optional(prices->input)},
      std::pair{cached, prices->cached_input}, std::pair{written - hour, prices->cache_write},
      std::pair{hour, prices->cache_write_hour}, std::pair{output_of(usage), std::optional(prices->output)}};
  std::int64_t sum = 0;  // in trillionths of a dollar
  for (const auto& [tokens, price] : parts) {
    if (tokens == 0) continue;
    if (!price) return not_known("the price of tokens in the provider's cache is not known");
    sum += tokens * *price;
  }
  return {(sum + 500) / 1'000, {}};
}

Cost sum_of(const Cost& a, const Cost& b) {
  if (a == Cost{}) return b;
  if (b == Cost{}) return a;
  if (!a.nano_usd) return a;
  if (!b.nano_usd) return b;
  return {add_cost(*a.nano_usd, *b.nano_usd), {}};
}

std::string in_dollars(std::int64_t nano_usd) {
  constexpr std::int64_t dollar = 1'000'000'000;
  if (nano_usd >= dollar) {
    const std::int64_t cents = (nano_usd + 5'000'000) / 10'000'000;
    return fmt::format("${}.{:02}", base::with_thousands(cents / 100), cents % 100);
  }
  if (nano_usd >= 1'000 || nano_usd == 0) {
    const std::int64_t micro = (nano_usd + 500) / 1'000;
    return fmt::format("${}.{:06}", micro / 1'000'000, micro % 1'000'000);
  }
  return fmt::format("$0.{:09}", nano_usd);
}

std::string per_million(std::int64_t price) {
  std::string text = fmt::format("{}.{:06}", price / 1'000'000, price % 1'000'000);
  while (text.ends_with('0') && text[text.size() - 3] != '.') text.pop_back();
  return text;
}

}  // namespace plimsoll::ledger
