#include "library/collections.hpp"

#include <algorithm>
#include <set>

#include "base/sha256.hpp"
#include "base/try.hpp"
#include "ingest/embed.hpp"
#include "ingest/pipeline.hpp"
#include "library/given_document.hpp"

namespace plimsoll::library {
namespace {

constexpr int most_tries = 3;  // another request may create the collection meanwhile, with other settings

bool same(const IndexSettings& a, const IndexSettings& b) {
  return a.tokenizer == b.tokenizer && a.chunk_tokens == b.chunk_tokens && a.embedders == b.embedders;
}

Result<bool> has(Store& store, IndexId index, std::string_view key) {
  TRY(const auto head, store.head(index, key));
  return head.has_value();
}

// Returns whether `metadata` has all wanted entries.
bool holds(const Metadata& metadata, const Metadata& wanted) {
  return std::ranges::all_of(wanted, [&](const auto& one) {
    const auto found = metadata.find(one.first);
    return found != metadata.end() && found->second == one.second;
  });
}

// Whether an index could not be created because another process was faster.
bool was_made_meanwhile(Store& store, const IndexInfo& intended, const Error& error) {
  return error.code == Errc::bad_input && store.find_stamp(intended.owner, intended.name).has_value();
}

tl::unexpected<Error> stopped() {
  return fail(Errc::timed_out, "stopped before it was stored; send it again");
}

}  // namespace

Result<std::vector<std::string>> Collections::names(std::string_view owner) const {
  TRY(const auto all, store().indexes(owner));
  std::vector<std::string> names;
  for (const IndexInfo& info : all) names.push_back(info.name);
  return names;
}

Result<IndexInfo> Collections::find(std::string_view owner, std::string_view name) const {
  auto found = store().find_index(owner, name);
  if (!found && found.error().code == Errc::not_found)
    return fail(Errc::not_found, "No such index: '{}' exists.", name);
  return found;
}

// Id 0: it does not exist yet and would be created with these settings.
Result<IndexInfo> Collections::find_or_intended(std::string_view owner, std::string_view name) const {
  auto found = find(owner, name);
  if (found || found.error().code != Errc::not_found) return found;
  IndexInfo intended;
  intended.owner = owner;
  intended.name = name;
  TRY(intended.settings, tools_.settings_of_new());
  return intended;
}

Result<Collections::Turn> Collections::turn_of(std::string_view owner, std::string_view name) {
  Turn turn;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(turns_, [](const auto& one) { return one.second.expired(); });
    std::weak_ptr<std::mutex>& place = turns_[{std::string(owner), std::string(name)}];
    turn.mutex = place.lock();
    if (!turn.mutex) place = turn.mutex = std::make_shared<std::mutex>();
  }
  turn.lock = std::unique_lock(*turn.mutex);
  if (tools_.take_turn) {
    TRY(turn.shared, tools_.take_turn(owner, name));
  }
  return turn;
}

Result<std::vector<DocumentWithVectors>> Collections::prepared(const IndexInfo& info,
                                                               std::span<const GivenDocument* const> given,
                                                               std::span<const DocumentWithVectors> known,
                                                               Deadline deadline) const {
  std::vector<DocumentWithVectors> ready;
  if (given.empty()) return ready;
  TRY(const Tokenizer tokenizer, tools_.tokenizers.open(info.settings.tokenizer));
  ingest::ReadOptions options;
  options.max_document_bytes = tools_.max_document_bytes;
  std::vector<Document> documents;
  for (const GivenDocument* one : given) {
    TRY(Document document, make_given(*one, tokenizer, info.settings.chunk_tokens, options));
    documents.push_back(std::move(document));
    if (deadline.passed())
      return fail(Errc::timed_out, "the documents could not be read in time; send fewer at once");
  }
  TRY(const std::vector<Embedder*> embedders, tools_.embedders_of(info));
  return ingest::embed_documents(std::move(documents), embedders, known,
                                 [&](const auto&) { return !deadline.passed(); });
}

