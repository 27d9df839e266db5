// Sharing a window out: what every section wants, what it gets, and which pieces go in.
//
//   const Section sections[] = {{.kind = SectionKind::question, .basis = 80, .min = 80, .max = 80}, ...};
//   auto shares = budget::negotiate(8'192, sections);
//
// Pure arithmetic in whole tokens, safe on any thread. docs/budget.md has the algorithm and its proof.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

// The parties at the table, in the order in which ties are broken.
enum class SectionKind : std::uint8_t {
  format,    // "template": the chat format's own tokens
  system,    // what the model is told to be
  tools,     // schemas of the tools
  memory,    // facts
  history,   // earlier turns
  context,   // retrieved passages
  question,  // the last question and what belongs to it
  thinking,  // kept free for reasoning
  answer,    // kept free for the answer
  margin,    // kept free for what plan and server may disagree on
};
inline constexpr std::size_t section_kinds = 10;

// "template", "system", ...
std::string_view name_of(SectionKind kind);

// Whether its tokens are sent; the others are kept free.
constexpr bool is_input(SectionKind kind) {
  return kind < SectionKind::thinking;
}

struct Section {
  SectionKind kind = SectionKind::format;
  Tokens basis = 0;         // what it wants, counted
  Tokens min = 0;           // below this the request must fail; 0 <= min <= basis
  Tokens max = 0;           // above this it gains nothing; max >= basis
  std::int64_t grow = 0;    // its weight where there is too much; 0: it stays at its basis
  std::int64_t shrink = 0;  // its weight, times basis, where there is too little; 0: likewise
};

// What a section of pieces cannot split further: a turn, a passage, a fact.
struct Piece {
  Tokens tokens = 0;
  double value = 0;  // of passages and facts, the higher goes first; turns go by age
};

enum class Fate : std::uint8_t {
  kept,
  no_room,     // larger than what was left when its turn came
  too_old,     // history gives way from the old end
  over_limit,  // more pieces than allowed
};
std::string_view name_of(Fate fate);

// Who gives way to whom where not everything fits.
enum class Policy : std::uint8_t {
  balanced,       // the answer first, down to 500; then facts, turns and passages alike
  history,        // turns stay as long as they can
  documents,      // passages stay as long as they can
  answer,         // the answer stays as long as it was asked for
  strict,         // no turn, fact or passage is left out: the request fails instead
  document_chat,  // "document-chat": passages are bounded by rule B1
};
std::string_view name_of(Policy policy);
std::optional<Policy> policy_named(std::string_view name);
std::span<const std::string_view> policy_names();

// Everything that wants to go in.
struct Load {
  std::vector<Section> sections;  // in the order of their kinds, each kind at most once
  std::vector<Piece> facts;       // of memory
  std::vector<Piece> turns;       // of history, oldest first
  std::vector<Piece> passages;    // of context
  Tokens facts_frame = 0;         // what stands around all facts, taken with the first one
  Tokens passages_frame = 0;      // likewise
  Tokens summary = 0;  // of history, for turns that are not among these: goes along before any turn
  std::int64_t most_turns = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_passages = std::numeric_limits<std::int64_t>::max();
};

