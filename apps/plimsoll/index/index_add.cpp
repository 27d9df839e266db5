#include "index/index_add.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/documents.hpp"
#include "index/index_filter.hpp"
#include "index/index_settings.hpp"
#include "index/index_sources.hpp"
#include "ingest/derived_files.hpp"
#include "ingest/pipeline.hpp"
#include "serve/known_models.hpp"
#include "terminal/interrupt.hpp"
#include "terminal/progress_bar.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

// Returns about 1/32 of a small model's window, so that ten chunks and an answer fit (C5).
Tokens chunk_tokens_for(Tokens window) {
  return std::clamp<Tokens>(window / 32, 100, 400);
}

Result<const ModelCard*> card_of(const ModelCatalogue& catalogue, const std::string& model) {
  const auto match = catalogue.find(model);
  if (match) return match->card;
  return fail(Errc::unknown_model, "the catalogue has {}; `plimsoll models --catalogue` lists all models",
              catalogue.no_entry_for(model));
}

// Returns the settings of a new index. If an embedder of the settings is not available, the index has none
// and a note says so; an embedder from the command line must be available.
Result<IndexSettings> settings_for(const config::Settings& settings, Documents& documents,
                                   const IndexAddOptions& options, std::vector<std::string>& notes) {
  IndexSettings out;
  out.chunk_tokens = settings.chunk_tokens;
  if (!options.model.empty()) {
    TRY(const ModelCatalogue catalogue, known_models(settings));
    TRY(const ModelCard* card, card_of(catalogue, options.model));
    if (!card->tokenizer.empty()) out.tokenizer = card->tokenizer;
    out.chunk_tokens = chunk_tokens_for(card->window);
  }
  if (!options.tokenizer.empty()) out.tokenizer = options.tokenizer;
  if (options.chunk_tokens > 0) out.chunk_tokens = options.chunk_tokens;
  if (options.no_embedder) return out;
  if (options.embedders.empty()) {
    TRY(out.embedders, usual_embedders(settings, documents, notes));
  }
  for (const std::string& name : options.embedders) {
    TRY(const Embedder* embedder, documents.embedder(name));
    out.embedders.push_back(embedder->info());
  }
  return out;
}

// Refuses options that differ from the settings of an existing index.
Result<void> check_unchanged(const config::Settings& settings, const IndexInfo& index,
                             const IndexAddOptions& options) {
  if (!options.model.empty()) {
    TRY(const ModelCatalogue catalogue, known_models(settings));
    TRY(const ModelCard* card, card_of(catalogue, options.model));
    const std::string& tokenizer = card->tokenizer;
    if (options.tokenizer.empty() && !tokenizer.empty() && tokenizer != index.settings.tokenizer)
      return fail(Errc::bad_input, "index '{}' counts with {}, but {} uses {}: create a new index for it",
                  index.name, index.settings.tokenizer, options.model, tokenizer);
  }
  if (!options.tokenizer.empty() && options.tokenizer != index.settings.tokenizer) {
    return fail(Errc::bad_input, "index '{}' counts with {}: create a new index to count with {}", index.name,
                index.settings.tokenizer, options.tokenizer);
  }
  if (options.chunk_tokens > 0 && options.chunk_tokens != index.settings.chunk_tokens) {
    return fail(Errc::bad_input, "index '{}' has chunks of {} tokens: create a new index for another size",
                index.name, index.settings.chunk_tokens);
  }
  std::vector<std::string> names;
  for (const EmbedderInfo& embedder : index.settings.embedders) names.push_back(embedder.name);
  const bool other =
      options.no_embedder ? !names.empty() : !options.embedders.empty() && options.embedders != names;
  if (other) {
    return fail(Errc::bad_input,
                "index '{}' uses {}: vectors of other embedders are not compatible; create a new index",
                index.name, names.empty() ? "no embedder" : fmt::format("{}", fmt::join(names, ", ")));
  }
  return {};
}

Result<IndexInfo> find_or_create(const config::Settings& settings, Documents& documents,
                                 const IndexAddOptions& options, std::vector<std::string>& notes) {
  auto found = documents.store().find_index(local_owner, options.name);
  if (found) {
    TRY_VOID(check_unchanged(settings, *found, options));
    return found;
  }
  if (found.error().code != Errc::not_found) return found;
  TRY(const IndexSettings wanted, settings_for(settings, documents, options, notes));
  return documents.store().create_index(local_owner, options.name, wanted);
}

struct Outcome {
  ingest::IngestReport report;
  std::size_t pruned = 0;
  double seconds = 0;
};

// Returns one line with the number of skipped files by kind, the most frequent first.
std::string skipped_text(const std::vector<ingest::Problem>& skipped, bool verbose) {
  if (skipped.empty()) return {};
  std::map<std::string, std::size_t> counts;
  for (const ingest::Problem& one : skipped) ++counts[ingest::skipped_kind(one.reason)];
  std::vector<std::pair<std::string, std::size_t>> kinds(counts.begin(), counts.end());
  std::ranges::stable_sort(kinds, std::greater<>(), [](const auto& kind) { return kind.second; });
  std::string out;
  if (verbose)
    for (const ingest::Problem& one : skipped)
      out += fmt::format("skipped   {}: {}\n", printable(one.key), printable(one.reason, 500));
  std::vector<std::string> parts;
  for (const auto& [kind, count] : kinds) parts.push_back(fmt::format("{} {}", kind, count));
  return out + fmt::format("skipped   {} of kinds that are not indexed ({}){}\n",
                           several(skipped.size(), "file"), fmt::join(parts, ", "),
                           verbose ? "" : "; --verbose lists them");
}

