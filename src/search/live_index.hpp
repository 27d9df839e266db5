// The result of open_index(). Private to search.
#pragma once

#include <mutex>

#include "search/lexical.hpp"
#include "search/open.hpp"

namespace plimsoll::search {

class LiveIndex : public SnapshotIndex {
 public:
  LiveIndex(Store& store, IndexInfo info, OpenOptions options);

  void load();
  Result<bool> refresh() override;
  Result<void> snapshot() override;

  std::size_t size() const override;
  Revision revision() const override;
  Result<std::vector<Hit>> lexical(std::string_view query, std::size_t k,
                                   const std::vector<DocumentId>* only) const override;
  Result<std::vector<Hit>> nearest(std::size_t embedder, std::span<const float> query, std::size_t k,
                                   const std::vector<DocumentId>* only) const override;
  Result<std::vector<QueryTerm>> terms(std::string_view query) const override;
  float average_words() const override;
  Result<std::vector<NamedChunks>> named(NameUse use, std::span<const std::string> keys,
                                         std::size_t most) const override;
  Result<std::vector<NameCount>> most_mentioned(std::size_t most) const override;

 private:
  // The state that searches see. Immutable; it is replaced as a whole.
  struct State {
    Revision revision = 0;
    std::shared_ptr<const Lexical> lexical;
    std::vector<Vectors::View> vectors;
  };
  // The progress of a part of the index. -1: empty.
  struct Reached {
    Revision revision = -1;
    ChunkId highest = 0;
  };
  using Parts = std::vector<std::shared_ptr<const LivingPart>>;

  std::shared_ptr<const State> state() const;
  void publish(State next);

  void load_lexical();
  void load_vectors(std::size_t embedder);
  void forget();
  Result<IndexInfo> find();
  Result<void> catch_up(Revision revision);
  Result<std::vector<Removed>> what_was_removed();
  Result<std::shared_ptr<const Segment>> read_new(Revision revision);
  Parts parts_after(std::span<const Removed> removed, std::shared_ptr<const Segment> added) const;
  bool wants_snapshot() const;
  Result<void> make_snapshot();
  Result<void> snapshot_lexical(State& next);
  Result<void> snapshot_vectors(std::size_t embedder, State& next);
  std::filesystem::path lexical_file() const { return options_.folder / "words.index"; }
  std::filesystem::path vectors_file(std::size_t embedder) const;

  Store& store_;
  IndexInfo info_;
  OpenOptions options_;

  std::mutex changing_;  // one refresh or snapshot at a time; guards the members below
  Reached lexical_reached_;
  std::vector<Reached> vectors_reached_;
  std::vector<std::shared_ptr<Vectors>> vectors_;
  std::size_t changed_ = 0;  // chunks added or removed since the snapshot
  std::size_t snapshot_size_ = 0;
  bool has_snapshot_ = false;

  mutable std::mutex state_mutex_;
  std::shared_ptr<const State> state_;
};

}  // namespace plimsoll::search
