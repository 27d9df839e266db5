#include "reports/models_report.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "ledger/cost.hpp"
#include "window/providers.hpp"

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

// Dollars per million tokens of prompt and answer, as two cells.
void add_prices(Table& table, std::size_t row, const Prices* prices) {
  table.rows[row].push_back(prices == nullptr ? "-" : ledger::per_million(prices->input));
  table.rows[row].push_back(prices == nullptr ? "-" : ledger::per_million(prices->output));
}
void add_price_columns(Table& table, const std::vector<std::optional<Prices>>& prices) {
  if (std::ranges::none_of(prices, [](const auto& one) { return one.has_value(); })) return;
  for (const char* name : {"$/M IN", "$/M OUT"}) {
    table.header.emplace_back(name);
    table.right.push_back(true);
  }
  for (std::size_t i = 0; i < prices.size(); ++i) add_prices(table, i, prices[i] ? &*prices[i] : nullptr);
}

// Dollars per million tokens. A double prints a price as it was written.
Json prices_json(const std::optional<Prices>& prices) {
  if (!prices) return nullptr;
  const auto dollars = [](std::optional<std::int64_t> price) {
    return price ? Json(static_cast<double>(*price) / 1'000'000) : Json();
  };
  return {{"input", dollars(prices->input)},
          {"output", dollars(prices->output)},
          {"cached_input", dollars(prices->cached_input)},
          {"cache_write", dollars(prices->cache_write)},
          {"cache_write_hour", dollars(prices->cache_write_hour)},
          {"longest_prompt", or_null(prices->longest_prompt)}};
}

Json card_prices_json(const std::optional<CardPrices>& card) {
  if (!card) return nullptr;
  Json json = prices_json(card->prices);
  json["names"] = card->names;
  json["provider"] = or_null(card->provider);
  json["source"] = or_null(card->source);
  json["date"] = or_null(card->date);
  return json;
}

std::optional<Prices> prices_of(const models::ListedModel& model, const ModelCatalogue& catalogue,
                                const models::Upstream* upstream) {
  return window::prices_at(catalogue, model.name, upstream == nullptr ? std::string_view() : upstream->root);
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
  std::vector<std::optional<Prices>> prices;
  for (const ModelCard* card : cards)
    prices.push_back(card->prices ? std::optional(card->prices->prices) : std::nullopt);
  add_price_columns(table, prices);
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
                      {"prices", card_prices_json(card->prices)},
                      {"origin", card->origin}});
  return base::readable_json({{"schema", 1}, {"models", std::move(models)}});
}

std::string served_table(const std::vector<models::ListedModel>& models, const ModelCatalogue& catalogue,
                         const models::Upstream* upstream, const Terminal& terminal) {
  Table table{{"MODEL", "WINDOW", "SOURCE", "CONFIDENCE", "MAXIMUM", "TOKENIZER", "EXACTNESS", "PARAMETERS",
               "QUANTIZATION", "FAMILY"},
              {false, true, false, false, true, false, false, true, false, false},
              {},
              false};
  std::string explanations;
  std::vector<std::optional<Prices>> prices;
  for (const models::ListedModel& model : models) {
    const Window& window = model.report->window;
    const ReportedModel& served = model.report->served;
    const Known known = known_of(model, catalogue);
    table.rows.push_back({printable(model.name), base::with_thousands(window.tokens),
                          std::string(name_of(window.source)), std::string(name_of(window.confidence)),
                          or_dash(known.maximum), or_dash(known.tokenizer), or_dash(known.exactness),
                          or_dash(served.parameters), or_dash(served.quantization), or_dash(served.family)});
    if (needs_explaining(window)) explanations += explained(model);
    prices.push_back(prices_of(model, catalogue, upstream));
  }
  add_price_columns(table, prices);
  return draw(table, terminal) + explanations;
}

namespace {

// The list of models, and the kind of their server.
std::pair<Json, Json> listed_json(const std::vector<models::ListedModel>& models,
                                  const ModelCatalogue& catalogue, const models::Upstream* upstream) {
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
                    {"family", or_null(served.family)},
                    {"prices", prices_json(prices_of(model, catalogue, upstream))}});
  }
  return {std::move(list), std::move(kind)};
}

}  // namespace

std::string servers_table(const std::vector<ServerModels>& servers, const ModelCatalogue& catalogue,
                          const Terminal& terminal) {
  std::string text;
  for (const ServerModels& server : servers)
    text += fmt::format("{}{}  {}\n{}", text.empty() ? "" : "\n", printable(server.name),
                        printable(server.server.shown),
                        served_table(server.models, catalogue, &server.server, terminal));
  return text;
}

std::string servers_json(const std::vector<ServerModels>& servers, const ModelCatalogue& catalogue) {
  Json all = Json::array();
  for (const ServerModels& server : servers) {
    auto [list, kind] = listed_json(server.models, catalogue, &server.server);
    all.push_back({{"name", server.name},
                   {"upstream", server.server.shown},
                   {"kind", std::move(kind)},
                   {"models", std::move(list)}});
  }
  return base::readable_json({{"schema", 1}, {"servers", std::move(all)}});
}

std::string served_json(const std::vector<models::ListedModel>& models, const ModelCatalogue& catalogue,
                        const models::Upstream* upstream) {
  auto [list, kind] = listed_json(models, catalogue, upstream);
  Json whole{{"schema", 1}};
  if (upstream != nullptr) {
    whole["upstream"] = upstream->shown;
    whole["kind"] = std::move(kind);
  }
  whole["models"] = std::move(list);
  return base::readable_json(whole);
}

}  // namespace plimsoll
