#include <algorithm>

#include <fmt/format.h>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "plimsoll/models.hpp"
#include "window/catalogue_file.hpp"
#include "window/names.hpp"

#include "data/models_toml.hpp"

namespace plimsoll {
namespace {

bool has_digit(std::string_view text) {
  return text.find_first_of("0123456789") != std::string_view::npos;
}

// A word of one or two digits continues a version: claude-3 is not in claude-3-5-haiku. A size has a letter,
// a date more digits.
bool goes_on_with_version(const std::vector<std::string>& words, std::size_t at) {
  return at < words.size() && words[at].size() <= 2 &&
         words[at].find_first_not_of("0123456789") == std::string::npos;
}

}  // namespace

std::string_view name_of(MatchKind kind) {
  switch (kind) {
    case MatchKind::exact: return "exact";
    case MatchKind::stripped: return "stripped";
    case MatchKind::partial: return "partial";
  }
  return "partial";
}

Result<ModelCatalogue> ModelCatalogue::built_in() {
  ModelCatalogue catalogue;
  TRY_VOID(catalogue.extend(data::models_toml, "built in"));
  return catalogue;
}

Result<void> ModelCatalogue::extend(std::string_view toml_text, std::string_view origin) {
  TRY(std::vector<ModelCard> cards, window::read_catalogue(toml_text, origin));
  ModelCatalogue next;
  next.models_ = models_;
  const std::size_t before = models_.size();
  for (ModelCard& card : cards) {
    const auto same = std::ranges::find(next.models_, card.name, &ModelCard::name);
    if (same == next.models_.end()) {
      next.models_.push_back(std::move(card));
    } else if (static_cast<std::size_t>(same - next.models_.begin()) < before) {
      *same = std::move(card);
    } else {
      return fail(Errc::bad_setting, "{}: '{}' is listed twice", origin, card.name);
    }
  }
  TRY_VOID(next.index());
  *this = std::move(next);
  return {};
}

// Names first, so that an alias never hides a name. Within one file two models must not share a name; a
// later file overrides an earlier one.
Result<void> ModelCatalogue::index() {
  for (const bool aliases : {false, true}) {
    for (std::size_t i = models_.size(); i-- > 0;) {
      const ModelCard& card = models_[i];
      const std::vector<std::string> names = aliases ? card.aliases : std::vector{card.name};
      for (const std::string& name : names) {
        const std::string key = window::key_of(window::words_of(name));
        if (key.empty())
          return fail(Errc::bad_setting, "{}: '{}' of {} is not a valid name", card.origin, name, card.name);
        const auto [at, added] = known_.try_emplace(key, Known{i, name, aliases});
        const ModelCard& other = models_[at->second.card];
        if (!added && other.name != card.name && other.origin == card.origin)
          return fail(Errc::bad_setting, "{}: '{}' means both {} and {}", card.origin, name, other.name,
                      card.name);
      }
    }
  }
  return {};
}

std::optional<ModelMatch> ModelCatalogue::match(const std::string& key, MatchKind kind) const {
  const auto found = known_.find(key);
  if (found == known_.end()) return std::nullopt;
  return ModelMatch{&models_[found->second.card], kind, found->second.text};
}

std::optional<ModelMatch> ModelCatalogue::find(std::string_view name) const {
  if (auto found = match(window::key_of(window::words_of(name)), MatchKind::exact)) return found;
  const std::string_view bare = window::without_provider(name);
  const auto spellings = window::barer_and_barer(bare);
  for (const auto& words : spellings)
    if (auto found = match(window::key_of(words), MatchKind::stripped)) return found;
  return spellings.empty() ? std::nullopt : partial(spellings.front());
}

// Finds the longest known run of whole words. The name of a family alone, such as "mistral", is too
// general to match inside a longer name.
std::optional<ModelMatch> ModelCatalogue::partial(const std::vector<std::string>& words) const {
  std::optional<ModelMatch> best;
  std::size_t longest = 0;
  for (std::size_t begin = 0; begin < words.size(); ++begin) {
    std::string key;
    for (std::size_t end = begin; end < std::min(words.size(), begin + 16); ++end) {
      key += (key.empty() ? "" : " ") + words[end];
      const std::size_t count = end - begin + 1;
      if (key.size() <= longest || (begin > 0 && key.size() < 6) || goes_on_with_version(words, end + 1))
        continue;
      if (count < 2 && !has_digit(key)) continue;
      if (auto found = match(key, MatchKind::partial)) {
        best = std::move(found);
        longest = key.size();
      }
    }
  }
  return best;
}

std::optional<std::string> ModelCatalogue::nearest(std::string_view name) const {
  std::vector<std::string_view> names;
  for (const auto& [_, known] : known_) {
    const std::string_view whole = known.text;
    names.push_back(whole);
    if (const std::size_t size = whole.find(':'); size != std::string_view::npos)
      names.push_back(whole.substr(0, size));  // "llama3.2" of "llama3.2:3b"
  }
  const auto near = base::nearest(base::to_lower_ascii(name), names);
  return near ? std::optional<std::string>(*near) : std::nullopt;
}

std::string ModelCatalogue::no_entry_for(std::string_view name) const {
  const auto near = nearest(name);
  return fmt::format("no entry for '{}'{}", name, near ? fmt::format(" (did you mean '{}'?)", *near) : "");
}

}  // namespace plimsoll
