// Saves and loads the index.
#include <cerrno>
#include <charconv>

#include <fmt/format.h>
#include <signal.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/mapped_file.hpp"
#include "base/try.hpp"
#include "search/live_index.hpp"

namespace plimsoll::search {

namespace {

// An unusable snapshot is not an error, but the log explains why opening took long.
void say_unusable(const IndexInfo& info, const std::filesystem::path& file, const Error& error) {
  if (error.code != Errc::not_found)
    log::warning("recreating the snapshot",
                 {{"index", info.name}, {"file", file.native()}, {"reason", error.what}});
}

Result<std::shared_ptr<const Segment>> map_segment(const std::filesystem::path& path, IndexId index) {
  TRY(auto mapped, base::MappedFile::open(path));
  const auto file = std::make_shared<const base::MappedFile>(std::move(mapped));
  TRY(auto segment, Segment::open(file->bytes(), file));
  if (segment.header().index != index) return fail(Errc::damaged, "it belongs to another index");
  return std::make_shared<const Segment>(std::move(segment));
}

// Processes killed while writing leave files such as "words.index.4711.0.tmp".
void remove_leftovers(const std::filesystem::path& folder) {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::filesystem::path& path = entry.path();
    if (path.extension() != ".tmp") continue;
    const std::string process = path.stem().stem().extension().string();
    int number = 0;
    if (process.starts_with('.'))
      std::from_chars(process.data() + 1, process.data() + process.size(), number);
    if (number > 0 && ::kill(number, 0) != 0 && errno == ESRCH) std::filesystem::remove(path, error);
  }
}

}  // namespace

std::filesystem::path LiveIndex::vectors_file(std::size_t embedder) const {
  return options_.folder / fmt::format("vectors-{}.index", embedder);
}

void LiveIndex::load() {
  const std::lock_guard lock(changing_);
  if (options_.folder.empty()) return;
  remove_leftovers(options_.folder);
  load_lexical();
  for (std::size_t i = 0; i < vectors_.size(); ++i) load_vectors(i);
}

void LiveIndex::load_lexical() {
  auto segment = map_segment(lexical_file(), info_.id);
  if (!segment) return say_unusable(info_, lexical_file(), segment.error());
  const SegmentHeader& header = (*segment)->header();
  lexical_reached_ = {header.revision, header.highest};
  snapshot_size_ = header.chunks;
  has_snapshot_ = true;
  State next = *state();
  next.revision = header.revision;  // vectors of another revision are updated before the first search
  next.lexical = std::make_shared<const Lexical>(
      Parts{std::make_shared<const LivingPart>(*std::move(segment), nullptr)});
  publish(std::move(next));
}

void LiveIndex::load_vectors(std::size_t embedder) {
  auto loaded = Vectors::load(vectors_file(embedder), info_.id, info_.settings.embedders[embedder].dimensions,
                              options_.vectors);
  if (!loaded) return say_unusable(info_, vectors_file(embedder), loaded.error());
  vectors_reached_[embedder] = {loaded->vectors->revision(), loaded->vectors->highest()};
  vectors_[embedder] = std::move(loaded->vectors);
  State next = *state();
  next.vectors[embedder] = std::move(loaded->view);
  publish(std::move(next));
}

bool LiveIndex::wants_snapshot() const {
  return changed_ >= options_.snapshot_chunks &&
         static_cast<double>(changed_) >= options_.snapshot_share * static_cast<double>(snapshot_size_);
}

Result<void> LiveIndex::snapshot() {
  const std::lock_guard lock(changing_);
  return make_snapshot();
}

// Words first: if one file is older than the other, it is updated when opened.
Result<void> LiveIndex::make_snapshot() {
  changed_ = 0;  // even on failure: retried after as many changes again
  State next = *state();
  auto done = snapshot_lexical(next);
  for (std::size_t i = 0; i < vectors_.size(); ++i) {
    auto saved = snapshot_vectors(i, next);
    if (done) done = std::move(saved);
  }
  snapshot_size_ = next.lexical->size();
  publish(std::move(next));
  return done;
}

Result<void> LiveIndex::snapshot_lexical(State& next) {
  std::vector<SegmentPart> parts;
  for (const auto& part : next.lexical->parts()) parts.push_back(part->part());
  auto merged = std::make_shared<const Segment>(
      merge(parts, info_.id, lexical_reached_.revision, lexical_reached_.highest));
  Result<void> done;
  if (!options_.folder.empty()) {
    done = base::write_atomically(
        lexical_file(), {reinterpret_cast<const char*>(merged->bytes().data()), merged->bytes().size()});
    // The system can reclaim pages of the file, but not our memory.
    if (done)
      if (auto mapped = map_segment(lexical_file(), info_.id);
          mapped && (*mapped)->header().checksum == merged->header().checksum)
        merged = *std::move(mapped);
  }
  next.lexical =
      std::make_shared<const Lexical>(Parts{std::make_shared<const LivingPart>(std::move(merged), nullptr)});
  has_snapshot_ = true;
  return done;
}

Result<void> LiveIndex::snapshot_vectors(std::size_t embedder, State& next) {
  Vectors::View& view = next.vectors[embedder];
  if (static_cast<double>(view.dead()) > options_.compact_share * static_cast<double>(view.size())) {
    vectors_[embedder] = vectors_[embedder]->compacted(view);
    view = vectors_[embedder]->view(nullptr, {});
  }
  if (options_.folder.empty()) return {};
  const Reached& reached = vectors_reached_[embedder];
  return vectors_[embedder]->save(vectors_file(embedder), view, info_.id, reached.revision, reached.highest);
}

}  // namespace plimsoll::search
