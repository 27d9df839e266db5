#include "conversation/turn_vectors.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "base/sha256.hpp"
#include "base/try.hpp"

namespace plimsoll::conversation {
namespace {

constexpr std::size_t most_memory_bytes = std::size_t{16} << 20;
constexpr std::size_t batch_turns = 16;
// For the missing vectors of one request. A conversation that grows turn by turn needs one batch at a time.
constexpr std::chrono::milliseconds most_time{1'500};
// What of a pasted text is embedded.
constexpr std::size_t most_sentences = 24;

std::string bytes_of(const SentenceVectors& vectors) {
  return {reinterpret_cast<const char*>(vectors.data()), vectors.size()};
}

SentenceVectors vectors_of(std::string_view bytes) {
  const auto* const begin = reinterpret_cast<const std::int8_t*>(bytes.data());
  return {begin, begin + bytes.size()};
}

std::string memory_key(const std::string& owner, const std::string& embedder, const std::string& hash) {
  return fmt::format("{}\n{}\n{}", owner, embedder, hash);
}

}  // namespace

Result<std::vector<SentenceVectors>> embed_turns(Embedder& embedder, std::span<const std::string_view> texts,
                                                 Deadline deadline) {
  std::vector<std::string_view> sentences;
  std::vector<std::size_t> counts;
  for (const std::string_view text : texts) {
    std::vector<Span> spans = turn_sentences(text);
    spans.resize(std::min(spans.size(), most_sentences));
    for (const Span& span : spans) sentences.push_back(text.substr(span.start, span.size()));
    counts.push_back(spans.size());
  }
  std::vector<SentenceVectors> out(texts.size());
  if (sentences.empty()) return out;
  TRY(const std::vector<float> values, embedder.embed(sentences, deadline));
  const std::size_t dimensions = embedder.info().dimensions;
  if (values.size() != sentences.size() * dimensions)
    return fail(Errc::upstream_failed, "the embedder returned {} numbers for {} sentences of {} each",
                values.size(), sentences.size(), dimensions);
  std::size_t at = 0;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    out[i] = packed_vectors(std::span(values).subspan(at * dimensions, counts[i] * dimensions));
    at += counts[i];
  }
  return out;
}

TurnVectors::Known TurnVectors::known(const std::string& owner, const std::string& session,
                                      const std::string& embedder, std::span<const std::string> hashes) {
  Known found;
  if (!session.empty()) {
    auto kept = store_.turn_vectors(owner, session, embedder);
    if (!kept) log::warning("cannot read the vectors of a session", {{"why", kept.error().what}});
    if (kept)
      for (TurnVector& one : *kept) found.emplace(std::move(one.hash), vectors_of(one.bytes));
    return found;
  }
  const std::lock_guard lock(mutex_);
  for (const std::string& hash : hashes) {
    const auto entry = by_key_.find(memory_key(owner, embedder, hash));
    if (entry == by_key_.end()) continue;
    entries_.splice(entries_.begin(), entries_, entry->second);
    found.emplace(hash, entry->second->vectors);
  }
  return found;
}

void TurnVectors::keep(const std::string& owner, const std::string& session, const std::string& embedder,
                       std::span<const TurnVector> made, std::int64_t at_ms) {
  if (!session.empty()) {
    if (const auto kept = store_.keep_turn_vectors(owner, session, embedder, made, at_ms, age_ms_); !kept)
      log::warning("cannot store the vectors of turns", {{"why", kept.error().what}});
    return;
  }
  const std::lock_guard lock(mutex_);
  for (const TurnVector& one : made) {
    const std::string key = memory_key(owner, embedder, one.hash);
    if (by_key_.contains(key)) continue;
    entries_.push_front({key, vectors_of(one.bytes)});
    by_key_.emplace(key, entries_.begin());
    bytes_ += key.size() + one.bytes.size();
  }
  while (bytes_ > most_memory_bytes) {
    bytes_ -= entries_.back().key.size() + entries_.back().vectors.size();
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

TurnVectors::Meanings TurnVectors::find(const std::string& owner, const std::string& session,
                                        std::string_view question, const TurnIndex& index,
                                        std::span<const std::size_t> order, std::int64_t at_ms,
                                        Deadline deadline) {
  Meanings out;
  out.turns.resize(index.size());
  const auto embedder =
      embedder_ ? embedder_() : fail(Errc::not_found, "there is no embedder (setting embedders)");
  if (!embedder) {
    out.note = embedder.error().what;
    return out;
  }
  const auto vector = (*embedder)->embed_query(question, deadline);
  if (!vector) {
    out.note = vector.error().what;
    return out;
  }
  out.question = packed_vectors(*vector);
  const std::string& name = (*embedder)->info().name;
  std::vector<std::string> hashes(index.size());
  for (std::size_t i = 0; i < index.size(); ++i)
    if (index.turn(i).by_user) hashes[i] = base::sha256_hex(index.turn(i).text);
  Known have = known(owner, session, name, hashes);
  std::vector<std::size_t> without;
  for (const std::size_t i : order) {
    if (!index.turn(i).by_user) continue;
    if (const auto found = have.find(hashes[i]); found != have.end())
      out.turns[i] = found->second;
    else
      without.push_back(i);
  }
  const Deadline soon = sooner(deadline, Deadline::after(most_time));
  std::vector<TurnVector> made;
  std::size_t done = 0;
  while (done < without.size() && !soon.passed()) {
    std::vector<std::string_view> texts;
    const std::size_t end = std::min(without.size(), done + batch_turns);
    for (std::size_t i = done; i < end; ++i) texts.push_back(index.turn(without[i]).text);
    auto vectors = embed_turns(**embedder, texts, deadline);
    if (!vectors) {
      out.note = vectors.error().what;
      break;
    }
    for (std::size_t i = done; i < end; ++i) {
      SentenceVectors& one = out.turns[without[i]] = std::move((*vectors)[i - done]);
      if (!one.empty()) made.push_back({hashes[without[i]], bytes_of(one)});
    }
    done = end;
  }
  out.missing = without.size() - done;
  if (!made.empty()) keep(owner, session, name, made, at_ms);
  return out;
}

}  // namespace plimsoll::conversation
