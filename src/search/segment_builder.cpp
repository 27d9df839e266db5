#include "search/segment_builder.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/text/words.hpp"
#include "search/language_terms.hpp"
#include "search/segment_writer.hpp"

namespace plimsoll::search {

namespace {
constexpr std::uint32_t no_term = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t most_folded = 1'000'000;  // cached spellings
}  // namespace

// Stemming costs more than a lookup, so each spelling is stemmed once.
std::uint32_t SegmentBuilder::term_of(std::string_view folded) {
  const auto [number, is_new] = folded_.number_of(folded);
  if (!is_new) return stem_of_folded_[number];
  const base::StemmedWord word = base::stem_word(folded);
  const std::uint32_t term = word.stop ? no_term : this->number_of(word.stem);
  stem_of_folded_.push_back(term);
  return term;
}

std::uint32_t SegmentBuilder::term_of(std::string_view written, std::string_view folded,
                                      base::TextLanguage language) {
  if (language == base::TextLanguage::english) return term_of(folded);
  std::string key(1, static_cast<char>(language));
  key += written;
  const auto [number, is_new] = folded_.number_of(key);
  if (!is_new) return stem_of_folded_[number];
  const base::StemmedWord word = base::stem_word(written, folded, language);
  const std::uint32_t term = word.stop ? no_term : this->number_of(word.stem);
  stem_of_folded_.push_back(term);
  return term;
}

std::uint32_t SegmentBuilder::number_of(std::string_view term) {
  const std::uint32_t number = stems_.number_of(term).first;
  if (number == posting_of_.size()) {
    posting_of_.push_back(0);
    uses_.push_back(0);
  }
  return number;
}

// `first`: of the chunk.
void SegmentBuilder::add_posting(std::uint32_t term, std::uint64_t first) {
  if (posting_of_[term] > first) {
    ++postings_[posting_of_[term] - 1].count;
    return;
  }
  postings_.push_back({term, 1});
  posting_of_[term] = postings_.size();
  ++uses_[term];
}

void SegmentBuilder::add(ChunkId chunk, DocumentId document, std::span<const std::string_view> texts,
                         std::span<const std::string> names) {
  const std::uint64_t first = postings_.size();
  std::size_t length = 0;
  const base::TextLanguage language =
      language_.next(document, texts.empty() ? std::string_view() : texts.back());
  for (const std::string_view text : texts) {
    for (base::WordScanner scanner(text); scanner.next();) {
      const std::uint32_t term = term_of(scanner.written(), scanner.folded(), language);
      if (term == no_term) continue;
      ++length;
      add_posting(term, first);
    }
  }
  for (const std::string& name : names) add_posting(number_of(name), first);
  if (language != base::TextLanguage::english) add_posting(number_of(language_term(language)), first);
  chunks_.push_back(chunk);
  documents_.push_back(document);
  lengths_.push_back(static_cast<Length>(std::min<std::size_t>(length, std::numeric_limits<Length>::max())));
  ends_.push_back(postings_.size());
  ++chunks_added_;
  if (postings_.size() >= most_postings_ || folded_.size() >= most_folded)
    done_.push_back({std::make_shared<const Segment>(make_segment(0, 0, chunk)), nullptr});
}

// Sorts postings by term: the places of a term ascend, because chunks are processed in order.
Segment SegmentBuilder::make_segment(IndexId index, Revision revision, ChunkId highest) {
  std::vector<std::uint64_t> starts(uses_.size() + 1);
  for (std::size_t term = 0; term < uses_.size(); ++term) starts[term + 1] = starts[term] + uses_[term];
  struct PlacedCount {
    Place place = 0;
    std::uint32_t count = 0;
  };
  std::vector<PlacedCount> by_term(postings_.size());
  std::vector<std::uint64_t> next(starts.begin(), starts.end() - 1);
  std::uint64_t at = 0;
  for (Place place = 0; place < chunks_.size(); ++place)
    for (; at < ends_[place]; ++at) by_term[next[postings_[at].term]++] = {place, postings_[at].count};
  std::vector<Posting>().swap(postings_);

  SegmentWriter writer;
  for (std::size_t i = 0; i < chunks_.size(); ++i) writer.add_chunk(chunks_[i], documents_[i], lengths_[i]);
  std::vector<std::uint32_t> order(uses_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return stems_.text(a) < stems_.text(b); });
  for (const std::uint32_t term : order) {
    writer.begin_term(stems_.text(term));
    for (std::uint64_t i = starts[term]; i < starts[term + 1]; ++i)
      writer.add_posting(by_term[i].place, by_term[i].count);
    writer.end_term();
  }
  folded_.clear();
  stems_.clear();
  stem_of_folded_.clear();
  posting_of_.clear();
  uses_.clear();
  chunks_.clear();
  documents_.clear();
  lengths_.clear();
  ends_.clear();
  return writer.finish(index, revision, highest);
}

Segment SegmentBuilder::finish(IndexId index, Revision revision, ChunkId highest) {
  chunks_added_ = 0;
  if (done_.empty()) return make_segment(index, revision, highest);
  if (!chunks_.empty())
    done_.push_back({std::make_shared<const Segment>(make_segment(0, 0, chunks_.back())), nullptr});
  const std::vector<SegmentPart> parts = std::exchange(done_, {});
  return merge(parts, index, revision, highest);
}

}  // namespace plimsoll::search
