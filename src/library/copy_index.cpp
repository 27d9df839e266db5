#include "library/copy_index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <optional>

#include "base/checksum.hpp"
#include "base/documents/packing.hpp"
#include "base/documents/stored_document.hpp"
#include "base/try.hpp"

namespace plimsoll::library {

namespace {

constexpr std::string_view copying_owner = "#copying";  // no real owner: such an index is never listed
constexpr std::size_t most_heads = 256, most_bytes = 4'000'000;
constexpr int most_passes = 5;  // over a source that changes meanwhile

// Visits the heads of all documents by id. Stops when `visit` returns false.
Result<bool> each_head(Store& store, IndexId index,
                       const std::function<Result<bool>(const DocumentHead&)>& visit) {
  for (DocumentId after = 0;;) {
    TRY(const auto heads, store.documents(index, {}, after, most_heads));
    if (heads.empty()) return true;
    for (const DocumentHead& head : heads) {
      TRY(const bool on, visit(head));
      if (!on) return false;
    }
    after = heads.back().id;
  }
}

// Collects documents, and writes them a few megabytes at a time.
class Batch {
 public:
  Batch(Store& from, Store& to, IndexId target) : from_(from), to_(to), target_(target) {}

  Result<void> add(const DocumentHead& head) {
    auto document = from_.document(head.id);
    if (!document && document.error().code == Errc::not_found) return {};  // removed meanwhile
    if (!document) return tl::unexpected<Error>(document.error());
    bytes_ += document->document.text.size();
    documents_.push_back(*std::move(document));
    return bytes_ >= most_bytes || documents_.size() >= most_heads ? flush() : Result<void>();
  }

  Result<void> flush() {
    if (!documents_.empty()) TRY_VOID(to_.put(target_, documents_));
    documents_.clear();
    bytes_ = 0;
    return {};
  }

 private:
  Store& from_;
  Store& to_;
  IndexId target_;
  std::vector<DocumentWithVectors> documents_;
  std::size_t bytes_ = 0;
};

bool is_same(const DocumentHead& a, const DocumentHead& b) {
  return a.source_hash == b.source_hash && a.source_bytes == b.source_bytes && a.text_bytes == b.text_bytes &&
         a.chunks == b.chunks && a.tokens == b.tokens && a.media_type == b.media_type &&
         a.metadata == b.metadata && a.file == b.file;
}

bool is_same(const IndexSettings& a, const IndexSettings& b) {
  return a.tokenizer == b.tokenizer && a.chunk_tokens == b.chunk_tokens &&
         std::ranges::equal(a.embedders, b.embedders, [](const EmbedderInfo& one, const EmbedderInfo& other) {
           return one.name == other.name && one.dimensions == other.dimensions;
         });
}

void add_to(base::Checksum& sum, std::span<const std::byte> bytes) {
  const auto size = std::bit_cast<std::array<std::byte, 8>>(static_cast<std::uint64_t>(bytes.size()));
  sum.update(size);
  sum.update(bytes);
}
void add_to(base::Checksum& sum, std::string_view text) {
  add_to(sum, std::as_bytes(std::span(text)));
}

Result<std::uint64_t> checksum_of(const DocumentWithVectors& one) {
  const Document& document = one.document;
  base::Checksum sum;
  TRY(const std::string metadata, base::metadata_json(document.metadata));
  for (const std::string_view text : {std::string_view(document.key), std::string_view(document.media_type),
                                      std::string_view(document.source_hash), std::string_view(metadata),
                                      std::string_view(document.file.root), std::string_view(document.text)})
    add_to(sum, text);
  add_to(sum, document.file.path.value_or("?"));
  add_to(sum, base::pack_sections(document.sections));
  add_to(sum, base::pack_origins(document.origins));
  for (std::size_t i = 0; i < document.chunks.size(); ++i) {
    std::vector<const ChunkVectors*> vectors;
    for (const auto& by_chunk : one.vectors) vectors.push_back(&by_chunk[i]);
    add_to(sum, document.chunks[i].lead);
    add_to(sum, base::pack_sentences(document.chunks[i]));
    add_to(sum, base::pack_vectors(vectors));
  }
  return sum.value();
}

class IndexCopy {
 public:
  IndexCopy(Store& from, IndexInfo source, Store& to, const IndexTarget& target,
            const IndexCopyProgress& progress)
      : from_(from), source_(std::move(source)), to_(to), target_(target), progress_(progress) {}

  Result<IndexCopied> run() {
    if (!target_.replace && to_.find_stamp(target_.owner, target_.name))
      return fail(Errc::bad_input, "the target has an index '{}' already; --replace replaces it",
                  target_.name);
    TRY(half_, half());
    TRY(const bool copied, copy_all());
    if (!copied) return stopped();
    TRY(const bool verified, verify());
    if (!verified) return stopped();
    TRY_VOID(to_.rename_index(half_, target_.owner, target_.name));
    return out_;
  }

