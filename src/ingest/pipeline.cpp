#include "ingest/pipeline.hpp"

#include <unordered_map>

#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "base/try.hpp"
#include "ingest/embed.hpp"

namespace plimsoll::ingest {
namespace {

class Ingest {
 public:
  Ingest(const IngestTools& tools, const IngestOptions& options, const Progress& progress)
      : tools_(tools), options_(options), progress_(progress) {}

  Result<IngestReport> run(std::span<const SourceFile> files) {
    TRY(const auto hashes, tools_.store.source_hashes(tools_.index.id));
    for (const auto& [key, hash] : hashes) known_.emplace(key, hash);
    for (const SourceFile& file : files) {
      if (report_.stopped) break;
      TRY_VOID(add(file));
      if (batch_.size() >= options_.batch_documents || batch_sentences_ >= options_.batch_sentences)
        TRY_VOID(flush());
      ++report_.counts.files;
      report_.counts.bytes += file.bytes;
      if (!progress_(report_.counts, file.key)) report_.stopped = true;
    }
    TRY_VOID(flush());
    return std::move(report_);
  }

 private:
  Result<void> add(const SourceFile& file) {
    auto bytes = check_size(file.bytes, options_.read).and_then([&] {
      return base::read_file(file.path, options_.read.max_document_bytes);
    });
    if (!bytes) {
      report_.problems.push_back({file.key, bytes.error().what});
      return {};
    }
    const std::string hash = base::sha256_hex(*bytes);
    const auto known = known_.find(file.key);
    if (known != known_.end() && known->second == hash) {
      TRY(const bool same, same_metadata(file.key));
      if (same) {
        ++report_.counts.unchanged;
        return {};
      }
    }
    std::vector<std::string> warnings;
    auto document =
        make_document(*bytes, file.key, file.path.filename().string(), tools_.tokenizer, options_, warnings);
    for (std::string& warning : warnings) report_.warnings.push_back({file.key, std::move(warning)});
    if (!document) {
      report_.problems.push_back({file.key, document.error().what});
      return {};
    }
    document->source_hash = hash;
    for (const Chunk& chunk : document->chunks) batch_sentences_ += chunk.sentences.size();
    if (known != known_.end()) replaced_.push_back(file.key);
    known_.insert_or_assign(file.key, hash);
    batch_.push_back(*std::move(document));
    return {};
  }

  // Whether what the user puts on every document is on this one.
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
    auto ready = embed_documents(std::move(batch_), tools_.embedders, old, [&](std::size_t sentences) {
      report_.counts.sentences += sentences;
      if (!progress_(report_.counts, last)) report_.stopped = true;
      return !report_.stopped;
    });
    batch_.clear();
    replaced_.clear();
    batch_sentences_ = 0;
    if (!ready && report_.stopped) return {};
    if (!ready) return tl::unexpected<Error>(ready.error());
    TRY_VOID(tools_.store.put(tools_.index.id, *ready));
    report_.counts.updated += replaced;
    report_.counts.added += ready->size() - replaced;
    for (const DocumentWithVectors& each : *ready) report_.counts.chunks += each.document.chunks.size();
    return {};
  }

  const IngestTools& tools_;
  const IngestOptions& options_;
  const Progress& progress_;
  IngestReport report_;
  std::unordered_map<std::string, std::string> known_;  // source hash by key
  std::vector<Document> batch_;
  std::vector<std::string> replaced_;  // keys of the batch that the store has
  std::size_t batch_sentences_ = 0;
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
