#include "retrieve/links.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "base/text/names.hpp"
#include "base/try.hpp"

namespace plimsoll::retrieve {
namespace {

// The sentences whose names are followed: at most this many, and none below this share of the best score.
constexpr std::size_t most_sources = 30;
constexpr float least_share = 0.6F;
constexpr std::size_t most_links = 60;    // chunks that a hop adds
constexpr std::size_t most_chunks = 20;   // of one name
constexpr std::size_t longest_title = 8;  // words of a title that is looked up in a text
// A name that many chunks mention says little about any of them.
constexpr std::size_t most_mentions = 10;
constexpr float hub_share = 0.3F;
// The weight of a mention relative to a title, for names without and with a title of their own.
constexpr float mention_weight = 0.5F, second_mention_weight = 0.4F;
// A sentence gains this share of the best score, times the weight of its link.
constexpr float sentence_gain = 0.8F, question_gain = 0.6F;
// The gain has a fixed part and a part that grows with the sentence's own score; for mentions the second one
// counts more, because most chunks that mention a name are about something else.
constexpr float fixed_title = 0.3F, fixed_mention = 0.1F;

struct Found {
  std::string key;
  NameUse use = NameUse::title;
  NamedChunks chunks;
  std::size_t mentions = 0;
};

// Looks up names, each once. They are read from the index many at a time, because it may be on a server.
class Lookup {
 public:
  explicit Lookup(const Index& index) : index_(index) {}

  // Reads the titles and other names with these keys, and how often those that exist are mentioned.
  Result<void> read_titled(const std::vector<std::string>& keys) {
    std::vector<std::string> left = unread(titled_, keys), found;
    for (const NameUse use : {NameUse::title, NameUse::other}) {
      if (left.empty()) break;
      TRY(auto chunks, index_.named(use, left, most_chunks));
      std::vector<std::string> missing;
      for (std::size_t i = 0; i < left.size(); ++i) {
        const bool is_there = chunks[i].total > 0;
        (is_there ? found : missing).push_back(left[i]);
        titled_[left[i]] = {left[i], use, std::move(chunks[i]), 0};
      }
      left = std::move(missing);
    }
    if (found.empty()) return {};
    TRY(const auto mentions, index_.named(NameUse::mention, found, 0));
    for (std::size_t i = 0; i < found.size(); ++i) titled_[found[i]].mentions = mentions[i].total;
    return {};
  }

  Result<void> read_mentioned(const std::vector<std::string>& keys) {
    const std::vector<std::string> left = unread(mentioned_, keys);
    if (left.empty()) return {};
    TRY(auto chunks, index_.named(NameUse::mention, left, most_chunks));
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::size_t total = chunks[i].total;
      mentioned_[left[i]] = {left[i], NameUse::mention, std::move(chunks[i]), total};
    }
    return {};
  }

  // Null: nothing has this title or other name, or it was not read.
  const Found* titled(const std::string& key) const {
    const auto at = titled_.find(key);
    return at != titled_.end() && at->second.chunks.total > 0 ? &at->second : nullptr;
  }

  // Must have been read.
  const Found& mentioned(const std::string& key) const { return mentioned_.at(key); }

 private:
  using Names = std::unordered_map<std::string, Found>;

