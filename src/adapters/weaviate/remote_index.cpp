#include "adapters/weaviate/remote_index.hpp"

#include <algorithm>
#include <thread>

#include "adapters/weaviate/queries.hpp"
#include "base/text/bm25.hpp"
#include "base/try.hpp"

namespace plimsoll::weaviate {
namespace {

constexpr std::size_t most_known_terms = 100'000, most_known_names = 50'000;
constexpr std::size_t most_known_chunks = 20;  // of a name
constexpr std::size_t counts_per_query = 64;
// Objects that a look-up of many names returns; if there are more, each name is asked for alone.
constexpr std::size_t most_named_objects = 500;

const char* property_of(NameUse use) {
  return use == NameUse::title ? "titles" : use == NameUse::other ? "others" : "mentions";
}

std::string known_key(NameUse use, std::string_view key) {
  std::string out(1, static_cast<char>(use));
  out += key;
  return out;
}

// Splits a list into parts of at most `most`.
template <typename T, typename Visit>
Result<void> in_parts(std::span<const T> all, std::size_t most, const Visit& visit) {
  for (std::size_t from = 0; from < all.size(); from += most)
    TRY_VOID(visit(all.subspan(from, std::min(most, all.size() - from))));
  return {};
}

}  // namespace

std::size_t RemoteIndex::size() const {
  return static_cast<std::size_t>(progress().chunks);
}

Revision RemoteIndex::revision() const {
  const Progress now = progress();
  return lost_ || !now.is_whole ? -1 : now.revision;
}

float RemoteIndex::average_words() const {
  const Progress now = progress();
  return now.chunks > 0 ? std::max(1.0F, static_cast<float>(now.words) / static_cast<float>(now.chunks))
                        : 1.0F;
}

Progress RemoteIndex::progress() const {
  const std::lock_guard lock(known_mutex_);
  return known_.progress;
}

void RemoteIndex::publish(const Progress& progress) {
  const std::lock_guard lock(known_mutex_);
  known_ = Known{};
  known_.progress = progress;
}

// A node that starts, that cannot reach another one, or whose copy is late answers with what it has, which
// may be nothing. So each query counts the objects, too, and another node is asked if some are missing.
Result<Json> RemoteIndex::query(std::string graphql) const {
  graphql.pop_back();
  graphql += fmt::format("Aggregate{{all:{}{{meta{{count}}}}}}}}", collection_.name());
  const Options& options = nodes_.options();
  std::chrono::milliseconds pause{0};
  for (int looks = 1;; ++looks) {
    auto data = nodes_.query(graphql, nodes_.for_search());
    if (!data && data.error().code == Errc::damaged) {
      lost_ = true;  // the next request for this index builds it again: see revision()
      return fail(Errc::unreachable, "{}; it is built again", data.error().what);
    }
    if (!data) return data;
    const std::uint64_t counted = count_of_all(*data);
    TRY(const bool complete, is_complete(counted));
    if (complete) return data;
    if (looks == options.most_looks)
      return fail(Errc::unreachable,
                  "the index store {} has only {} of {} chunks at the moment; try again later, and run "
                  "`plimsoll index rebuild {}` if it lasts",
                  options.address.shown, counted, size(), info_.name);
    std::this_thread::sleep_for(pause);
    pause = std::max(options.first_pause / 4, pause * 2);
  }
}

Result<bool> RemoteIndex::is_complete(std::uint64_t counted) const {
  const Progress known = progress();
  const auto expected = static_cast<std::uint64_t>(known.chunks);
  if (counted >= expected) return true;
  // Another gateway may have removed documents since; text is not taken from here.
  TRY(const IndexStamp now, store_.find_stamp(info_.owner, info_.name));
  if (now.revision == known.revision) return false;
  TRY(const auto removed, store_.removed_since(info_.id, known.revision));
  if (!removed) return true;
  std::uint64_t gone = 0;
  for (const Removed& range : *removed) gone += static_cast<std::uint64_t>(range.last - range.first) + 1;
  return counted + gone >= expected;
}

Result<std::vector<Hit>> RemoteIndex::lexical(std::string_view query, std::size_t k,
                                              const std::vector<DocumentId>* only) const {
  if (k == 0 || (only != nullptr && only->empty())) return std::vector<Hit>{};
  TRY(const std::vector<QueryTerm> terms, words_of(query));
  std::string words;
  for (const QueryTerm& term : terms) {
    (words += words.empty() ? "" : " ") += term.term;
    for (const std::string& other : term.others) (words += ' ') += other;
  }
  if (words.empty()) return std::vector<Hit>{};
  TRY(const Json data, this->query(bm25_query(collection_.name(), words, k, only)));
  return lexical_hits(data, collection_.name());
}

Result<std::vector<Hit>> RemoteIndex::nearest(std::size_t embedder, std::span<const float> query,
                                              std::size_t k, const std::vector<DocumentId>* only) const {
  const auto& embedders = info_.settings.embedders;
  if (k == 0 || embedder >= embedders.size() || query.size() != embedders[embedder].dimensions ||
      (only != nullptr && only->empty()))
    return std::vector<Hit>{};
  TRY(const Json data, this->query(nearest_query(collection_.name(), embedder, query, k, only)));
  return nearest_hits(data, collection_.name());
}

Result<std::vector<base::LanguageShare>> RemoteIndex::languages() const {
  {
    const std::lock_guard lock(known_mutex_);
    if (known_.has_languages) return known_.languages;
  }
  const Revision asked_at = progress().revision;
  std::vector<PropertyValue> wanted;
  for (std::size_t i = 1; i < base::text_languages; ++i)
    wanted.push_back({"language", base::name_of(static_cast<base::TextLanguage>(i))});
  TRY(const Json data, query(count_query(collection_.name(), wanted)));
  TRY(const auto counts, counts_in(data, wanted.size()));
  std::vector<base::LanguageShare> out;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) out.push_back({static_cast<base::TextLanguage>(i + 1), counts[i]});
  const std::lock_guard lock(known_mutex_);
  if (known_.progress.revision == asked_at) {
    known_.languages = out;
    known_.has_languages = true;
  }
  return out;
}

