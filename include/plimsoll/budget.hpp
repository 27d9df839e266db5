// Divides a window among sections: what each wants, what it gets, and which pieces go in.
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

// The sections of a prompt, in the order in which ties are broken.
enum class SectionKind : std::uint8_t {
  format,    // "template": the chat format's own tokens
  system,    // system messages
  tools,     // schemas of the tools
  memory,    // facts
  history,   // earlier turns
  context,   // retrieved passages
  question,  // the last question and what belongs to it
  thinking,  // kept free for reasoning
  answer,    // kept free for the answer
  margin,    // kept free for differences between plan and server
};
inline constexpr std::size_t section_kinds = 10;

// "template", "system", ...
std::string_view name_of(SectionKind kind);

// Returns whether its tokens are sent; the other sections are kept free.
constexpr bool is_input(SectionKind kind) {
  return kind < SectionKind::thinking;
}

struct Section {
  SectionKind kind = SectionKind::format;
  Tokens basis = 0;         // what it wants, counted
  Tokens min = 0;           // below this the request must fail; 0 <= min <= basis
  Tokens max = 0;           // above this it gains nothing; max >= basis
  std::int64_t grow = 0;    // its weight when the window has room; 0: it stays at its basis
  std::int64_t shrink = 0;  // its weight, times basis, when room is short; 0: it stays at its basis
};

// An indivisible part of a section: a turn, a passage, a fact.
struct Piece {
  Tokens tokens = 0;
  double value = 0;  // passages and facts with a higher value go first; turns go by age
};

enum class Fate : std::uint8_t {
  kept,
  no_room,     // larger than the room that was left
  too_old,     // history is cut from its oldest end
  over_limit,  // more pieces than allowed
};
std::string_view name_of(Fate fate);

// Which sections are cut first when not everything fits.
enum class Policy : std::uint8_t {
  balanced,       // shortens the answer first, down to 500; then facts, turns and passages alike
  history,        // keeps turns as long as possible
  documents,      // keeps passages as long as possible
  answer,         // keeps the full length of the answer
  strict,         // drops no turn, fact or passage; the request fails instead
  document_chat,  // "document-chat": limits passages by rule B1
};
std::string_view name_of(Policy policy);
std::optional<Policy> policy_named(std::string_view name);
std::span<const std::string_view> policy_names();

// Everything that could go into the window.
struct Load {
  std::vector<Section> sections;  // in the order of their kinds, each kind at most once
  std::vector<Piece> facts;       // of memory
  std::vector<Piece> turns;       // of history, oldest first
  std::vector<Piece> passages;    // of context
  Tokens facts_frame = 0;         // text around all facts, counted with the first one
  Tokens passages_frame = 0;      // the same for passages
  Tokens summary = 0;             // replaces older turns, which are not in `turns`; goes in before any turn
  std::int64_t most_turns = std::numeric_limits<std::int64_t>::max();
  std::int64_t most_passages = std::numeric_limits<std::int64_t>::max();
};