// If nothing is stored, the new index is removed, unless another process has stored something in it.
Result<void> Collections::put_into_new(const IndexInfo& intended,
                                       std::span<const DocumentWithVectors> documents) {
  TRY(const IndexInfo made, store().create_index(intended.owner, intended.name, intended.settings));
  auto put = store().put(made.id, documents);
  if (put) return {};
  const auto now = store().find_stamp(intended.owner, intended.name);
  if (now && now->id == made.id && now->revision == made.revision) (void)store().remove_index(made.id);
  return tl::unexpected(put.error());
}

Result<void> Collections::add(std::string_view owner, std::string_view name,
                              std::span<const GivenDocument> given, Deadline deadline) {
  if (given.empty()) return {};
  for (int tried = 0; tried < most_tries; ++tried) {
    TRY(const IndexInfo seen, find_or_intended(owner, name));
    std::vector<const GivenDocument*> fresh;
    std::set<std::string_view> ids;
    for (const GivenDocument& one : given) {
      if (!ids.insert(one.id).second) continue;
      bool known = false;
      if (seen.id != 0) {
        TRY(known, has(store(), seen.id, one.id));
      }
      if (!known) fresh.push_back(&one);
    }
    TRY(auto ready, prepared(seen, fresh, {}, deadline));

    TRY(const Turn turn, turn_of(owner, name));
    TRY(const IndexInfo now, find_or_intended(owner, name));
    // If the index was replaced, its known documents must go into the new one too.
    if (!same(now.settings, seen.settings) || (seen.id != 0 && now.id != seen.id)) continue;
    if (now.id == 0) {
      auto put = put_into_new(now, ready);
      if (put || !was_made_meanwhile(store(), now, put.error())) return put;
      continue;
    }
    if (now.id != seen.id || now.revision != seen.revision) {
      std::vector<DocumentWithVectors> still;
      for (DocumentWithVectors& one : ready) {
        TRY(const bool known, has(store(), now.id, one.document.key));
        if (!known) still.push_back(std::move(one));
      }
      ready = std::move(still);
    }
    if (ready.empty()) return {};
    TRY_VOID(store().put(now.id, ready));
    return {};
  }
  return fail(Errc::bad_input, "the index '{}' is being recreated by another request; try again", name);
}

Result<UpdateOutcome> Collections::update(std::string_view owner, std::string_view name,
                                          std::span<const GivenDocument> given, Deadline deadline) {
  TRY(const IndexInfo info, find(owner, name));
  UpdateOutcome outcome;
  std::map<std::string_view, std::size_t> changed;  // the last document given for an id
  std::vector<DocumentWithVectors> old;             // unchanged sentences are not embedded again
  for (std::size_t i = 0; i < given.size(); ++i) {
    TRY(const auto head, store().head(info.id, given[i].id));
    if (!head) {
      outcome.not_found.push_back(i);
    } else if (head->metadata == given[i].metadata && head->source_hash == base::sha256_hex(given[i].text)) {
      outcome.unchanged.push_back(i);
    } else {
      outcome.updated.push_back(i);
      if (changed.insert_or_assign(given[i].id, i).second && !info.settings.embedders.empty()) {
        TRY(auto document, store().document(head->id));
        old.push_back(std::move(document));
      }
    }
  }
  std::vector<const GivenDocument*> wanted;
  for (const std::size_t i : outcome.updated)
    if (changed.at(given[i].id) == i) wanted.push_back(&given[i]);
  TRY(auto ready, prepared(info, wanted, old, deadline));

  TRY(const Turn turn, turn_of(owner, name));
  TRY(const IndexInfo now, find(owner, name));
  if (now.id != info.id)
    return fail(Errc::not_found, "the index '{}' was recreated meanwhile; try again", name);
  std::vector<DocumentWithVectors> still;
  std::set<std::string, std::less<>> gone;
  for (DocumentWithVectors& one : ready) {
    TRY(const bool there, has(store(), now.id, one.document.key));
    if (there)
      still.push_back(std::move(one));
    else
      gone.insert(one.document.key);
  }
  std::erase_if(outcome.updated, [&](std::size_t i) {
    if (!gone.contains(given[i].id)) return false;
    outcome.not_found.push_back(i);
    return true;
  });
  if (!still.empty()) TRY_VOID(store().put(now.id, still));
  return outcome;
}

