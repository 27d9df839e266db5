#include "reports/doctor_checks.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "adapters/http/curl_client.hpp"
#include "adapters/sqlite/keys.hpp"
#include "adapters/weaviate/index.hpp"
#include "base/clock.hpp"
#include "base/temporary_folder.hpp"
#include "base/text/text.hpp"
#include "index/documents.hpp"
#include "index/stores.hpp"
#include "model/weights.hpp"
#include "serve/find_window.hpp"
#include "serve/known_models.hpp"
#include "serve/serve_upstreams.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t little_space = std::uintmax_t{1} << 30;
constexpr std::uintmax_t no_space = std::uintmax_t{64} << 20;
// Sockets of upstreams, files of the store, and files that libraries open.
constexpr std::uint64_t other_files = 128;

std::string megabytes(std::uintmax_t bytes) {
  return base::with_thousands(static_cast<std::int64_t>(bytes >> 20)) + " MB";
}

// Returns the folder itself, or its nearest existing parent.
fs::path nearest(fs::path folder) {
  std::error_code ignored;
  while (!folder.empty() && folder.has_parent_path() && folder != folder.parent_path() &&
         !fs::exists(folder, ignored))
    folder = folder.parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

Diagnosis folder_of(std::string what, const fs::path& folder, bool is_written) {
  const fs::path there = nearest(folder);
  if (is_written && ::access(there.c_str(), W_OK) != 0)
    return {std::move(what), Health::bad, fmt::format("{} is not writable", there.string()),
            "give this user write permission, or set another folder"};
  std::error_code error;
  const fs::space_info space = fs::space(there, error);
  if (error)
    return {std::move(what), Health::bad, fmt::format("{}: {}", there.string(), error.message()),
            "repair the file system, or set another folder"};
  std::string found = fmt::format("{} has {} free", there.string(), megabytes(space.available));
  if (space.available < no_space)
    return {std::move(what), Health::bad, std::move(found), "free disk space for documents and traces"};
  if (space.available < little_space)
    return {std::move(what), Health::doubtful, std::move(found),
            "free disk space before the next large index"};
  return {std::move(what), Health::good, std::move(found), ""};
}

// If a trace is from the future, the clock was wrong then or is wrong now.
Diagnosis clock_by(const config::Settings& settings) {
  constexpr std::int64_t first_of_2025 = 1'735'689'600'000, a_minute = 60'000;
  const std::int64_t now = base::utc_ms();
  if (now < first_of_2025)
    return {"clock", Health::bad, "the system clock is set before 2025",
            "set the clock: with a wrong date TLS certificates fail and traces expire at once"};
  if (!has_store(settings)) return {"clock", Health::good, "plausible", ""};
  const auto traces = open_traces(settings, /*create=*/false);
  if (traces) {
    const auto newest = (*traces)->traces("", {.limit = 1});
    if (newest && !newest->empty() && newest->front().at_ms > now + a_minute)
      return {"clock", Health::doubtful,
              fmt::format("the newest trace is {} s in the future", (newest->front().at_ms - now) / 1'000),
              "set the system clock; it is wrong now or was wrong then"};
  }
  return {"clock", Health::good, "no trace is in the future", ""};
}

Diagnosis embedder_by(Documents& documents, const std::string& name) {
  const std::string what = "embedder " + name;
  const auto embedder = documents.embedder(name);
  if (!embedder && name == multilingual_embedder)
    return {what, Health::bad, embedder.error().what, fmt::format("run `plimsoll model get {}`", name)};
  if (!embedder)
    return {what, Health::bad, embedder.error().what,
            "run `tools/setup assets` for the built-in embedder, or set another in the setting embedders"};
  const std::vector<std::string_view> text{"How deep may she be loaded?"};
  const auto vectors = (*embedder)->embed(text, Deadline::after(std::chrono::seconds(30)));
  if (!vectors)
    return {what, Health::bad, vectors.error().what, "check that its server answers and has the model"};
  return {what, Health::good, fmt::format("vectors of {} numbers", (*embedder)->info().dimensions), ""};
}

std::string number_of_indexes(std::size_t count) {
  return count == 1 ? "1 index" : fmt::format("{} indexes", count);
}

Diagnosis index_store_by(const config::Settings& settings) {
  weaviate::Options options;
  auto address = weaviate::read_address(settings.index_store);
  if (!address) return {"index store", Health::bad, address.error().what, "correct the setting index_store"};
  options.address = *std::move(address);
  adapters::CurlClient http("plimsoll/" PLIMSOLL_VERSION, trusted_certificates());
  const auto version = weaviate::server_version(http, options);
  if (!version)
    return {"index store", Health::bad, version.error().what,
            "check the setting index_store, and the server"};
  return {
      "index store", Health::good,
      fmt::format("{}, Weaviate {}, {}", options.address.shown, *version,
                  options.address.replication == 1 ? "1 copy"
                                                   : fmt::format("{} copies", options.address.replication)),
      ""};
}

Diagnosis index_by(Documents& documents, const IndexInfo& info) {
  Diagnosis out{"index " + info.name, Health::good, "", ""};
  const auto faults = documents.verify(info);
  if (faults && faults->empty()) {
    out.found = fmt::format("sound: {}, {}", several(static_cast<std::uint64_t>(info.documents), "document"),
                            several(static_cast<std::uint64_t>(info.chunks), "chunk"));
    return out;
  }
  out.health = Health::bad;
  out.found = faults ? fmt::format("{}, the first: {}", several(faults->size(), "fault"), faults->front())
                     : faults.error().what;
  out.remedy =
      fmt::format("`plimsoll index rebuild {}`; if that does not help, add the documents again", info.name);
  return out;
}

// Finds usage totals with impossible values from a server's wrong report.
Diagnosis usage_by(const config::Settings& settings) {
  const auto rows = sqlite::find_false_usage(settings.store_file);
  if (!rows)
    return {"usage", Health::bad, rows.error().what,
            "restore the file from a backup, or set another file in store_file"};
  if (rows->empty()) return {"usage", Health::good, "every sum is plausible", ""};
  const sqlite::FalseUsage& first = rows->front();
  return {
      "usage", Health::doubtful,
      fmt::format("{} with impossible numbers; the first: {} tokens of {} on {:%Y-%m-%d}",
                  several(rows->size(), "row"), base::with_thousands(first.tokens), first.owner,
                  fmt::gmtime(static_cast<std::time_t>(first.day * 24 * 3600))),
      fmt::format("a server reported a wrong usage. Each such row counts as 0 or as {} tokens; a budget that "
                  "it used up is reset the next day",
                  base::with_thousands(most_used))};
}

Diagnosis door_by(const config::Settings& settings) {
  const auto listen = listen_address(settings.listen);
  if (!listen) return {"listen", Health::bad, listen.error().what, "set listen to HOST:PORT"};
  if (is_loopback(listen->host))
    return {"listen", Health::good, settings.listen + ": this machine alone", ""};
  std::size_t keys = 0;
  if (const auto store = open_keys(settings, /*create=*/false))
    if (const auto all = (*store)->keys()) keys = all->size();
  if (keys > 0)
    return {"listen", Health::good,
            fmt::format("{}: clients with one of {}", settings.listen, several(keys, "key")), ""};
  return {"listen", settings.open_to_all ? Health::doubtful : Health::bad,
          settings.listen + ": reachable from other machines without API keys",
          settings.open_to_all
              ? "add a key with `plimsoll keys add NAME`, unless the network is trusted"
              : "add a key with `plimsoll keys add NAME`; `plimsoll serve` does not start without one"};
}

void add_windows(const std::string& server, const models::UpstreamList& found, Diagnoses& out) {
  for (const models::ListedModel& model : found.models) {
    const Window& window = model.report->window;
    if (window.source != WindowSource::assumed && window.confidence != Confidence::low) continue;
    out.push_back({fmt::format("window of {}/{}", server, model.name), Health::doubtful,
                   fmt::format("{} tokens by {}, {} confidence", base::with_thousands(window.tokens),
                               name_of(window.source), name_of(window.confidence)),
                   "add its context_length to the models_file, or set llm_context_window"});
  }
}

}  // namespace

std::string_view name_of(Health health) {
  switch (health) {
    case Health::good: return "ok";
    case Health::doubtful: return "warning";
    case Health::bad: return "bad";
  }
  return "bad";
}

Diagnoses check_files(const config::Settings& settings) {
  Diagnoses out;
  out.push_back(folder_of("data folder", settings.store_file.parent_path(), /*is_written=*/true));
  out.push_back(folder_of("snapshots", settings.default_vector_db_persist_dir, /*is_written=*/true));
  out.push_back(folder_of("tokenizers", settings.tokenizer_dir, /*is_written=*/true));
  out.push_back(clock_by(settings));
  return out;
}

Diagnoses check_store(const config::Settings& settings) {
  if (is_shared(settings)) {
    const auto documents = Documents::open(settings, /*create=*/false);
    const auto indexes = documents ? (*documents)->store().indexes(local_owner)
                                   : Result<std::vector<IndexInfo>>(tl::unexpected(documents.error()));
    if (!indexes)
      return {{"store", Health::bad, indexes.error().what, "check the setting store, and the server"}};
    Diagnoses out{{"store", Health::good,
                   fmt::format("{}, {}", shown_store(settings), number_of_indexes(indexes->size())), ""}};
    out.push_back(has_index_store(settings)
                      ? index_store_by(settings)
                      : folder_of("index cache", settings.index_cache_dir, /*is_written=*/true));
    for (const IndexInfo& info : *indexes) out.push_back(index_by(**documents, info));
    return out;
  }
  if (std::error_code error; !fs::exists(settings.store_file, error))
    return {{"store", Health::good,
             fmt::format("{} does not exist yet; it is created at first use", settings.store_file.string()),
             ""}};
  const auto documents = Documents::open(settings, /*create=*/false);
  if (!documents)
    return {{"store", Health::bad, documents.error().what,
             "restore the file from a backup, or set another file in store_file"}};
  const auto indexes = (*documents)->store().indexes(local_owner);
  if (!indexes) return {{"store", Health::bad, indexes.error().what, "restore the file from a backup"}};
  std::error_code unknown;
  Diagnoses out{{"store", Health::good,
                 fmt::format("{}, {}, {}", settings.store_file.string(),
                             megabytes(fs::file_size(settings.store_file, unknown)),
                             number_of_indexes(indexes->size())),
                 ""}};
  out.push_back(usage_by(settings));
  if (has_index_store(settings)) out.push_back(index_store_by(settings));
  for (const IndexInfo& info : *indexes) out.push_back(index_by(**documents, info));
  return out;
}

Diagnoses check_embedders(const config::Settings& settings) {
  if (settings.embedders.empty())
    return {{"embedders", Health::doubtful, "none: new indexes have keyword search only",
             "set embedders for vector search"}};
  // Uses a temporary store, to test the embedder even if the real store is missing or damaged.
  const base::TemporaryFolder folder("doctor");
  if (folder.path().empty())
    return {{"embedders", Health::bad, "cannot create a temporary folder", "set TMPDIR"}};
  const config::Settings with_own = with_own_file(settings, folder / "store.db");
  Diagnoses out;
  if (const auto documents = Documents::open(with_own, /*create=*/true))
    for (const std::string& name : settings.embedders) out.push_back(embedder_by(**documents, name));
  else
    out.push_back(
        {"embedders", Health::bad, documents.error().what, "set TMPDIR to a folder with free space"});
  return out;
}

Diagnoses check_models(const config::Settings& settings) {
  const auto files = weights_in_use(settings);
  if (!files) return {{"models", Health::bad, files.error().what, "correct the setting model_sources_file"}};
  Diagnoses out;
  for (const WeightsFile& file : *files) {
    std::error_code missing;
    const auto bytes = fs::file_size(file.path, missing);
    if (missing) continue;  // the check of the embedders reports it
    const std::string what = fmt::format("{} of {}", file.path.filename().string(), file.model);
    const auto checked = check_weights(file, base::Checking::always);
    if (checked)
      out.push_back({what, Health::good, fmt::format("{}, checksum correct", base::human_bytes(bytes)), ""});
    else
      out.push_back({what, Health::bad, checked.error().what, fmt::format("run `{}`", file.command)});
  }
  return out;
}

Diagnoses check_upstreams(const config::Settings& settings, const std::vector<std::string>& named) {
  const auto catalogue = known_models(settings);
  if (!catalogue)
    return {{"models_file", Health::bad, catalogue.error().what, "correct the file, or unset models_file"}};
  auto members = gateway_upstreams(settings, named);
  if (!members) return {{"upstreams", Health::bad, members.error().what, "write [NAME=]URL"}};
  if (members->empty())
    return {{"upstreams", Health::doubtful, "none: no local Ollama answers",
             "start Ollama, or set a server in upstreams"}};
  FoundWindows windows(settings, *catalogue, EarlierRuns::forgotten);
  models::Upstreams upstreams(*std::move(members), windows.finder());
  upstreams.refresh(windows.for_a_list());
  const auto models = upstreams.models();
  Diagnoses out;
  for (std::size_t i = 0; i < models->size(); ++i) {
    const models::ConfiguredUpstream& member = upstreams.members()[i];
    const models::UpstreamList& found = (*models)[i];
    Diagnosis one{"upstream " + member.name, Health::good, "", ""};
    one.found = fmt::format("{} ({}): {}", member.server.shown, name_of(found.kind),
                            several(found.models.size(), "model"));
    if (!found.problem.empty()) {
      one.health = Health::bad;
      one.found = fmt::format("{}: {}", member.server.shown, found.problem);
      one.remedy = "check that the server runs, that the URL is right, and that it accepts the key";
    } else if (found.models.empty()) {
      one.health = Health::doubtful;
      one.remedy = "load a model there; for Ollama: `ollama pull NAME`";
    }
    out.push_back(std::move(one));
    add_windows(member.name, found, out);
  }
  return out;
}

Diagnoses check_limits(const config::Settings& settings) {
  Diagnoses out;
  rlimit files{};
  (void)getrlimit(RLIMIT_NOFILE, &files);
  // Each client connection may need one to its upstream.
  const std::uint64_t wanted = 2 * static_cast<std::uint64_t>(settings.max_connections) + other_files;
  Diagnosis open{
      "open files", Health::good,
      fmt::format("{} allowed; {} connections may take {}", files.rlim_cur, settings.max_connections, wanted),
      ""};
  if (files.rlim_cur != RLIM_INFINITY && files.rlim_cur < wanted) {
    open.health = Health::doubtful;
    open.remedy = fmt::format("`ulimit -n {}` (LimitNOFILE of a service), or lower max_connections", wanted);
  }
  out.push_back(std::move(open));
  out.push_back(door_by(settings));
  return out;
}

}  // namespace plimsoll
