#include "library/check_index.hpp"

#include <algorithm>
#include <bit>

#include "base/try.hpp"

namespace plimsoll::library {
namespace {

// Number of chunks to search for, spread evenly over the index.
constexpr std::size_t sample_size = 100;
// Chunks with the same words or vector may come first.
constexpr std::size_t search_depth = 10;
constexpr float nearly_one = 0.99F;

std::vector<float> floats_of(const std::vector<std::uint16_t>& packed) {
  std::vector<float> out;
  for (const std::uint16_t value : packed)
    out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16));
  return out;
}

class Check {
 public:
  Check(Store& store, const IndexInfo& info, const Index& index)
      : store_(store), info_(info), index_(index) {}

  Result<std::vector<std::string>> run() {
    TRY(living_, store_.living(info_.id));
    if (index_.size() != living_.size()) {
      faults_.push_back(fmt::format("the index has {} chunks, the store {}", index_.size(), living_.size()));
    }
    const std::size_t step = std::max<std::size_t>(1, living_.size() / sample_size);
    std::vector<ChunkId> sample;
    for (std::size_t i = 0; i < living_.size(); i += step) sample.push_back(living_[i]);
    TRY(const auto chunks, store_.chunks(info_.id, sample));
    for (const StoredChunk& chunk : chunks) TRY_VOID(search_for(chunk));
    return std::move(faults_);
  }

 private:
  Result<void> search_for(const StoredChunk& chunk) {
    TRY(const auto by_words, index_.lexical(std::string_view(chunk.text).substr(0, 500), search_depth));
    check_living(by_words, "words");
    for (std::size_t e = 0; e < chunk.vectors.size(); ++e) {
      const auto vector = floats_of(chunk.vectors[e].whole);
      TRY(const auto hits, index_.nearest(e, vector, search_depth));
      check_living(hits, "vectors");
      const bool is_zero = std::all_of(vector.begin(), vector.end(), [](float value) { return value == 0; });
      if (!is_zero && (hits.empty() || hits.front().score < nearly_one)) {
        faults_.push_back(fmt::format("chunk {} is not found by its own vector of '{}'", chunk.id,
                                      info_.settings.embedders[e].name));
      }
    }
    return {};
  }

  void check_living(const std::vector<Hit>& hits, std::string_view by) {
    for (const Hit& hit : hits) {
      if (std::binary_search(living_.begin(), living_.end(), hit.chunk)) continue;
      faults_.push_back(fmt::format("chunk {} was removed and is still found by {}", hit.chunk, by));
    }
  }

  Store& store_;
  const IndexInfo& info_;
  const Index& index_;
  std::vector<ChunkId> living_;
  std::vector<std::string> faults_;
};

}  // namespace

Result<std::vector<std::string>> check_index(Store& store, const IndexInfo& info, const Index& index) {
  return Check(store, info, index).run();
}

}  // namespace plimsoll::library