Result<FileOutcome> Collections::put_file(std::string_view owner, std::string_view name,
                                          const GivenFile& file, const Metadata& metadata,
                                          const FileProgress& progress) {
  const std::string hash = base::sha256_hex(file.bytes);
  for (int tried = 0; tried < most_tries; ++tried) {
    TRY(const IndexInfo seen, find_or_intended(owner, name));
    FileOutcome outcome;
    std::vector<DocumentWithVectors> old;  // unchanged sentences are not embedded again
    if (seen.id != 0) {
      TRY(const auto head, store().head(seen.id, file.name));
      if (head && head->source_hash == hash && holds(head->metadata, metadata))
        return FileOutcome{FileFate::unchanged, static_cast<std::size_t>(head->chunks), {}};
      if (head) {
        outcome.fate = FileFate::updated;
        TRY(auto document, store().document(head->id));
        old.push_back(std::move(document));
      }
    }
    if (!progress(FileStage::reading, 0)) return stopped();
    TRY(const Tokenizer tokenizer, tools_.tokenizers.open(seen.settings.tokenizer));
    ingest::IngestOptions options;
    options.read.max_document_bytes = tools_.max_document_bytes;
    options.cut.chunk_tokens = seen.settings.chunk_tokens;
    options.metadata = metadata;
    TRY(Document document,
        ingest::make_document(file.bytes, file.name, file.name, tokenizer, options, outcome.warnings));
    document.source_hash = hash;
    outcome.chunks = document.chunks.size();
    TRY(const std::vector<Embedder*> embedders, tools_.embedders_of(seen));
    std::vector<Document> documents;
    documents.push_back(std::move(document));
    TRY(const auto ready,
        ingest::embed_documents(std::move(documents), embedders, old, [&](const ingest::EmbedProgress& now) {
          return progress(FileStage::embedding, now.more);
        }));
    if (!progress(FileStage::storing, 0)) return stopped();

    TRY(const Turn turn, turn_of(owner, name));
    TRY(const IndexInfo now, find_or_intended(owner, name));
    if (!same(now.settings, seen.settings)) continue;
    if (now.id == 0) {
      auto put = put_into_new(now, ready);
      if (!put && was_made_meanwhile(store(), now, put.error())) continue;
      if (!put) return tl::unexpected(put.error());
    } else {
      TRY_VOID(store().put(now.id, ready));
    }
    return outcome;
  }
  return fail(Errc::io_failed, "the index '{}' is recreated repeatedly; try again later", name);
}

Result<std::vector<std::string>> Collections::remove(std::string_view owner, std::string_view name,
                                                     std::span<const std::string> ids) {
  TRY(const Turn turn, turn_of(owner, name));
  TRY(const IndexInfo info, find(owner, name));
  if (ids.empty()) return std::vector<std::string>();
  return store().remove(info.id, ids);
}

Result<void> Collections::remove_index(std::string_view owner, std::string_view name) {
  TRY(const Turn turn, turn_of(owner, name));
  TRY(const IndexInfo info, find(owner, name));
  TRY_VOID(store().remove_index(info.id));
  open_indexes().forget(owner, name);
  if (tools_.removed) tools_.removed(info);
  return {};
}

Result<void> Collections::undisturbed(std::string_view owner, std::string_view name,
                                      const std::function<Result<void>(const IndexInfo* info)>& work) {
  TRY(const Turn turn, turn_of(owner, name));
  const auto info = find(owner, name);
  if (!info && info.error().code != Errc::not_found) return tl::unexpected(info.error());
  const IndexId before = info ? info->id : 0;
  TRY_VOID(work(info ? &*info : nullptr));
  const auto now = find(owner, name);
  if (before != 0 && (!now || now->id != before)) {  // it was replaced
    open_indexes().forget(owner, name);
    if (tools_.removed) tools_.removed(*info);
  }
  return {};
}

}  // namespace plimsoll::library