  static std::vector<std::string> unread(const Names& known, const std::vector<std::string>& keys) {
    std::vector<std::string> out;
    for (const std::string& key : keys)
      if (!key.empty() && !known.contains(key)) out.push_back(key);
    std::ranges::sort(out);
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  const Index& index_;
  Names titled_, mentioned_;
};

// Joins words to a key as base::name_key does; "": no name, for example a single common word.
std::string joined(const std::vector<base::NameWord>& words, std::size_t from, std::size_t end) {
  const auto is_article = [](std::string_view word) { return word == "the" || word == "a" || word == "an"; };
  if (from + 1 < end && is_article(words[from].folded)) ++from;
  if (words[end - 1].stop && !words[end - 1].capital) return "";
  if (from + 1 == end && (words[from].stop || !words[from].capital)) return "";
  std::string key = words[from].folded;
  for (std::size_t i = from + 1; i < end; ++i) (key += ' ') += words[i].folded;
  return key;
}

// Visits the runs of words that may be titles, from each word the longest first. `any_case`: also those in
// lower case, as people write questions, if they have two words. The visitor returns whether to go on behind
// the run.
template <typename Visit>
void each_run(const std::vector<base::NameWord>& words, bool any_case, const Visit& visit) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].capital && (!any_case || words[i].stop)) continue;
    std::size_t end = i + 1;
    while (end < words.size() && end < i + longest_title && !words[end].apart) ++end;
    for (; end > i; --end) {
      if (!visit(joined(words, i, end), words[i].start, words[end - 1].end)) continue;
      i = end - 1;
      break;
    }
  }
}

void add_runs(const std::vector<base::NameWord>& words, bool any_case, std::vector<std::string>& keys) {
  each_run(words, any_case, [&](std::string key, std::uint32_t, std::uint32_t) {
    if (!key.empty()) keys.push_back(std::move(key));
    return false;
  });
}

// Visits the longest runs of words that are titles.
template <typename Visit>
void each_title(const Lookup& lookup, const std::vector<base::NameWord>& words, bool any_case,
                const Visit& visit) {
  each_run(words, any_case, [&](const std::string& key, std::uint32_t start, std::uint32_t end) {
    const Found* found = key.empty() ? nullptr : lookup.titled(key);
    if (found != nullptr) visit(*found, start, end);
    return found != nullptr;
  });
}

float title_weight(const Found& found) {
  return 1 / std::sqrt(static_cast<float>(found.chunks.total)) /
         (1 + hub_share * std::log1p(static_cast<float>(found.mentions)));
}

// Keeps the heaviest link to each chunk.
class Links {
 public:
  void add(const Found& found, Link link) {
    link.name = found.key;
    link.use = found.use;
    for (const Hit& hit : found.chunks.chunks) {
      if (hit.document == link.from) continue;
      link.chunk = hit.chunk;
      link.document = hit.document;
      const auto [at, is_new] = links_.try_emplace(hit.chunk, link);
      if (!is_new && at->second.weight < link.weight) at->second = link;
    }
  }

  std::vector<Link> take() {
    std::vector<Link> out;
    for (auto& [chunk, link] : links_) out.push_back(std::move(link));
    std::ranges::sort(out, [](const Link& a, const Link& b) {
      return a.weight != b.weight ? a.weight > b.weight : a.chunk < b.chunk;
    });
    if (out.size() > most_links) out.resize(most_links);
    return out;
  }

 private:
  std::unordered_map<ChunkId, Link> links_;
};

struct Source {
  float score = 0;
  std::uint32_t stretch = 0, sentence = 0;
};

std::vector<Source> best_sentences(const SentenceScores& scores) {
  std::vector<Source> order;
  for (std::uint32_t s = 0; s < scores.size(); ++s)
    for (std::uint32_t i = 0; i < scores[s].size(); ++i) order.push_back({scores[s][i].score, s, i});
  const auto is_better = [](const Source& a, const Source& b) {
    if (a.score != b.score) return a.score > b.score;
    return a.stretch != b.stretch ? a.stretch < b.stretch : a.sentence < b.sentence;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), most_sources));
  std::partial_sort(order.begin(), end, order.end(), is_better);
  order.erase(end, order.end());
  std::erase_if(order, [&](const Source& each) { return each.score < least_share * order.front().score; });
  return order;
}

std::string_view text_of(const ReadChunk& chunk, const ScoredSentence& sentence) {
  return std::string_view(chunk.stored.text)
      .substr(sentence.span.start - chunk.stored.chunk.span.start, sentence.span.size());
}

