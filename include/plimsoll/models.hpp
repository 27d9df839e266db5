// What is known of a model by its name alone: window, tokenizer, chat format. What a server says of
// itself stands above this.
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

struct ModelCard {
  std::string name;  // "gpt-4o-mini", "llama3.2:3b"
  std::vector<std::string> aliases;
  Tokens window = 0;
  Tokens max_output = 0;  // 0: not known
  std::string tokenizer;
  std::string chat_template;  // for ChatOptions; empty: the tokenizer's own
  std::string images;         // likewise
  Specials specials = Specials::parsed;
  Exactness exactness = Exactness::exact;  // of the tokenizer
  std::string why;                         // where it is not exact
  std::string source;                      // where the numbers were looked up; "unverified": nowhere
  std::string date;                        // when, as 2026-11-15; empty where they were not
  std::string origin;                      // "built in", or the file that said so
};

enum class MatchKind : std::uint8_t {
  exact,     // the name or an alias, whatever its case
  stripped,  // without provider, date, quantization and the like
  partial,   // the longest known name within it: a relative, not surely the model itself
};

std::string_view name_of(MatchKind kind);

struct ModelMatch {
  const ModelCard* card;  // the catalogue's; lives as long and until it is extended
  MatchKind kind;
  std::string matched;  // the name or alias that it was
};

// Immutable but for extend(); find() may be called from any thread.
class ModelCatalogue {
 public:
  static Result<ModelCatalogue> built_in();

  // Adds models of the same form as data/models.toml; one of a known name replaces it. On an error, which
  // names the key, nothing was changed.
  Result<void> extend(std::string_view toml_text, std::string_view origin);

  std::optional<ModelMatch> find(std::string_view name) const;

  const std::vector<ModelCard>& models() const { return models_; }

 private:
  struct Known {
    std::size_t card;
    std::string text;  // as the file has it
    bool is_alias;
  };
  Result<void> index();
  std::optional<ModelMatch> match(const std::string& key, MatchKind kind) const;
  std::optional<ModelMatch> partial(const std::vector<std::string>& words) const;

  std::vector<ModelCard> models_;
  std::map<std::string, Known, std::less<>> known_;  // by the words of a name
};

}  // namespace plimsoll
