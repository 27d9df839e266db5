#include "serve/find_window.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/paths.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "models/window_file.hpp"

namespace plimsoll {
namespace {

constexpr std::uint64_t largest_file = 16U << 20;

std::int64_t unix_seconds() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

models::FinderRules rules_of(const config::Settings& settings, std::chrono::milliseconds patience) {
  models::FinderRules rules;
  rules.configured = settings.llm_context_window;
  rules.otherwise = settings.default_context_window;
  rules.times.believed = std::chrono::seconds(settings.cache_ttl_seconds);
  rules.one_model = patience;
  rules.each_ask = patience * 2 / 5;  // one request that hangs leaves time for others
  return rules;
}

std::chrono::milliseconds patience_of(const config::Settings& settings,
                                      std::optional<FoundWindows::Seconds> timeout) {
  const FoundWindows::Seconds seconds =
      timeout.value_or(FoundWindows::Seconds(settings.window_timeout_seconds));
  return std::chrono::ceil<std::chrono::milliseconds>(seconds);
}

Result<std::optional<ServerKind>> kind_named(std::string_view name) {
  if (name.empty()) return std::nullopt;
  if (const auto kind = server_kind_of(name)) return kind;
  std::string known;
  for (const ServerKind kind : all_server_kinds()) known += fmt::format(" {}", name_of(kind));
  return fail(Errc::bad_input, "unknown kind of server '{}'; use one of{}", name, known);
}

std::filesystem::path windows_file() {
  return base::cache_folder(base::current_environment()) / "windows.json";
}

}  // namespace

Result<std::optional<models::Upstream>> upstream_for(const config::Settings& settings, std::string_view url,
                                                     std::string_view kind_name) {
  TRY(std::optional<ServerKind> kind, kind_named(kind_name));
  if (url.empty() && !kind) return std::nullopt;
  if (url.empty())
    url = kind == ServerKind::ollama ? settings.ollama_llm_base_url : settings.llm_inference_url;
  if (url.empty()) return fail(Errc::bad_input, "no server given; use --upstream, or set llm_inference_url");
  if (url == "embedded")
    return fail(Errc::bad_input,
                "embedded models have no server; `plimsoll model list` shows them and their windows");
  const std::string origin = models::origin_of(url);
  if (!kind && !origin.empty() && origin == models::origin_of(settings.ollama_llm_base_url) &&
      origin != models::origin_of(settings.llm_inference_url))
    kind = ServerKind::ollama;
  const bool has_key = !origin.empty() && origin == models::origin_of(settings.llm_inference_url);
  TRY(auto upstream, models::make_upstream(url, kind, has_key ? settings.llm_access_secret : base::Secret()));
  return std::optional(std::move(upstream));
}

std::string trusted_certificates() {
  return std::string(base::value_of(base::current_environment(), "SSL_CERT_FILE"));
}

FoundWindows::FoundWindows(const config::Settings& settings, const ModelCatalogue& catalogue,
                           EarlierRuns earlier, std::optional<Seconds> timeout)
    : file_(windows_file()),
      patience_(patience_of(settings, timeout)),
      begin_(Deadline::Clock::now()),
      http_("plimsoll/" PLIMSOLL_VERSION, trusted_certificates()),
      finder_(http_, catalogue, rules_of(settings, patience_)) {
  if (earlier != EarlierRuns::forgotten) load(earlier == EarlierRuns::confirmed);
}

FoundWindows::~FoundWindows() {
  save();
}

void FoundWindows::load(bool confirm) {
  if (std::error_code none; !std::filesystem::exists(file_, none)) return;
  const auto text = base::read_file(file_, largest_file);
  auto windows = text ? models::read_windows(*text) : tl::unexpected(text.error());
  if (!windows) {
    const bool is_older = windows.error().code == Errc::unsupported;
    log::write(is_older ? log::Level::debug : log::Level::warning, "windows of earlier runs ignored",
               {{"file", file_.string()}, {"why", windows.error().what}});
    return;
  }
  const std::int64_t now = unix_seconds();
  for (models::KeptWindow& kept : *windows) {
    const std::int64_t age = now - kept.found_at;
    if (age < 0 || finder_.is_configured(kept.model)) continue;  // from the future, or set by the user
    kept.report.window.tried.insert(
        kept.report.window.tried.begin(),
        {"earlier run", fmt::format("asked {} s ago", base::with_thousands(age))});
    auto report = std::make_shared<const models::ModelReport>(std::move(kept.report));
    if (confirm)
      finder_.cache().put_unconfirmed(kept.upstream, kept.model, std::move(report),
                                      std::chrono::seconds(age));
    else
      finder_.cache().put(kept.upstream, kept.model, std::move(report), std::chrono::seconds(age));
  }
}

// Saves only windows that servers reported in this run: only those take time to find again.
void FoundWindows::save() {
  const auto run = Deadline::Clock::now() - begin_;
  const std::int64_t now = unix_seconds();
  std::vector<models::KeptWindow> windows;
  bool news = false;
  for (const auto& entry : finder_.cache().entries()) {
    const WindowSource source = entry.found->window.source;
    if (entry.upstream.empty() || (source != WindowSource::served && source != WindowSource::declared))
      continue;
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(entry.age);
    news = news || entry.age <= run;
    models::KeptWindow kept{entry.upstream, entry.model, now - age.count(), *entry.found};
    std::erase_if(kept.report.window.tried,
                  [](const WindowAttempt& one) { return one.way == "earlier run"; });
    windows.push_back(std::move(kept));
  }
  if (!news) return;
  if (const auto done = base::write_atomically(file_, models::write_windows(std::move(windows))); !done)
    log::debug("windows not kept for the next run", {{"file", file_.string()}, {"why", done.error().what}});
}

Result<std::size_t> forget_windows(const std::vector<std::string>& models) {
  const std::filesystem::path file = windows_file();
  if (std::error_code none; !std::filesystem::exists(file, none)) return 0;
  TRY(const std::string text, base::read_file(file, largest_file));
  auto windows = models::read_windows(text).value_or(std::vector<models::KeptWindow>{});
  const std::size_t forgotten = std::erase_if(windows, [&](const models::KeptWindow& kept) {
    return models.empty() || std::ranges::find(models, kept.model) != models.end();
  });
  TRY_VOID(base::write_atomically(file, models::write_windows(std::move(windows))));
  return forgotten;
}

Result<Window> find_window(const config::Settings& settings, const ModelCatalogue& catalogue,
                           const std::string& model, std::string_view upstream, std::string_view kind,
                           bool refresh) {
  TRY(const auto server, upstream_for(settings, upstream, kind));
  FoundWindows windows(settings, catalogue, refresh ? EarlierRuns::forgotten : EarlierRuns::believed);
  return windows.finder().find(model, server ? &*server : nullptr, windows.for_one_model())->window;
}

}  // namespace plimsoll
