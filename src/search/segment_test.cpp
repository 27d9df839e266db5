#include "search/segment.hpp"

#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "search/segment_builder.hpp"
#include "search/term_table.hpp"

namespace plimsoll::search {
namespace {

TEST(Bitpack, GivesBackWhatWasPacked) {
  std::mt19937 rng{3};
  for (unsigned width = 0; width <= 32; ++width) {
    for (const std::size_t count : {1U, 7U, 8U, 9U, 127U, 128U}) {
      std::vector<std::uint32_t> values(count);
      for (std::uint32_t& value : values)
        value = static_cast<std::uint32_t>(rng() & ((std::uint64_t{1} << width) - 1));
      std::vector<std::uint8_t> bytes;
      pack(values, width, bytes);
      EXPECT_EQ(bytes.size(), packed_bytes(count, width));
      bytes.resize(bytes.size() + unpack_slack);
      std::vector<std::uint32_t> back(block_postings);
      unpack(bytes.data(), count, width, back.data());
      back.resize(count);
      EXPECT_EQ(back, values) << width << " bits, " << count;
    }
  }
}

TEST(TermTable, NumbersEachTextOnce) {
  TermTable table;
  for (int round = 0; round < 2; ++round)
    for (std::uint32_t i = 0; i < 5000; ++i) {
      const auto [number, is_new] = table.number_of(std::to_string(i));
      EXPECT_EQ(number, i);
      EXPECT_EQ(is_new, round == 0);
      EXPECT_EQ(table.text(number), std::to_string(i));
    }
  EXPECT_EQ(table.size(), 5000U);
}

Segment small_segment(std::size_t most_postings = 4'000'000) {
  SegmentBuilder builder(most_postings);
  for (ChunkId id = 1; id <= 300; ++id) {
    const std::string text =
        "ship number" + std::to_string(id % 7) + (id % 3 == 0 ? " anchors anchor" : " sails");
    const std::string_view texts[] = {"Harbour", text};
    builder.add(id * 2, id / 5, texts);
  }
  return builder.finish(9, 4, 700);
}

std::string words_of(const Segment& segment, std::size_t term) {
  std::string all(segment.letters(term));
  const Term found = segment.term(term);
  DecodedBlock block;
  for (std::size_t i = 0; i < found.blocks.size(); ++i) {
    found.decode(i, block);
    for (std::size_t j = 0; j < block.size; ++j)
      all += " " + std::to_string(block.places[j]) + ":" + std::to_string(block.counts[j] + 1);
  }
  return all;
}

TEST(Segment, HoldsWhatWasPutIn) {
  const Segment segment = small_segment();
  EXPECT_EQ(segment.size(), 300U);
  EXPECT_EQ(segment.header().index, 9);
  EXPECT_EQ(segment.header().revision, 4);
  EXPECT_EQ(segment.header().highest, 700);
  EXPECT_EQ(segment.chunks()[2], 6);
  EXPECT_EQ(segment.documents()[299], 60);
  EXPECT_EQ(segment.lengths()[2], 5);  // harbour ship number3 anchors anchor
  EXPECT_FALSE(segment.find("anchors"));
  const auto anchor = segment.find("anchor");
  ASSERT_TRUE(anchor);
  EXPECT_EQ(anchor->chunks, 100U);
  EXPECT_EQ(words_of(segment, anchor->number).substr(0, 18), "anchor 2:2 5:2 8:2");
  EXPECT_EQ(segment.find("ship")->blocks.size(), 3U);
}

TEST(Segment, IsTheSameWhenMergedOfMany) {
  const Segment whole = small_segment();
  const Segment merged = small_segment(100);
  ASSERT_EQ(merged.terms(), whole.terms());
  for (std::size_t i = 0; i < whole.terms(); ++i) EXPECT_EQ(words_of(merged, i), words_of(whole, i));
  EXPECT_TRUE(std::ranges::equal(merged.bytes(), whole.bytes()));
}

TEST(Segment, LosesTheDeadWhenMerged) {
  const auto segment = std::make_shared<const Segment>(small_segment());
  const auto dead = std::make_shared<Bits>(segment->size());
  for (std::size_t i = 0; i < 300; ++i)
    if (i % 3 == 2) dead->set(i);
  const SegmentPart part{segment, dead};
  const Segment merged = merge(std::span(&part, 1), 9, 5, 700);
  EXPECT_EQ(merged.size(), 200U);
  EXPECT_FALSE(merged.find("anchor"));
  EXPECT_EQ(merged.find("ship")->chunks, 200U);
}

TEST(Segment, FindsThePlacesOfDocuments) {
  const Segment segment = small_segment();
  std::mt19937 rng{1};
  for (int round = 0; round < 200; ++round) {
    std::vector<DocumentId> wanted;
    for (DocumentId id = -2; id < 70; ++id)
      if (rng() % (1 + static_cast<unsigned>(round) % 9) == 0) wanted.push_back(id);
    const Bits places = segment.places_of(wanted);
    for (std::size_t i = 0; i < segment.size(); ++i)
      EXPECT_EQ(places.test(i), std::binary_search(wanted.begin(), wanted.end(), segment.documents()[i]));
  }
}

// Every bit flipped and every truncation: damaged, never a crash and never accepted.
TEST(Segment, IsDamagedWhereAnyBitIsWrong) {
  const Segment segment = small_segment();
  std::vector<std::uint64_t> words(segment.bytes().size() / 8);
  const std::span bytes = std::as_writable_bytes(std::span(words));
  std::memcpy(bytes.data(), segment.bytes().data(), bytes.size());
  ASSERT_TRUE(Segment::open(bytes, nullptr));
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    const auto opened = Segment::open(bytes, nullptr);
    ASSERT_FALSE(opened) << bit;
    EXPECT_EQ(opened.error().code, Errc::damaged);
    bytes[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
  }
  for (std::size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(Segment::open(bytes.first(size), nullptr));
}

// The same with a matching checksum: an accepted segment must be readable to its last posting.
TEST(Segment, IsReadableWhereverItIsTakenForSound) {
  const Segment segment = small_segment();
  std::mt19937 rng{17};
  std::size_t passed = 0, refused = 0;
  std::vector<std::uint64_t> words(segment.bytes().size() / 8);
  const std::span bytes = std::as_writable_bytes(std::span(words));
  for (int round = 0; round < 5000; ++round) {
    std::memcpy(bytes.data(), segment.bytes().data(), bytes.size());
    for (unsigned i = 0; i < 1 + rng() % 3; ++i) bytes[rng() % bytes.size()] = static_cast<std::byte>(rng());
    const std::uint64_t sum = checksum_of(bytes);
    std::memcpy(bytes.data() + offsetof(SegmentHeader, checksum), &sum, sizeof(sum));
    const auto opened = Segment::open(bytes, nullptr);
    if (!opened) {
      ++refused;
      continue;
    }
    ++passed;
    for (std::size_t i = 0; i < opened->terms(); ++i) {
      const Term term = opened->term(i);
      DecodedBlock block;
      for (std::size_t j = 0; j < term.blocks.size(); ++j) {
        term.decode(j, block);
        for (std::size_t at = 0; at < block.size; ++at) ASSERT_LT(block.places[at], opened->size());
      }
    }
  }
  EXPECT_GT(passed, 100U);
  EXPECT_GT(refused, 1000U);
}

}  // namespace
}  // namespace plimsoll::search
