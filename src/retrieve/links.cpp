#include "retrieve/links.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_map>

#include "base/text/names.hpp"

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

// Looks up names, each once.
class Lookup {
 public:
  explicit Lookup(const Index& index) : index_(index) {}

  // Null: nothing has this title or other name.
  const Found* titled(const std::string& key) {
    const auto [at, is_new] = titled_.try_emplace(key);
    Found& found = at->second;
    if (is_new) {
      found.key = key;
      for (const NameUse use : {NameUse::title, NameUse::other}) {
        found.use = use;
        found.chunks = index_.named(use, key, most_chunks);
        if (found.chunks.total > 0) break;
      }
      if (found.chunks.total > 0) found.mentions = index_.named(NameUse::mention, key, 0).total;
    }
    return found.chunks.total > 0 ? &found : nullptr;
  }

  const Found& mentioned(const std::string& key) {
    const auto [at, is_new] = mentioned_.try_emplace(key);
    Found& found = at->second;
    if (is_new) {
      found.key = key;
      found.use = NameUse::mention;
      found.chunks = index_.named(NameUse::mention, key, most_chunks);
      found.mentions = found.chunks.total;
    }
    return found;
  }

 private:
  const Index& index_;
  std::unordered_map<std::string, Found> titled_, mentioned_;
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

// Visits the longest runs of words that are titles. `any_case`: also those in lower case, as people write
// questions, if they have two words.
template <typename Visit>
void each_title(Lookup& lookup, const std::vector<base::NameWord>& words, bool any_case, const Visit& visit) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].capital && (!any_case || words[i].stop)) continue;
    std::size_t end = i + 1;
    while (end < words.size() && end < i + longest_title && !words[end].apart) ++end;
    for (; end > i; --end) {
      const std::string key = joined(words, i, end);
      const Found* found = key.empty() ? nullptr : lookup.titled(key);
      if (found == nullptr) continue;
      visit(*found, words[i].start, words[end - 1].end);
      i = end - 1;
      break;
    }
  }
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

std::set<std::string> names_of_question(Lookup& lookup, std::string_view question) {
  std::set<std::string> out;
  std::vector<base::NameWord> words;
  base::read_name_words(question, words);
  each_title(lookup, words, true,
             [&](const Found& found, std::uint32_t, std::uint32_t) { out.insert(found.key); });
  std::vector<base::Name> names;
  base::read_names(question, names);
  for (base::Name& name : names) out.insert(std::move(name.key));
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

std::vector<Link> links_of_question(const Index& index, std::string_view question) {
  Lookup lookup(index);
  std::vector<base::NameWord> words;
  base::read_name_words(question, words);
  Links links;
  each_title(lookup, words, true, [&](const Found& found, std::uint32_t, std::uint32_t) {
    Link link;
    link.weight = title_weight(found);
    links.add(found, std::move(link));
  });
  return links.take();
}

std::vector<Link> links_of_sentences(const Index& index, std::string_view question,
                                     std::span<const StretchInput> stretches, const SentenceScores& scores) {
  Lookup lookup(index);
  const std::set<std::string> asked = names_of_question(lookup, question);
  const std::vector<Source> sources = best_sentences(scores);
  if (sources.empty() || sources.front().score <= 0) return {};
  std::vector<base::NameWord> words;
  std::vector<base::Name> names;
  Links links;
  for (const Source& source : sources) {
    const ScoredSentence& sentence = scores[source.stretch][source.sentence];
    const ReadChunk& chunk = *stretches[source.stretch].chunks[sentence.chunk];
    const std::string_view text = text_of(chunk, sentence);
    const float strength = source.score / sources.front().score;
    Link link;
    link.from = chunk.stored.document;
    link.seen = words_of_chunk(scores[source.stretch], sentence.chunk);
    link.relevance = sentence.relevance;

    std::vector<std::pair<std::uint32_t, std::uint32_t>> titles;  // bytes
    base::read_name_words(text, words);
    each_title(lookup, words, false, [&](const Found& found, std::uint32_t start, std::uint32_t end) {
      titles.emplace_back(start, end);
      if (asked.contains(found.key)) return;
      link.weight = strength * title_weight(found);
      links.add(found, link);
    });
    base::read_names(text, names);
    for (const base::Name& name : names) {
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
