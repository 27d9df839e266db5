#include "models/window_finder.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/log.hpp"
#include "base/mapped_file.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "models/ask_server.hpp"

namespace plimsoll::models {
namespace {

using base::with_thousands;

constexpr std::string_view built_in = "built in";
constexpr std::size_t most_kinds = 1000;

void settle(ModelReport& report, Tokens tokens, WindowSource source, Confidence confidence) {
  report.window.tokens = tokens;
  report.window.source = source;
  report.window.confidence = confidence;
}

bool is_gguf_path(std::string_view model) {
  return base::to_lower_ascii(model).ends_with(".gguf") && model.find('\0') == std::string_view::npos;
}

// None: the file is missing or cannot be read; `tried` says why.
std::optional<ReportedModel> read_gguf_file(std::string_view path, std::vector<WindowAttempt>& tried) {
  const auto file = base::MappedFile::open(std::filesystem::path(path));
  auto model = file ? read_gguf_model(file->text()) : tl::unexpected(file.error());
  if (!model) {
    tried.push_back({"gguf file", model.error().what});
    return std::nullopt;
  }
  tried.push_back({"gguf file", model->maximum > 0 ? fmt::format("{}.context_length {}", model->family,
                                                                 with_thousands(model->maximum))
                                                   : model->problem});
  return *std::move(model);
}

WindowCache::Found configured_report(const FinderRules& rules) {
  if (!rules.configured) return nullptr;
  ModelReport report;
  settle(report, *rules.configured, WindowSource::configured, Confidence::high);
  report.window.tried.push_back({"setting llm_context_window", with_thousands(*rules.configured)});
  return std::make_shared<const ModelReport>(std::move(report));
}

void warn_if_assumed(std::string_view model, const Window& window) {
  if (window.source == WindowSource::assumed)
    log::warning("window not found, using the default",
                 {{"model", model}, {"window", window.tokens}, {"tried", in_words(window.tried)}});
}

}  // namespace

WindowFinder::WindowFinder(HttpClient& http, const ModelCatalogue& catalogue, FinderRules rules,
                           std::function<WindowCache::Clock::time_point()> now)
    : http_(http),
      catalogue_(catalogue),
      rules_(rules),
      has_own_entries_(std::ranges::any_of(catalogue.models(),
                                           [](const ModelCard& card) { return card.origin != built_in; })),
      configured_(configured_report(rules)),
      cache_(rules.times, std::move(now)) {}

WindowCache::Found WindowFinder::find(std::string_view model, const Upstream* upstream, Deadline deadline,
                                      bool with_override) {
  if (configured_ && with_override) return configured_;
  const std::string_view key =
      upstream == nullptr ? std::string_view() : std::string_view(upstream->cache_key);
  auto found = cache_.get(key, model, deadline, [&] {
    ModelReport report = look(model, upstream, sooner(deadline, Deadline::after(rules_.one_model)));
    warn_if_assumed(model, report.window);
    return report;
  });
  if (found) return found;
  return std::make_shared<const ModelReport>(
      conclude(model, upstream, upstream == nullptr ? std::nullopt : upstream->kind, std::nullopt,
               {{"the server", "another request asked it and got no answer in time"}}));
}

ModelReport WindowFinder::look(std::string_view model, const Upstream* upstream, Deadline deadline) {
  std::vector<WindowAttempt> tried;
  std::optional<ReportedModel> served;
  std::optional<ServerKind> kind;
  bool answered = true;
  if (own_entry(model) != nullptr) {
    // No request needed.
  } else if (is_gguf_path(model) && upstream == nullptr) {
    served = read_gguf_file(model, tried);
  } else if (upstream != nullptr) {
    ServerTalk talk(http_, *upstream, deadline, rules_.each_ask);
    if (const auto known = known_kind(*upstream)) talk.set_kind(*known);
    served = talk.model(model);
    kind = talk.kind();
    remember_kind(*upstream, kind);
    tried = talk.take_tried();
    answered = talk.answered();
  }
  ModelReport report = conclude(model, upstream, kind, std::move(served), std::move(tried));
  report.silent = report.failed && !answered;
  return report;
}

const ModelCard* WindowFinder::own_entry(std::string_view model) const {
  if (!has_own_entries_) return nullptr;
  const auto match = catalogue_.find(model);
  const bool own = match && match->card->origin != built_in && match->kind != MatchKind::partial;
  return own ? match->card : nullptr;
}

bool WindowFinder::is_configured(std::string_view model) const {
  return rules_.configured || own_entry(model) != nullptr;
}

ModelReport WindowFinder::conclude(std::string_view model, const Upstream* upstream,
                                   std::optional<ServerKind> kind, std::optional<ReportedModel> served,
                                   std::vector<WindowAttempt> tried) const {
  ModelReport report;
  report.kind = kind;
  report.window.tried = std::move(tried);
  if (served) report.served = *served;
  if (const ModelCard* own = own_entry(model)) {
    report.window.tried.push_back({"models_file " + own->origin, with_thousands(own->window)});
    settle(report, own->window, WindowSource::configured, Confidence::high);
    return report;
  }
  if (from_server(served, report)) return report;
  report.failed = upstream != nullptr;
  if (!kind && upstream != nullptr) kind = hint_of(upstream->root).likely;
  if (kind && chooses_window_on_load(*kind)) {
    report.window.tried.push_back(
        {"catalogue", fmt::format("skipped: it has the model's maximum, not the window that {} loads it with",
                                  name_of(*kind))});
    assume(report);
  } else if (!from_catalogue(model, report)) {
    assume(report);
  }
  return report;
}

bool WindowFinder::from_server(const std::optional<ReportedModel>& served, ModelReport& report) const {
  if (!served) return false;
  if (served->served > 0) {
    settle(report, served->served, WindowSource::served, served->confidence);
    return true;
  }
  // Only for a file that is not served; a server that reports only a maximum chooses another window on load.
  if (served->maximum == 0 || report.kind) return false;
  settle(report, served->maximum, WindowSource::declared, Confidence::medium);
  return true;
}

bool WindowFinder::from_catalogue(std::string_view model, ModelReport& report) const {
  const auto match = catalogue_.find(model);
  if (!match) {
    report.window.tried.push_back({"catalogue", catalogue_.no_entry_for(model)});
    return false;
  }
  const ModelCard& card = *match->card;
  const bool sure = match->kind != MatchKind::partial && card.source != "unverified";
  report.window.tried.push_back(
      {"catalogue", fmt::format("{}{} {}", match->kind == MatchKind::partial ? "related model " : "",
                                card.name, with_thousands(card.window))});
  settle(report, card.window, WindowSource::catalogue, sure ? Confidence::medium : Confidence::low);
  return true;
}

void WindowFinder::assume(ModelReport& report) const {
  // No server loads more than the model's maximum.
  const Tokens most = report.served.maximum;
  const Tokens tokens = most > 0 ? std::min(rules_.otherwise, most) : rules_.otherwise;
  report.window.tried.push_back({"default", with_thousands(tokens)});
  settle(report, tokens, WindowSource::assumed, Confidence::low);
}

std::optional<ServerKind> WindowFinder::known_kind(const Upstream& upstream) {
  const std::lock_guard lock(mutex_);
  const auto known = kinds_.find(upstream.cache_key);
  return known == kinds_.end() ? upstream.kind : known->second;
}

void WindowFinder::remember_kind(const Upstream& upstream, std::optional<ServerKind> kind) {
  if (!kind || upstream.kind) return;
  const std::lock_guard lock(mutex_);
  if (kinds_.size() < most_kinds) kinds_.insert_or_assign(upstream.cache_key, *kind);
}

Result<std::vector<ListedModel>> WindowFinder::list(const Upstream& upstream, Deadline deadline,
                                                    const Progress& progress) {
  ServerTalk talk(http_, upstream, deadline, rules_.each_ask);
  if (const auto known = known_kind(upstream)) talk.set_kind(*known);
  const auto models = talk.models();
  const auto kind = talk.kind();
  remember_kind(upstream, kind);
  const std::vector<WindowAttempt> so_far = talk.take_tried();
  if (!models)
    return fail(models.error().code, "cannot list the models of {}. {}", upstream.shown,
                so_far.empty() ? models.error().what : in_words(so_far));
  std::vector<ListedModel> all;
  for (const ReportedModel& listed : *models) {
    if (progress) progress(all.size(), models->size(), listed.name);
    cache_.forget_failure(upstream.cache_key, listed.name);  // it answers now
    auto found = cache_.get(upstream.cache_key, listed.name, deadline, [&] {
      ReportedModel whole = talk.completed(listed);
      ModelReport report = conclude(listed.name, &upstream, kind, std::move(whole), talk.take_tried());
      warn_if_assumed(listed.name, report.window);
      return report;
    });
    if (!found)
      found = std::make_shared<const ModelReport>(conclude(listed.name, &upstream, kind, listed, {}));
    if (configured_) {
      ModelReport report = *found;
      report.window = configured_->window;
      found = std::make_shared<const ModelReport>(std::move(report));
    }
    all.push_back({listed.name, std::move(found)});
  }
  return all;
}

void WindowFinder::refresh() {
  cache_.clear();
  const std::lock_guard lock(mutex_);
  kinds_.clear();
}

}  // namespace plimsoll::models