 private:
  IndexCopied stopped() {
    out_.stopped = true;
    return out_;
  }

  // The index that is filled: the rest of an interrupted copy, or a new one.
  Result<IndexId> half() {
    const std::string name = target_.owner + " " + target_.name;
    if (const auto found = to_.find_index(copying_owner, name)) {
      if (is_same(found->settings, source_.settings)) return found->id;
      TRY_VOID(to_.remove_index(found->id));
    }
    TRY(const IndexInfo made, to_.create_index(copying_owner, name, source_.settings));
    return made.id;
  }

  // Until the source has not changed while it was read.
  Result<bool> copy_all() {
    for (int pass = 0; pass < most_passes; ++pass) {
      TRY(const IndexInfo before, from_.find_index(source_.owner, source_.name));
      if (before.id != source_.id) break;
      source_ = before;
      TRY(const bool done, copy_what_differs());
      if (!done) return false;
      TRY(const bool settled, is_unchanged());
      if (settled) return true;
    }
    return keeps_changing();
  }

  Result<bool> is_unchanged() {
    TRY(const IndexStamp now, from_.find_stamp(source_.owner, source_.name));
    return now.id == source_.id && now.revision == source_.revision;
  }

  tl::unexpected<Error> keeps_changing() const {
    return fail(Errc::bad_input, "'{}' is being changed; the same command goes on when nothing writes to it",
                source_.name);
  }

  Result<bool> copy_what_differs() {
    std::map<std::string, DocumentHead> there;
    TRY_VOID(each_head(to_, half_, [&](const DocumentHead& head) -> Result<bool> {
      there.emplace(head.key, head);
      return true;
    }));
    Batch batch(from_, to_, half_);
    out_.documents = out_.there = 0;
    TRY(const bool whole, each_head(from_, source_.id, [&](const DocumentHead& head) -> Result<bool> {
          if (!progress_(IndexCopyStep::copying, out_.documents++, source_.documents)) return false;
          const auto known = there.extract(head.key);
          if (!known.empty() && is_same(known.mapped(), head)) {
            ++out_.there;
            return true;
          }
          if (!known.empty()) TRY_VOID(to_.remove(half_, std::span(&known.key(), 1)));
          TRY_VOID(batch.add(head));
          return true;
        }));
    TRY_VOID(batch.flush());
    if (!whole) return false;
    std::vector<std::string> gone;
    for (const auto& [key, head] : there) gone.push_back(key);
    if (!gone.empty()) TRY_VOID(to_.remove(half_, gone));
    return true;
  }

  Result<bool> verify() {
    std::int64_t done = 0;
    const auto sum_of = [&](Store& store, IndexId index) -> Result<std::optional<std::uint64_t>> {
      std::uint64_t sum = 0;  // does not depend on the order
      TRY(const bool whole, each_head(store, index, [&](const DocumentHead& head) -> Result<bool> {
            if (!progress_(IndexCopyStep::verifying, done++, 2 * source_.documents)) return false;
            TRY(const DocumentWithVectors document, store.document(head.id));
            TRY(const std::uint64_t one, checksum_of(document));
            sum += one;
            return true;
          }));
      return whole ? std::optional(sum) : std::nullopt;
    };
    TRY(const auto ours, sum_of(from_, source_.id));
    if (!ours) return false;
    TRY(const auto theirs, sum_of(to_, half_));
    if (!theirs) return false;
    if (*ours != *theirs) {
      TRY(const bool settled, is_unchanged());
      if (!settled) return keeps_changing();
      TRY_VOID(to_.remove_index(half_));
      return fail(
          Errc::damaged,
          "the copy of '{}' differs from its source ({} documents, checksum {:016x} instead of {:016x}) "
          "and was removed; `plimsoll index verify` checks the source",
          source_.name, source_.documents, *theirs, *ours);
    }
    out_.checksum = *ours;
    return true;
  }

  Store& from_;
  IndexInfo source_;
  Store& to_;
  const IndexTarget& target_;
  const IndexCopyProgress& progress_;
  IndexId half_ = 0;
  IndexCopied out_;
};

}  // namespace

Result<IndexCopied> copy_index(Store& from, const IndexInfo& source, Store& to, const IndexTarget& target,
                               const IndexCopyProgress& progress) {
  return IndexCopy(from, source, to, target, progress).run();
}

Result<void> copy_documents(Store& from, IndexId source, Store& to, IndexId target) {
  Batch batch(from, to, target);
  const auto add = [&](const DocumentHead& head) -> Result<bool> {
    TRY_VOID(batch.add(head));
    return true;
  };
  TRY_VOID(each_head(from, source, add));
  return batch.flush();
}

}  // namespace plimsoll::library
