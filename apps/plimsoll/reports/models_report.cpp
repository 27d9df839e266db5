#include "reports/models_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/text.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : printable(text);
}
std::string or_dash(Tokens tokens) {
  return tokens == 0 ? "-" : base::with_thousands(tokens);
}
Json or_null(const std::string& text) {
  return text.empty() ? Json() : Json(text);
}
Json or_null(Tokens tokens) {
  return tokens == 0 ? Json() : Json(tokens);
}

// Facts about a served model besides its window, from server and catalogue.
struct Known {
  Tokens maximum = 0;
  Tokens max_output = 0;
  std::string tokenizer;
  std::string exactness;
};

Known known_of(const models::ListedModel& model, const ModelCatalogue& catalogue) {
  const ReportedModel& served = model.report->served;
  Known known{served.maximum, served.max_output, {}, {}};
  const auto match = catalogue.find(model.name);
  if (!match) return known;
  const bool relative = match->kind == MatchKind::partial;
  known.tokenizer = match->card->tokenizer;
  known.exactness =
      name_of(relative ? worse(match->card->exactness, Exactness::estimated) : match->card->exactness);
  if (relative) return known;
  if (known.maximum == 0) known.maximum = match->card->window;
  return known;
}

bool needs_explaining(const Window& window) {
  return window.source == WindowSource::catalogue || window.source == WindowSource::assumed;
}

std::string explained(const models::ListedModel& model) {
  std::string lines =
      fmt::format("\n{}: {} tokens ({}), because\n", printable(model.name),
                  base::with_thousands(model.report->window.tokens), name_of(model.report->window.source));
  for (const WindowAttempt& attempt : model.report->window.tried)
    lines += fmt::format("  {}: {}\n", printable(attempt.way), printable(attempt.result));
  return lines;
}

std::string dumped(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string catalogue_table(const std::vector<const ModelCard*>& cards, const Terminal& terminal) {
  Table table{{"MODEL", "WINDOW", "MAX OUTPUT", "TOKENIZER", "EXACTNESS", "SOURCE", "DATE"},
              {false, true, true, false, false, false, false},
              {},
              false};
  for (const ModelCard* card : cards)
    table.rows.push_back({card->name, base::with_thousands(card->window), or_dash(card->max_output),
                          card->tokenizer, std::string(name_of(card->exactness)), card->source,
                          or_dash(card->date)});
  return draw(table, terminal);
}

std::string catalogue_json(const std::vector<const ModelCard*>& cards) {
  Json models = Json::array();
  for (const ModelCard* card : cards)
    models.push_back({{"name", card->name},
                      {"aliases", card->aliases},
                      {"window", card->window},
                      {"max_output", or_null(card->max_output)},
                      {"tokenizer", card->tokenizer},
                      {"template", or_null(card->chat_template)},
                      {"exactness", name_of(card->exactness)},
                      {"why", or_null(card->why)},
                      {"source", card->source},
                      {"date", or_null(card->date)},
                      {"origin", card->origin}});
  return dumped({{"schema", 1}, {"models", std::move(models)}});
}

std::string served_table(const std::vector<models::ListedModel>& models, const ModelCatalogue& catalogue,
                         const Terminal& terminal) {
  Table table{{"MODEL", "WINDOW", "SOURCE", "CONFIDENCE", "MAXIMUM", "TOKENIZER", "EXACTNESS", "PARAMETERS",
               "QUANTIZATION", "FAMILY"},
              {false, true, false, false, true, false, false, true, false, false},
              {},
              false};
  std::string explanations;
  for (const models::ListedModel& model : models) {
    const Window& window = model.report->window;
    const ReportedModel& served = model.report->served;
    const Known known = known_of(model, catalogue);
    table.rows.push_back({printable(model.name), base::with_thousands(window.tokens),
                          std::string(name_of(window.source)), std::string(name_of(window.confidence)),
                          or_dash(known.maximum), or_dash(known.tokenizer), or_dash(known.exactness),
                          or_dash(served.parameters), or_dash(served.quantization), or_dash(served.family)});
    if (needs_explaining(window)) explanations += explained(model);
  }
  return draw(table, terminal) + explanations;
}

namespace {

// The list of models, and the kind of their server.
std::pair<Json, Json> listed_json(const std::vector<models::ListedModel>& models,
                                  const ModelCatalogue& catalogue) {
  Json list = Json::array();
  Json kind;
  for (const models::ListedModel& model : models) {
    const Window& window = model.report->window;
    const ReportedModel& served = model.report->served;
    const Known known = known_of(model, catalogue);
    if (model.report->kind) kind = name_of(*model.report->kind);
    Json tried = Json::array();
    for (const WindowAttempt& attempt : window.tried)
      tried.push_back({{"way", attempt.way}, {"result", attempt.result}});
    list.push_back({{"name", model.name},
                    {"window",
                     {{"tokens", window.tokens},
                      {"source", name_of(window.source)},
                      {"confidence", name_of(window.confidence)},
                      {"tried", std::move(tried)}}},
                    {"maximum", or_null(known.maximum)},
                    {"max_output", or_null(known.max_output)},
                    {"tokenizer", or_null(known.tokenizer)},
                    {"exactness", or_null(known.exactness)},
                    {"parameters", or_null(served.parameters)},
                    {"quantization", or_null(served.quantization)},
                    {"family", or_null(served.family)}});
  }
  return {std::move(list), std::move(kind)};
}

}  // namespace

std::string servers_table(const std::vector<ServerModels>& servers, const ModelCatalogue& catalogue,
                          const Terminal& terminal) {
  std::string text;
  for (const ServerModels& server : servers)
    text += fmt::format("{}{}  {}\n{}", text.empty() ? "" : "\n", printable(server.name),
                        printable(server.shown), served_table(server.models, catalogue, terminal));
  return text;
}

std::string servers_json(const std::vector<ServerModels>& servers, const ModelCatalogue& catalogue) {
  Json all = Json::array();
  for (const ServerModels& server : servers) {
    auto [list, kind] = listed_json(server.models, catalogue);
    all.push_back({{"name", server.name},
                   {"upstream", server.shown},
                   {"kind", std::move(kind)},
                   {"models", std::move(list)}});
  }
  return dumped({{"schema", 1}, {"servers", std::move(all)}});
}

std::string served_json(const std::vector<models::ListedModel>& models, const ModelCatalogue& catalogue,
                        const models::Upstream* upstream) {
  auto [list, kind] = listed_json(models, catalogue);
  Json whole{{"schema", 1}};
  if (upstream != nullptr) {
    whole["upstream"] = upstream->shown;
    whole["kind"] = std::move(kind);
  }
  whole["models"] = std::move(list);
  return dumped(whole);
}

}  // namespace plimsoll
