#include "ingest/pipeline.hpp"

#include <algorithm>
#include <optional>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json/json_text.hpp"
#include "base/sha256.hpp"
#include "base/try.hpp"
#include "ingest/embed.hpp"
#include "ingest/keys.hpp"

namespace plimsoll::ingest {
namespace {

class Ingest {
 public:
  Ingest(const IngestTools& tools, const IngestOptions& options, const Progress& progress)
      : tools_(tools), options_(options), progress_(progress) {}

  Result<IngestReport> run(std::span<const SourceFile> files) {
    TRY(auto stored, tools_.store.sources(tools_.index.id));
    keys_.emplace(std::move(stored));
    for (const SourceFile& file : files) {
      if (report_.stopped) break;
      TRY_VOID(add(file));
      if (batch_is_full()) TRY_VOID(flush());
      ++report_.counts.files;
      if (!progress_(report_.counts, file.key)) report_.stopped = true;
    }
    TRY_VOID(flush());
    return std::move(report_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  bool batch_is_full() const {
    return batch_.size() >= options_.batch_documents || batch_sentences_ >= most_sentences_ ||
           (!batch_.empty() && Clock::now() - flushed_ >= options_.batch_time);
  }

  Result<void> add(const SourceFile& file) {
    TRY(auto document, read(file));
    if (!document) {
      report_.counts.bytes += file.bytes;
      return {};
    }
    std::size_t sentences = 0;
    for (const Chunk& chunk : document->chunks) sentences += chunk.sentences.size();
    // Stores finished documents before a long one.
    if (sentences >= most_sentences_) TRY_VOID(flush());
    if (replaces_) replaced_.push_back(document->key);
    batch_sentences_ += sentences;
    batch_bytes_ += file.bytes;
    batch_.push_back(*std::move(document));
    return {};
  }

  // None: skipped, or unchanged.
  Result<std::optional<Document>> read(const SourceFile& file) {
    auto bytes = check_size(file.bytes, options_.read).and_then([&] {
      return base::read_file(file.path, options_.read.max_document_bytes);
    });
    if (!bytes) {
      report_.problems.push_back({file.key, bytes.error().what});
      return std::nullopt;
    }
    const std::string hash = base::sha256_hex(*bytes);
    const DocumentKeys::Assigned assigned = keys_->assign(file.key, file.source, hash);
    if (assigned.is_adopted) found_.push_back({assigned.key, assigned.file});
    if (assigned.is_stored && !assigned.is_changed) {
      TRY(const bool same, same_metadata(assigned.key));
      if (same) {
        ++report_.counts.unchanged;
        return std::nullopt;
      }
    }
    std::vector<std::string> warnings;
    IngestOptions options = options_;
    options.read.skip_derived = !file.wanted;
    auto document = make_document(*bytes, assigned.key, file.path.filename().string(), tools_.tokenizer,
                                  options, warnings);
    for (std::string& warning : warnings) report_.warnings.push_back({file.key, std::move(warning)});
    if (!document) {
      const bool skipped = document.error().code == Errc::unsupported && !file.wanted;
      (skipped ? report_.skipped : report_.problems).push_back({file.key, document.error().what});
      return std::nullopt;
    }
    document->source_hash = hash;
    document->file = assigned.file;
    replaces_ = assigned.is_stored;
    return std::optional(*std::move(document));
  }

  // Returns whether the stored document has the user's metadata.
  Result<bool> same_metadata(const std::string& key) {
    if (options_.metadata.empty()) return true;
    TRY(const auto head, tools_.store.head(tools_.index.id, key));
    if (!head) return false;
    for (const auto& [name, value] : options_.metadata) {
      const auto found = head->metadata.find(name);
      if (found == head->metadata.end() || found->second != value) return false;
    }
    return true;
  }

  Result<void> flush() {
    if (!found_.empty()) TRY_VOID(tools_.store.set_sources(tools_.index.id, found_));
    found_.clear();
    if (batch_.empty()) return {};
    std::vector<DocumentWithVectors> old;
    if (!tools_.embedders.empty()) {
      for (const std::string& key : replaced_) {
        TRY(const auto head, tools_.store.head(tools_.index.id, key));
        if (!head) continue;
        TRY(auto document, tools_.store.document(head->id));
        old.push_back(std::move(document));
      }
    }
    const std::size_t replaced = replaced_.size();
    const std::string last = batch_.back().key;
    const std::uint64_t before = report_.counts.bytes;
    const Clock::time_point began = Clock::now();
    std::size_t embedded = 0;
    auto ready = embed_documents(std::move(batch_), tools_.embedders, old, [&](const EmbedProgress& now) {
      embedded = now.done;
      report_.counts.sentences += now.more;
      report_.counts.bytes = before + (now.total == 0 ? 0 : batch_bytes_ * now.done / now.total);
      if (!progress_(report_.counts, last)) report_.stopped = true;
      // A batch takes a few seconds and is finished; only a large document, which takes longer, is abandoned.
      return !report_.stopped || now.done == now.total || now.total <= 2 * most_sentences_;
    });
    report_.counts.bytes = before + batch_bytes_;
    batch_.clear();
    replaced_.clear();
    batch_sentences_ = 0;
    batch_bytes_ = 0;
    adapt(embedded, Clock::now() - began);
    if (!ready && report_.stopped) return {};
    if (!ready) return tl::unexpected<Error>(ready.error());
    TRY_VOID(tools_.store.put(tools_.index.id, *ready));
    flushed_ = Clock::now();
    report_.counts.updated += replaced;
    report_.counts.added += ready->size() - replaced;
    for (const DocumentWithVectors& each : *ready) report_.counts.chunks += each.document.chunks.size();
    return {};
  }

  // Sets the size of the next batch to what is embedded in the batch time.
  void adapt(std::size_t embedded, Clock::duration took) {
    const double seconds = std::chrono::duration<double>(took).count();
    if (embedded < least_batch || seconds <= 0) return;
    const double wanted =
        static_cast<double>(embedded) / seconds * std::chrono::duration<double>(options_.batch_time).count();
    most_sentences_ = std::clamp(static_cast<std::size_t>(std::min(wanted, 1e9)), least_batch,
                                 std::max(options_.batch_sentences, least_batch));
  }

  const IngestTools& tools_;
  const IngestOptions& options_;
  const Progress& progress_;
  IngestReport report_;
  std::optional<DocumentKeys> keys_;
  std::vector<FoundSource> found_;  // written with the batch
  std::vector<Document> batch_;
  std::vector<std::string> replaced_;  // keys of the batch that replace stored documents
  bool replaces_ = false;              // whether the last document replaces a stored one
  std::size_t batch_sentences_ = 0;
  std::uint64_t batch_bytes_ = 0;  // of its files
  // Starts with a few sentences to measure the speed.
  static constexpr std::size_t least_batch = 64;
  std::size_t most_sentences_ = std::min(least_batch, options_.batch_sentences);
  Clock::time_point flushed_ = Clock::now();
};

}  // namespace

Result<Document> make_document(std::string_view bytes, std::string_view key, std::string_view name,
                               const Tokenizer& tokenizer, const IngestOptions& options,
                               std::vector<std::string>& warnings) {
  TRY(auto read, read_document(bytes, name, options.read));
  warnings.insert(warnings.end(), read.warnings.begin(), read.warnings.end());
  const std::string title = read.title;
  TRY(auto document, cut(std::move(read), tokenizer, options.cut));
  document.key = key;
  document.source_bytes = bytes.size();
  document.metadata = options.metadata;
  document.metadata.try_emplace("name", base::json_text(name));
  document.metadata.try_emplace("type", base::json_text(document.media_type));
  if (!title.empty()) document.metadata.try_emplace("title", base::json_text(title));
  return document;
}

Result<IngestReport> ingest_files(const IngestTools& tools, std::span<const SourceFile> files,
                                  const IngestOptions& options, const Progress& progress) {
  return Ingest(tools, options, progress).run(files);
}

}  // namespace plimsoll::ingest