namespace budget {

// No window and no want may be larger, no weight heavier: products stay exact.
inline constexpr Tokens most_tokens = 1'000'000'000'000;
inline constexpr std::int64_t heaviest = 1'000'000;

struct Shares {
  std::vector<Tokens> grants;  // one for each section
  Tokens left = 0;             // what nobody could take
};

// CSS flexbox in whole tokens. For what it returns:
//   min <= grant <= max for each section, and sum of grants + left = window;
//   left > 0 only where every section that may grow has its max;
//   a larger window lowers no grant, and a larger basis does not lower the grant of its own section.
// over_budget where the minimums alone exceed the window; bad_input for a section that contradicts itself.
Result<Shares> negotiate(Tokens window, std::span<const Section> sections);

// What a section cannot live without: what does not shrink wants all of its basis.
constexpr Tokens least_of(const Section& section) {
  return section.shrink > 0 ? section.min : section.basis;
}

Tokens sum_of(std::span<const Piece> pieces);

// The least window that the sections can live with.
Tokens least_window(std::span<const Section> sections);

// What a request wants, counted, from which its sections follow.
struct Wants {
  Tokens format = 0, system = 0, tools = 0, question = 0;
  Tokens facts = 0, turns = 0, passages = 0;  // of all there are, with what stands around them
  Tokens summary = 0;                         // what stands for older turns
  Tokens context = 4'000;                     // what passages ask for; they grow beyond where there is room
  std::optional<Tokens> context_limit;        // by rule B1 or B4
  std::optional<Tokens> answer;               // max_tokens, where the request names it
  Tokens answer_by_default = 512;
  Tokens most_answer = 0;  // the most that the model gives; 0: not known
  Tokens thinking = 0;
  Tokens margin = 100;
};
// One section of each kind, in order.
std::vector<Section> sections_for(const Wants& wants, Policy policy, Tokens window);

// What F1 compares with the window: all of it, with passages at their least, which is none unless they are
// never left out.
Tokens total_wanted(const Wants& wants, Policy policy);

// Grants filled with whole pieces.
struct Placement {
  std::vector<Tokens> grants;  // used <= grant; sum of grants <= window
  std::vector<Tokens> used;    // thinking, answer and margin use what they were granted
  std::vector<Fate> facts, turns, passages;
  Tokens left = 0;  // window - sum of used
};

// Negotiates, then fills. What a section of pieces cannot fill is offered to the passages and facts that
// wait, then to the answer.
Result<Placement> fill(Tokens window, const Load& load);

// Which turn is the first to stay if history may have `grant` tokens: turns.size() where none may. It moves
// in steps of about a quarter of the grant, so that a growing conversation keeps its beginning, and with it
// a server's prefix cache, for several turns.
std::size_t first_turn_kept(std::span<const Piece> turns, Tokens grant);

// Indices of pieces.
struct PieceList {
  std::vector<std::size_t> facts, turns, passages;
};

// What another window would do.
struct ShadowPrice {
  bool fits = true;  // false: the minimums would not fit any more
  PieceList added, gone;
  Tokens answer = 0, thinking = 0;  // by how much they would grow
};
// `then`: the same pieces in the other window, whose bounds may be others too.
ShadowPrice shadow_price(const Load& load, const Placement& now, Tokens then_window, const Load& then);

// ---- The named rules: each as it is known elsewhere, and as bounds of the negotiator ----

// floor(tokens * ratio), the ratio taken to six decimals so that 0.7 means seven tenths.
Tokens share_of(Tokens tokens, double ratio);

struct RetrievalRule {
  double safety_margin = 0.75;
  Tokens generation_buffer = 512;
  Tokens average_chunk = 200;
  std::int64_t min_top_k = 2;
  std::int64_t max_top_k = 10;
};
struct RetrievalRoom {
  Tokens usable = 0;
  Tokens overhead = 0;
  Tokens room = 0;  // 0: none, and nothing is to be retrieved
  std::int64_t top_k = 0;
  Tokens max_chunk_tokens = 0;
};
// B1, document chat.
RetrievalRoom retrieval_room(Tokens window, Tokens system, Tokens query, Tokens history,
                             const RetrievalRule& rule = {});

struct AdjustedAnswer {
  Tokens tokens = 0;
  bool reduced = false;
};
inline constexpr Tokens least_answer = 500;
// B2, budgeted chat: never below 500, even where that breaks the law. A plan keeps the law.
AdjustedAnswer adjusted_max_tokens(Tokens window, Tokens input, Tokens requested);

// B3, budgeted chat: how many messages of 250 tokens a window holds.
std::int64_t safe_message_count(std::optional<Tokens> window);

// B4, RAGEngine: what passages may have. bad_input where the ratio is not from 0.2 to 0.8.
Result<Tokens> context_budget(Tokens window, Tokens query, std::optional<Tokens> max_tokens, double ratio,
                              Tokens prompt_overhead = 150);

// B5, RAGEngine: the answer's room; over_budget where the prompt leaves none.
Result<AdjustedAnswer> answer_within(Tokens window, Tokens prompt, Tokens requested);

// B8: what was seen of the difference between plan and usage.
struct Drift {
  bool embedded = false;  // our own model: nothing can differ
  bool seen = false;
  Tokens worst = 0;  // the largest recent difference; 0 where plan and usage agreed
};
Tokens margin_for(const Drift& drift);

}  // namespace budget
}  // namespace plimsoll