Result<std::vector<QueryTerm>> RemoteIndex::words_of(std::string_view query) const {
  TRY(auto foreign, languages());
  return base::words_of_query(query, std::move(foreign), size());
}

Result<std::vector<std::uint64_t>> RemoteIndex::count_terms(const std::vector<std::string>& terms) const {
  std::vector<std::uint64_t> out(terms.size());
  std::vector<PropertyValue> wanted;
  std::vector<std::size_t> places;
  const Revision asked_at = progress().revision;
  {
    const std::lock_guard lock(known_mutex_);
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (const auto known = known_.with_term.find(terms[i]); known != known_.with_term.end()) {
        out[i] = known->second;
      } else {
        wanted.push_back({"words", terms[i]});
        places.push_back(i);
      }
    }
  }
  std::size_t next = 0;
  TRY_VOID(in_parts(std::span<const PropertyValue>(wanted), counts_per_query, [&](auto part) -> Result<void> {
    TRY(const Json data, query(count_query(collection_.name(), part)));
    TRY(const auto counts, counts_in(data, part.size()));
    for (const std::uint64_t count : counts) out[places[next++]] = count;
    return {};
  }));
  const std::lock_guard lock(known_mutex_);
  if (known_.progress.revision != asked_at) return out;
  if (known_.with_term.size() > most_known_terms) known_.with_term.clear();
  for (const std::size_t place : places) known_.with_term[terms[place]] = out[place];
  return out;
}

Result<std::vector<QueryTerm>> RemoteIndex::terms(std::string_view query) const {
  TRY(std::vector<QueryTerm> out, words_of(query));
  std::vector<std::string> all;
  for (const QueryTerm& term : out) {
    all.push_back(term.term);
    all.insert(all.end(), term.others.begin(), term.others.end());
  }
  TRY(const auto counts, count_terms(all));
  const std::uint64_t chunks = size();
  std::size_t next = 0;
  for (QueryTerm& term : out) {
    std::uint64_t with_term = 0;
    for (std::size_t i = 0; i <= term.others.size(); ++i) with_term += counts[next++];
    term.idf = base::idf_of(chunks, std::min(with_term, chunks));
  }
  return out;
}

Result<std::vector<NamedChunks>> RemoteIndex::ask_named(NameUse use, const std::vector<std::string>& keys,
                                                        std::size_t most) const {
  const char* property = property_of(use);
  if (most > 0 && keys.size() > 1) {
    TRY(const Json data, query(any_named_query(collection_.name(), property, keys, most_named_objects)));
    if (auto all = any_named_in(data, collection_.name(), property, keys, most, most_named_objects))
      return *std::move(all);
  }
  std::vector<NamedChunks> out;
  TRY_VOID(in_parts(std::span<const std::string>(keys), counts_per_query, [&](auto part) -> Result<void> {
    TRY(const Json data, query(named_query(collection_.name(), property, part, most)));
    TRY(auto some, named_in(data, part.size()));
    std::ranges::move(some, std::back_inserter(out));
    return {};
  }));
  return out;
}

Result<std::vector<NamedChunks>> RemoteIndex::named(NameUse use, std::span<const std::string> keys,
                                                    std::size_t most) const {
  std::vector<NamedChunks> out(keys.size());
  std::vector<std::string> wanted;
  std::vector<std::size_t> places;
  const Revision asked_at = progress().revision;
  {
    const std::lock_guard lock(known_mutex_);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto known = known_.named.find(known_key(use, keys[i]));
      const bool is_enough =
          known != known_.named.end() && std::min(most, known->second.total) <= known->second.chunks.size();
      if (is_enough) {
        out[i] = known->second;
        if (out[i].chunks.size() > most) out[i].chunks.resize(most);
      } else {
        wanted.push_back(keys[i]);
        places.push_back(i);
      }
    }
  }
  if (wanted.empty()) return out;
  TRY(auto found, ask_named(use, wanted, most));
  const std::lock_guard lock(known_mutex_);
  if (known_.named.size() > most_known_names) known_.named.clear();
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (known_.progress.revision == asked_at && found[i].chunks.size() <= most_known_chunks)
      known_.named[known_key(use, wanted[i])] = found[i];
    out[places[i]] = std::move(found[i]);
  }
  return out;
}

Result<std::vector<NameCount>> RemoteIndex::most_mentioned(std::size_t most) const {
  if (most == 0) return std::vector<NameCount>{};
  TRY(const Json data, query(top_values_query(collection_.name(), "mentions", most)));
  return top_values_in(data, collection_.name(), "mentions");
}

}  // namespace plimsoll::weaviate