// Returns the question's words that a chunk has.
std::uint64_t words_of_chunk(const std::vector<ScoredSentence>& sentences, std::uint32_t chunk) {
  std::uint64_t out = 0;
  for (const ScoredSentence& each : sentences)
    if (each.chunk == chunk) out |= each.words;
  return out;
}

Result<std::set<std::string>> names_of_question(Lookup& lookup, std::string_view question) {
  std::set<std::string> out;
  std::vector<base::NameWord> words;
  base::read_name_words(question, words);
  std::vector<std::string> keys;
  add_runs(words, true, keys);
  TRY_VOID(lookup.read_titled(keys));
  each_title(lookup, words, true,
             [&](const Found& found, std::uint32_t, std::uint32_t) { out.insert(found.key); });
  std::vector<base::Name> names;
  base::read_names(question, names);
  for (base::Name& name : names) out.insert(std::move(name.key));
  return out;
}

// A sentence whose names are followed.
struct NamingSentence {
  std::vector<base::NameWord> words;
  std::vector<base::Name> names;
};

// Reads the names of the sentences, and looks all of them up.
Result<std::vector<NamingSentence>> read_names_of(Lookup& lookup, std::span<const Source> sources,
                                                  std::span<const StretchInput> stretches,
                                                  const SentenceScores& scores,
                                                  const std::set<std::string>& asked) {
  std::vector<NamingSentence> out(sources.size());
  std::vector<std::string> titles, mentions;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const ScoredSentence& sentence = scores[sources[i].stretch][sources[i].sentence];
    const std::string_view text = text_of(*stretches[sources[i].stretch].chunks[sentence.chunk], sentence);
    base::read_name_words(text, out[i].words);
    add_runs(out[i].words, false, titles);
    base::read_names(text, out[i].names);
    for (const base::Name& name : out[i].names) {
      if (asked.contains(name.key)) continue;
      titles.push_back(name.key);
      mentions.push_back(name.key);
    }
  }
  TRY_VOID(lookup.read_titled(titles));
  TRY_VOID(lookup.read_mentioned(mentions));
  return out;
}

// Returns the share of the question's words, by rarity, that the linked sentence has, of those that the chunk
// that names it does not have. 0: there are none left.
float share_of_rest(const Link& link, const ScoredSentence& sentence, std::span<const QueryTerm> terms) {
  float rest = 0, has = 0;
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if ((link.seen >> t & 1) != 0) continue;
    rest += terms[t].idf;
    if ((sentence.words >> t & 1) != 0) has += terms[t].idf;
  }
  return rest > 0 ? has / rest : 0;
}

// A title names a whole document, and its first chunk is only a part of that.
float share_of_document(const Link& link, const ReadChunk& chunk, std::int64_t chunks) {
  if (link.use == NameUse::mention || chunk.stored.chunk.span.start != 0) return 1;
  return 1 / std::sqrt(static_cast<float>(std::max<std::int64_t>(1, chunks)));
}

}  // namespace

Result<std::vector<Link>> links_of_question(const Index& index, std::string_view question) {
  Lookup lookup(index);
  std::vector<base::NameWord> words;
  base::read_name_words(question, words);
  std::vector<std::string> keys;
  add_runs(words, true, keys);
  TRY_VOID(lookup.read_titled(keys));
  Links links;
  each_title(lookup, words, true, [&](const Found& found, std::uint32_t, std::uint32_t) {
    Link link;
    link.weight = title_weight(found);
    links.add(found, std::move(link));
  });
  return links.take();
}