std::string stopped_text(const ingest::IngestCounts& counts) {
  const std::size_t stored = counts.added + counts.updated;
  if (stored == 0) return "stopped before the first document was stored; the same command starts over\n";
  return fmt::format("stopped; the {} stored so far {} kept, and the same command continues there\n",
                     several(stored, "document"), stored == 1 ? "is" : "are");
}

std::string outcome_text(const IndexInfo& index, const Outcome& outcome, bool verbose) {
  const ingest::IngestCounts& counts = outcome.report.counts;
  std::string out;
  for (const auto& problem : outcome.report.problems) {
    out += fmt::format("left out  {}: {}\n", printable(problem.key), printable(problem.reason, 500));
  }
  for (const auto& warning : outcome.report.warnings) {
    out += fmt::format("note      {}: {}\n", printable(warning.key), printable(warning.reason, 500));
  }
  out += skipped_text(outcome.report.skipped, verbose);
  const auto number = [](std::size_t count) {
    return base::with_thousands(static_cast<std::int64_t>(count));
  };
  out += fmt::format("{}: {} added, {} updated, {} unchanged", printable(index.name), number(counts.added),
                     number(counts.updated), number(counts.unchanged));
  if (outcome.pruned > 0) out += fmt::format(", {} removed", number(outcome.pruned));
  if (!outcome.report.problems.empty()) out += fmt::format(", {} left out", outcome.report.problems.size());
  out += fmt::format("; {}, {} embedded, {:.1f} s\n", several(counts.chunks, "chunk"),
                     several(counts.sentences, "sentence"), outcome.seconds);
  if (outcome.report.stopped) out += stopped_text(counts);
  return out;
}

std::string outcome_json(const IndexInfo& index, const Outcome& outcome) {
  const ingest::IngestCounts& counts = outcome.report.counts;
  const auto list = [](const std::vector<ingest::Problem>& problems) {
    Json out = Json::array();
    for (const auto& problem : problems)
      out.push_back({{"document", problem.key}, {"reason", problem.reason}});
    return out;
  };
  const Json out{{"index", index.name},
                 {"added", counts.added},
                 {"updated", counts.updated},
                 {"unchanged", counts.unchanged},
                 {"removed", outcome.pruned},
                 {"chunks", counts.chunks},
                 {"sentences", counts.sentences},
                 {"problems", list(outcome.report.problems)},
                 {"skipped", list(outcome.report.skipped)},
                 {"warnings", list(outcome.report.warnings)},
                 {"stopped", outcome.report.stopped},
                 {"seconds", outcome.seconds}};
  return base::readable_json(out);
}

Result<Outcome> ingest_all(const config::Settings& settings, Documents& documents, const IndexInfo& index,
                           const Sources& sources, const IndexAddOptions& options,
                           std::vector<std::string>& notes) {
  const auto started = std::chrono::steady_clock::now();
  TRY(const Tokenizer tokenizer, documents.tokenizers().open(index.settings.tokenizer));
  TRY(const auto embedders, documents.embedders_of(index));
  ingest::IngestOptions ingest_options;
  ingest_options.read.max_document_bytes = static_cast<std::uint64_t>(settings.max_document_bytes);
  ingest_options.cut.chunk_tokens = index.settings.chunk_tokens;
  TRY(ingest_options.metadata, read_filters(options.metadata));

  const Interrupt interrupt;
  Outcome outcome;
  {
    ProgressBar progress(sources.bytes, "file", options.quiet || options.json);
    TRY(outcome.report,
        ingest::ingest_files({documents.store(), index, tokenizer, embedders}, sources.files, ingest_options,
                             [&](const ingest::IngestCounts& counts, std::string_view key) {
                               progress.show(counts.bytes, counts.files, key);
                               return !interrupt.wanted();
                             }));
  }
  outcome.report.problems.insert(outcome.report.problems.end(), sources.problems.begin(),
                                 sources.problems.end());
  outcome.report.skipped.insert(outcome.report.skipped.end(), sources.skipped.begin(), sources.skipped.end());
  if (options.prune && !outcome.report.stopped) {
    TRY(outcome.pruned, prune(documents, index, sources, notes));
  } else if (!outcome.report.stopped) {
    TRY(std::string note, note_on_deleted(documents, index, sources));
    if (!note.empty()) notes.push_back(std::move(note));
  }
  TRY_VOID(documents.snapshot(index));
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  return outcome;
}

}  // namespace

Result<int> index_add(const config::Settings& settings, const IndexAddOptions& options) {
  TRY(const Sources sources, find_sources(options));
  if (sources.files.empty() && !sources.problems.empty())
    return fail(Errc::not_found, "{}: {}", printable(sources.problems.front().key),
                sources.problems.front().reason);
  TRY(auto documents, Documents::open(settings, /*create=*/true));
  std::vector<std::string> notes;
  TRY(const IndexInfo index, find_or_create(settings, *documents, options, notes));
  TRY(Outcome outcome, ingest_all(settings, *documents, index, sources, options, notes));
  for (std::string& note : notes) outcome.report.warnings.push_back({index.name, std::move(note)});
  TRY_VOID(
      print_out(options.json ? outcome_json(index, outcome) : outcome_text(index, outcome, options.verbose)));
  if (outcome.report.stopped) return 130;
  return outcome.report.problems.empty() ? 0 : 1;
}

}  // namespace plimsoll