namespace budget {

// Upper bound of windows, wants and weights, so that products stay exact.
inline constexpr Tokens most_tokens = 1'000'000'000'000;
inline constexpr std::int64_t heaviest = 1'000'000;

struct Shares {
  std::vector<Tokens> grants;  // one for each section
  Tokens left = 0;             // what no section could use
};

// CSS flexbox in whole tokens. For what it returns:
//   min <= grant <= max for each section, and sum of grants + left = window;
//   left > 0 only where every section that may grow has its max;
//   a larger window lowers no grant, and a larger basis does not lower the grant of its own section.
// over_budget: the minimums exceed the window; bad_input: a section has inconsistent bounds.
Result<Shares> negotiate(Tokens window, std::span<const Section> sections);

// Returns the smallest grant of a section: its whole basis if it does not shrink.
constexpr Tokens least_of(const Section& section) {
  return section.shrink > 0 ? section.min : section.basis;
}

Tokens sum_of(std::span<const Piece> pieces);

// Returns the smallest window for these sections.
Tokens least_window(std::span<const Section> sections);

// What passages ask for where a request gives no budget.
inline constexpr Tokens usual_context = 4'000;
// What passages may count on beside a long history: usual_context, or a quarter of a small window.
Tokens fair_context(Tokens window);

// The counted needs of a request, from which its sections are made.
struct Wants {
  Tokens format = 0, system = 0, tools = 0, question = 0;
  Tokens facts = 0, turns = 0, passages = 0;  // all of them, with the text around them
  Tokens summary = 0;                         // replaces older turns
  Tokens context = usual_context;             // what passages ask for; they get more if there is room
  std::optional<Tokens> context_limit;        // by rule B1 or B4
  std::optional<Tokens> answer;               // max_tokens, if the request has it
  Tokens answer_by_default = 512;
  Tokens most_answer = 0;  // longest answer of the model; 0: not known
  Tokens thinking = 0;
  Tokens margin = 100;
};
// Returns one section of each kind, in order.
std::vector<Section> sections_for(const Wants& wants, Policy policy, Tokens window);

// Returns the total that F1 compares with the window. Passages count with their minimum, which is 0 unless
// they must not be left out.
Tokens total_wanted(const Wants& wants, Policy policy);

// Grants, and the whole pieces that fill them.
struct Placement {
  std::vector<Tokens> grants;  // used <= grant; sum of grants <= window
  std::vector<Tokens> used;    // thinking, answer and margin use their whole grant
  std::vector<Fate> facts, turns, passages;
  Tokens left = 0;  // window - sum of used
};

// Negotiates, then fills. Room that a section's pieces cannot use is offered to remaining passages and
// facts, then to the answer.
Result<Placement> fill(Tokens window, const Load& load);

// Returns the first turn that is kept if history gets `grant` tokens; turns.size() if none is. It moves in
// steps of about a quarter of the grant, so a growing conversation keeps its first turn, and with it a
// server's prefix cache, for several turns.
std::size_t first_turn_kept(std::span<const Piece> turns, Tokens grant);

// Indices of pieces.
struct PieceList {
  std::vector<std::size_t> facts, turns, passages;
};

// The effect of another window.
struct ShadowPrice {
  bool fits = true;  // false: the minimums would no longer fit
  PieceList added, gone;
  Tokens answer = 0, thinking = 0;  // by how much they would grow
};
// `then`: the same pieces in the other window; the bounds may differ too.
ShadowPrice shadow_price(const Load& load, const Placement& now, Tokens then_window, const Load& then);

// ---- The named rules, which other programs use too, as bounds of the negotiator ----

// Returns floor(tokens * ratio), with the ratio rounded to six decimals so that 0.7 is exactly seven tenths.
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
  Tokens room = 0;  // 0: retrieve nothing
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
// B2, budgeted chat: never below 500, even if that exceeds the window. A plan never exceeds it.
AdjustedAnswer adjusted_max_tokens(Tokens window, Tokens input, Tokens requested);

// B3, budgeted chat: number of 250-token messages that fit into a window.
std::int64_t safe_message_count(std::optional<Tokens> window);

// B4, RAGEngine: tokens for passages. bad_input: the ratio is not from 0.2 to 0.8.
Result<Tokens> context_budget(Tokens window, Tokens query, std::optional<Tokens> max_tokens, double ratio,
                              Tokens prompt_overhead = 150);

// B5, RAGEngine: room for the answer; over_budget: the prompt leaves none.
Result<AdjustedAnswer> answer_within(Tokens window, Tokens prompt, Tokens requested);

// B8: observed differences between plan and usage.
struct Drift {
  bool embedded = false;  // our own model: plan and usage are equal
  bool seen = false;
  Tokens worst = 0;  // largest recent difference; 0 if plan and usage agreed
};
Tokens margin_for(const Drift& drift);

}  // namespace budget
}  // namespace plimsoll