Result<std::vector<Link>> links_of_sentences(const Index& index, std::string_view question,
                                             std::span<const StretchInput> stretches,
                                             const SentenceScores& scores) {
  const std::vector<Source> sources = best_sentences(scores);
  if (sources.empty() || sources.front().score <= 0) return std::vector<Link>{};
  Lookup lookup(index);
  TRY(const std::set<std::string> asked, names_of_question(lookup, question));
  TRY(const auto naming, read_names_of(lookup, sources, stretches, scores, asked));
  Links links;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const Source& source = sources[i];
    const ScoredSentence& sentence = scores[source.stretch][source.sentence];
    const ReadChunk& chunk = *stretches[source.stretch].chunks[sentence.chunk];
    const float strength = source.score / sources.front().score;
    Link link;
    link.from = chunk.stored.document;
    link.seen = words_of_chunk(scores[source.stretch], sentence.chunk);
    link.relevance = sentence.relevance;

    std::vector<std::pair<std::uint32_t, std::uint32_t>> titles;  // bytes
    each_title(lookup, naming[i].words, false,
               [&](const Found& found, std::uint32_t start, std::uint32_t end) {
                 titles.emplace_back(start, end);
                 if (asked.contains(found.key)) return;
                 link.weight = strength * title_weight(found);
                 links.add(found, link);
               });
    for (const base::Name& name : naming[i].names) {
      if (asked.contains(name.key)) continue;
      const bool has_title = std::ranges::any_of(
          titles, [&](const auto& title) { return name.start < title.second && title.first < name.end; });
      if (const Found* titled = has_title ? nullptr : lookup.titled(name.key)) {  // "[install guide](b.md)"
        link.weight = strength * title_weight(*titled);
        links.add(*titled, link);
      }
      const Found& found = lookup.mentioned(name.key);
      if (found.mentions == 0 || found.mentions > most_mentions) continue;
      link.weight = strength * (has_title ? second_mention_weight : mention_weight) /
                    std::sqrt(static_cast<float>(found.mentions));
      links.add(found, link);
    }
  }
  return links.take();
}

void add_links(std::span<const Link> links, std::span<const QueryTerm> terms,
               std::span<const StretchInput> stretches, std::span<const std::int64_t> document_chunks,
               SentenceScores& scores) {
  constexpr std::size_t none = no_link;
  struct Heaviest {
    std::size_t of_sentence = none, of_question = none;
  };
  std::unordered_map<ChunkId, Heaviest> by_chunk;
  for (std::size_t i = 0; i < links.size(); ++i) {
    Heaviest& heaviest = by_chunk[links[i].chunk];
    std::size_t& place = links[i].from == 0 ? heaviest.of_question : heaviest.of_sentence;
    if (place == none || links[place].weight < links[i].weight) place = i;
  }
  float best = 0;
  for (const auto& sentences : scores)
    for (const ScoredSentence& sentence : sentences) best = std::max(best, sentence.score);
  if (best <= 0) return;

  float highest = best;
  for (std::size_t s = 0; s < scores.size(); ++s) {
    for (ScoredSentence& sentence : scores[s]) {
      const ReadChunk& chunk = *stretches[s].chunks[sentence.chunk];
      const auto found = by_chunk.find(chunk.stored.id);
      if (found == by_chunk.end()) continue;
      const float own = sentence.score / best;
      float more = 0, most = 0, reachable = 0;
      const auto count = [&](std::size_t i, float gain) {
        if (i == none) return;
        const Link& link = links[i];
        const float fixed = link.use == NameUse::mention ? fixed_mention : fixed_title;
        const float rest = link.from == 0 ? 0 : share_of_rest(link, sentence, terms);
        const float part = gain * link.weight * share_of_document(link, chunk, document_chunks[s]) *
                           (fixed + (1 - fixed) * own + rest);
        more += part;
        reachable = std::max(reachable, link.relevance);
        if (part <= most) return;
        most = part;
        sentence.link = static_cast<std::uint32_t>(i);
      };
      count(found->second.of_question, question_gain);
      count(found->second.of_sentence, sentence_gain);
      sentence.score += best * more;
      // As relevant as what names it, at most.
      sentence.relevance = std::max(sentence.relevance, std::min(reachable, sentence.relevance + more / 2));
      highest = std::max(highest, sentence.score);
    }
  }
  for (auto& sentences : scores)
    for (ScoredSentence& sentence : sentences) sentence.score *= best / highest;
}

}  // namespace plimsoll::retrieve
