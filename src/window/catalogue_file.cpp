#include "window/catalogue_file.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include <toml++/toml.h>

#include "base/try.hpp"
#include "plimsoll/chat.hpp"

namespace plimsoll::window {
namespace {

constexpr std::size_t longest_file = std::size_t{16} << 20;
constexpr Tokens largest_window = 1'000'000'000;
constexpr std::string_view keys[] = {"name",
                                     "aliases",
                                     "window",
                                     "max_output",
                                     "tokenizer",
                                     "template",
                                     "images",
                                     "specials",
                                     "exactness",
                                     "why",
                                     "source",
                                     "date",
                                     "price_input",
                                     "price_output",
                                     "price_cached_input",
                                     "price_cache_write",
                                     "price_cache_write_hour",
                                     "price_longest_prompt",
                                     "price_names",
                                     "price_provider",
                                     "price_source",
                                     "price_date"};

// Position for error messages: file and model.
struct Place {
  std::string_view origin;
  std::string model;
};

Result<std::string> text_of(const toml::table& table, std::string_view key, const Place& place, bool needed) {
  const toml::node* node = table.get(key);
  if (node == nullptr) {
    if (!needed) return std::string();
    return fail(Errc::bad_setting, "{}: {} has no '{}'", place.origin, place.model, key);
  }
  const auto text = node->value_exact<std::string>();
  if (!text || text->empty())
    return fail(Errc::bad_setting, "{}: '{}' of {} must be a string", place.origin, key, place.model);
  return *text;
}

Result<Tokens> tokens_of(const toml::table& table, std::string_view key, const Place& place, bool needed) {
  const toml::node* node = table.get(key);
  if (node == nullptr && !needed) return 0;
  const auto number = node != nullptr ? node->value_exact<std::int64_t>() : std::nullopt;
  if (!number || *number < 1 || *number > largest_window)
    return fail(Errc::bad_setting, "{}: '{}' of {} must be a number from 1 to {}", place.origin, key,
                place.model, largest_window);
  return *number;
}

Result<void> read_choices(const toml::table& table, const Place& place, ModelCard& card) {
  TRY(const std::string specials, text_of(table, "specials", place, true));
  if (specials != "plain" && specials != "parsed")
    return fail(Errc::bad_setting, "{}: 'specials' of {} is '{}', not plain or parsed", place.origin,
                place.model, specials);
  card.specials = specials == "plain" ? Specials::plain : Specials::parsed;
  TRY(const std::string exactness, text_of(table, "exactness", place, false));
  for (const Exactness one : {Exactness::exact, Exactness::calibrated, Exactness::estimated})
    if (exactness == name_of(one)) card.exactness = one;
  if (!exactness.empty() && exactness != name_of(card.exactness))
    return fail(Errc::bad_setting, "{}: 'exactness' of {} is '{}', not exact, calibrated or estimated",
                place.origin, place.model, exactness);
  TRY(card.why, text_of(table, "why", place, card.exactness != Exactness::exact));
  const auto is_one_of = [](const std::vector<std::string_view>& names, const std::string& name) {
    return name.empty() || std::ranges::find(names, name) != names.end();
  };
  TRY(card.chat_template, text_of(table, "template", place, false));
  if (!is_one_of(chat_templates(), card.chat_template))
    return fail(Errc::bad_setting, "{}: 'template' of {} is '{}', which is not a chat template", place.origin,
                place.model, card.chat_template);
  TRY(card.images, text_of(table, "images", place, false));
  if (!is_one_of(image_rules(), card.images))
    return fail(Errc::bad_setting, "{}: 'images' of {} is '{}', which is not an image rule", place.origin,
                place.model, card.images);
  return {};
}

Result<std::vector<std::string>> names_of(const toml::table& table, std::string_view key,
                                          const Place& place) {
  std::vector<std::string> names;
  const toml::node* node = table.get(key);
  if (node == nullptr) return names;
  const auto wrong = [&] {
    return fail(Errc::bad_setting, "{}: '{}' of {} must be a list of strings", place.origin, key,
                place.model);
  };
  if (!node->is_array()) return wrong();
  for (const toml::node& one : *node->as_array()) {
    const auto text = one.value_exact<std::string>();
    if (!text || text->empty()) return wrong();
    names.push_back(*text);
  }
  return names;
}

Result<std::string> date_of(const toml::table& table, std::string_view key, const Place& place) {
  const toml::node* node = table.get(key);
  if (node == nullptr) return std::string();
  const auto date = node->value_exact<toml::date>();
  if (!date)
    return fail(Errc::bad_setting, "{}: '{}' of {} must be a day such as 2026-11-15", place.origin, key,
                place.model);
  return fmt::format("{:04}-{:02}-{:02}", date->year, date->month, date->day);
}

// Reads dollars per million tokens. A double has more digits than a price: the rounding takes off only what
// binary fractions add.
Result<std::optional<std::int64_t>> price_of(const toml::table& table, std::string_view key,
                                             const Place& place) {
  constexpr double millionths = 1'000'000;
  const toml::node* node = table.get(key);
  if (node == nullptr) return std::nullopt;
  const auto dollars = node->value<double>();  // whole numbers too
  const bool is_price = node->is_number() && dollars && *dollars >= 0 && *dollars * millionths <= most_price;
  if (!is_price)
    return fail(Errc::bad_setting, "{}: '{}' of {} must be dollars per million tokens, from 0 to {}",
                place.origin, key, place.model, most_price / 1'000'000);
  return std::llround(*dollars * millionths);
}

Result<std::optional<CardPrices>> prices_of(const toml::table& table, const Place& place) {
  CardPrices card;
  Prices& prices = card.prices;
  TRY(const auto input, price_of(table, "price_input", place));
  TRY(const auto output, price_of(table, "price_output", place));
  TRY(prices.cached_input, price_of(table, "price_cached_input", place));
  TRY(prices.cache_write, price_of(table, "price_cache_write", place));
  TRY(prices.cache_write_hour, price_of(table, "price_cache_write_hour", place));
  TRY(prices.longest_prompt, tokens_of(table, "price_longest_prompt", place, false));
  TRY(card.names, names_of(table, "price_names", place));
  TRY(card.provider, text_of(table, "price_provider", place, false));
  TRY(card.source, text_of(table, "price_source", place, false));
  TRY(card.date, date_of(table, "price_date", place));
  if (input && output) {
    prices.input = *input;
    prices.output = *output;
    return card;
  }
  for (const auto& [key, value] : table)
    if (key.str().starts_with("price_"))
      return fail(Errc::bad_setting, "{}: {} has '{}', and not both 'price_input' and 'price_output'",
                  place.origin, place.model, key.str());
  return std::nullopt;
}

Result<ModelCard> read_model(const toml::table& table, std::string_view origin, std::size_t number) {
  ModelCard card;
  card.origin = origin;
  Place place{origin, fmt::format("model {}", number)};
  TRY(card.name, text_of(table, "name", place, true));
  place.model = card.name;
  for (const auto& [key, value] : table)
    if (std::ranges::find(keys, key.str()) == std::end(keys))
      return fail(Errc::unknown_setting, "{}: {} has an unknown key '{}'", origin, card.name, key.str());
  TRY(card.aliases, names_of(table, "aliases", place));
  TRY(card.window, tokens_of(table, "window", place, true));
  TRY(card.max_output, tokens_of(table, "max_output", place, false));
  if (card.max_output > card.window)
    return fail(Errc::bad_setting, "{}: 'max_output' of {} is {}, its window {}", origin, card.name,
                card.max_output, card.window);
  TRY(card.tokenizer, text_of(table, "tokenizer", place, true));
  TRY_VOID(read_choices(table, place, card));
  TRY(card.source, text_of(table, "source", place, true));
  TRY(card.date, date_of(table, "date", place));
  TRY(card.prices, prices_of(table, place));
  return card;
}

}  // namespace

Result<std::vector<ModelCard>> read_catalogue(std::string_view toml_text, std::string_view origin) {
  if (toml_text.size() > longest_file)
    return fail(Errc::bad_input, "{}: {} bytes are too many for a catalogue", origin, toml_text.size());
  toml::table table;
  try {
    table = toml::parse(toml_text);
  } catch (const toml::parse_error& error) {
    return fail(Errc::bad_input, "{}: line {}: {}", origin, error.source().begin.line, error.description());
  }
  for (const auto& [key, value] : table)
    if (key.str() != "model" || !value.is_array_of_tables())
      return fail(Errc::unknown_setting, "{}: unknown key '{}'; a catalogue has [[model]] only", origin,
                  key.str());
  std::vector<ModelCard> cards;
  if (const toml::array* models = table["model"].as_array()) {
    for (const toml::node& model : *models) {
      TRY(ModelCard card, read_model(*model.as_table(), origin, cards.size() + 1));
      cards.push_back(std::move(card));
    }
  }
  return cards;
}

}  // namespace plimsoll::window
