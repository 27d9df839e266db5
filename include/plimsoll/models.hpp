// Properties of models by name: window, tokenizer, chat template. What a server reports
// overrides them.
//
//   auto catalogue = ModelCatalogue::built_in();
//   auto found = catalogue->find("Qwen/Qwen2.5-7B-Instruct");  // qwen2.5:7b
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/count.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

// List prices of a model in millionths of a US dollar per million tokens: one token costs so many billionths
// of a thousandth of a dollar.
inline constexpr std::int64_t most_price = 10'000'000'000;  // 10,000 dollars per million tokens
struct Prices {
  std::int64_t input = 0;   // of the prompt, unless one of the next three applies
  std::int64_t output = 0;  // of the answer, thinking included
  // None: not known.
  std::optional<std::int64_t> cached_input{};      // read from the provider's cache
  std::optional<std::int64_t> cache_write{};       // written there for the usual time
  std::optional<std::int64_t> cache_write_hour{};  // written there for an hour
  Tokens longest_prompt = 0;                       // longer prompts have other prices; 0: none have

  bool operator==(const Prices&) const = default;
};

// What a model costs, of which server, and who says so.
struct CardPrices {
  Prices prices;
  std::vector<std::string> names;  // of the models that have these prices
  std::string provider;            // whose own server has these prices; empty: any server
  std::string source, date;        // as in ModelCard
};

struct ModelCard {
  std::string name;  // "gpt-4o-mini", "llama3.2:3b"
  std::vector<std::string> aliases;
  Tokens window = 0;
  Tokens max_output = 0;  // 0: not known
  std::string tokenizer;
  std::string chat_template;  // for ChatOptions; empty: the tokenizer's own
  std::string images;         // for ChatOptions; empty: by the template
  Specials specials = Specials::parsed;
  Exactness exactness = Exactness::exact;  // of the tokenizer
  std::string why;                         // reason, if it is not exact
  std::string source;                      // source of the numbers; "unverified": none
  std::string date;                        // date of the source, as 2026-11-15; empty: unverified
  std::string origin;                      // "built in", or the user's file
  std::optional<CardPrices> prices{};      // none: not known
};

enum class MatchKind : std::uint8_t {
  exact,     // the name or an alias, ignoring case
  stripped,  // without provider, date, quantization and the like
  partial,   // the longest known name within it: a related model, not surely the same
};

std::string_view name_of(MatchKind kind);

struct ModelMatch {
  const ModelCard* card;  // owned by the catalogue; valid until it is extended
  MatchKind kind;
  std::string matched;  // the matching name or alias
};

// Immutable except for extend(); find() is thread-safe.
class ModelCatalogue {
 public:
  static Result<ModelCatalogue> built_in();

  // Adds models in the format of data/models.toml; a known name is replaced. On an error, which
  // names the key, nothing is changed.
  Result<void> extend(std::string_view toml_text, std::string_view origin);

  std::optional<ModelMatch> find(std::string_view name) const;

  // Returns the known name, or the name of a family, that a mistyped one is nearest to.
  std::optional<std::string> nearest(std::string_view name) const;

  // Says that there is no entry, with the nearest name if one is near.
  std::string no_entry_for(std::string_view name) const;

  const std::vector<ModelCard>& models() const { return models_; }

 private:
  struct Known {
    std::size_t card;
    std::string text;  // as in the file
    bool is_alias;
  };
  Result<void> index();
  std::optional<ModelMatch> match(const std::string& key, MatchKind kind) const;
  std::optional<ModelMatch> partial(const std::vector<std::string>& words) const;

  std::vector<ModelCard> models_;
  std::map<std::string, Known, std::less<>> known_;  // by the words of a name
};

}  // namespace plimsoll
