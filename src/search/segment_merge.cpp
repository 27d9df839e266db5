#include <algorithm>
#include <cassert>
#include <limits>

#include "search/segment_builder.hpp"
#include "search/segment_writer.hpp"

namespace plimsoll::search {

namespace {

constexpr Place gone = std::numeric_limits<Place>::max();

struct Source {
  const Segment* segment = nullptr;
  std::vector<Place> new_places;  // per place; `gone` for deleted ones
  std::size_t term = 0;           // the next one
};

// Finds the smallest next term of all sources. False: all are at their end.
bool least_term(const std::vector<Source>& sources, std::string_view& least) {
  bool found = false;
  for (const Source& source : sources) {
    if (source.term == source.segment->terms()) continue;
    const std::string_view letters = source.segment->letters(source.term);
    if (!found || letters < least) least = letters;
    found = true;
  }
  return found;
}

void add_postings(const Source& source, DecodedBlock& block, SegmentWriter& writer) {
  const Term term = source.segment->term(source.term);
  for (std::size_t i = 0; i < term.blocks.size(); ++i) {
    term.decode(i, block);
    for (std::size_t j = 0; j < block.size; ++j) {
      const Place place = source.new_places[block.places[j]];
      if (place != gone) writer.add_posting(place, block.counts[j] + 1);
    }
  }
}

}  // namespace

Segment merge(std::span<const SegmentPart> parts, IndexId index, Revision revision, ChunkId highest) {
  SegmentWriter writer;
  std::vector<Source> sources;
  Place next = 0;
  for (const SegmentPart& part : parts) {
    Source& source = sources.emplace_back();
    source.segment = part.segment.get();
    source.new_places.resize(part.segment->size(), gone);
    for (std::size_t i = 0; i < part.segment->size(); ++i) {
      if (part.dead && part.dead->test(i)) continue;
      source.new_places[i] = next++;
      writer.add_chunk(part.segment->chunks()[i], part.segment->documents()[i], part.segment->lengths()[i]);
    }
  }
  DecodedBlock block;
  for (std::string_view letters; least_term(sources, letters);) {
    writer.begin_term(letters);
    for (Source& source : sources) {
      if (source.term == source.segment->terms() || source.segment->letters(source.term) != letters) continue;
      add_postings(source, block, writer);
      ++source.term;
    }
    writer.end_term();
  }
  return writer.finish(index, revision, highest);
}

}  // namespace plimsoll::search
