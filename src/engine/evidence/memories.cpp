#include "engine/evidence/memories.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "memory/fact_text.hpp"

namespace plimsoll::engine {
namespace {

constexpr std::size_t id_bytes = 12, longest_source = 60;

Result<double> share_of(std::optional<double> given, double otherwise, const char* name) {
  if (!given) return otherwise;
  if (!(std::isfinite(*given) && *given >= 0 && *given <= 1))
    return fail(Errc::bad_input, "{} is {}, not a number from 0 to 1", name, *given);
  return *given;
}

Result<void> check_name(std::string_view name, const char* what, std::size_t longest) {
  const bool control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (name.size() <= longest && !control && base::is_valid_utf8(name)) return {};
  return fail(Errc::bad_input,
              "the {} is not a valid name: use at most {} bytes of UTF-8 without control characters", what,
              longest);
}

}  // namespace

Result<AddedFact> Memories::add(std::string_view owner, const NewFact& given, Deadline deadline) {
  Fact fact;
  if (!base::is_valid_utf8(given.text)) return fail(Errc::bad_input, "the text is not UTF-8");
  fact.text = memory::one_line(given.text);
  if (fact.text.empty()) return fail(Errc::bad_input, "the text is empty: give the fact to remember");
  if (fact.text.size() > longest_fact_bytes)
    return fail(Errc::bad_input,
                "the text has {} bytes; a memory may have at most {}: shorten it, or add it to an index",
                base::with_thousands(std::ssize(fact.text)),
                base::with_thousands(static_cast<std::int64_t>(longest_fact_bytes)));
  TRY_VOID(check_name(given.session, "session", longest_session_bytes));
  TRY_VOID(check_name(given.source, "source", longest_source));
  TRY(fact.importance, share_of(given.importance, fact.importance, "importance"));
  TRY(fact.trust, share_of(given.trust, fact.trust, "trust"));
  fact.id = "mem_" + base::random_text(id_bytes);
  fact.owner = owner;
  fact.session = given.session;
  fact.source = given.source;
  AddedFact out;
  const FactVector vector = own_.vector_of(fact.text, deadline, out.note);
  if (!out.note.empty()) out.note = "found by words alone: " + out.note;
  TRY(auto added, own_.store().add(fact, given.importance.has_value(), vector, most_));
  out.fact = std::move(added.fact);
  out.is_new = added.is_new;
  return out;
}

Result<std::vector<Fact>> Memories::list(const FactScope& scope, std::size_t limit) {
  return own_.store().facts(scope, limit);
}

Result<memory::OwnSearch> Memories::search(const FactScope& scope, std::string_view query, std::size_t limit,
                                           Deadline deadline) {
  if (base::trim(query).empty()) return fail(Errc::bad_input, "the query is empty");
  return own_.search(scope, query, limit, /*all=*/false, deadline);
}

Result<FactWithHistory> Memories::show(std::string_view owner, std::string_view id) {
  FactWithHistory out;
  TRY(out.fact, own_.store().fact(owner, id));
  TRY(out.history, own_.store().history(owner, id));
  return out;
}

Result<Fact> Memories::feedback(std::string_view owner, std::string_view id, bool helpful) {
  return own_.store().feedback(owner, id, helpful);
}

Result<Forgotten> Memories::forget(std::string_view owner, std::string_view id) {
  if (before_forgetting_) before_forgetting_();
  return own_.store().forget(owner, id);
}

Result<Forgotten> Memories::forget_session(std::string_view owner, std::string_view session) {
  if (before_forgetting_) before_forgetting_();
  return own_.store().forget_session(owner, session);
}

}  // namespace plimsoll::engine
