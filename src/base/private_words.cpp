#include "base/private_words.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

#include <nlohmann/json.hpp>

namespace plimsoll::base {
namespace {

struct PrivateWord {
  std::string words, shown_as;
};

using PrivateWords = std::vector<PrivateWord>;  // longest first: one may be a prefix of another

struct Kept {
  std::mutex mutex;
  std::shared_ptr<const PrivateWords> words = std::make_shared<PrivateWords>();  // replaced, never changed
};

Kept& kept() {
  static Kept all;
  return all;
}

}  // namespace

void keep_private(std::string words, std::string shown_as) {
  if (words.empty()) return;
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  PrivateWords some = *all.words;
  std::erase_if(some, [&](const PrivateWord& word) { return word.words == words; });
  some.push_back({std::move(words), std::move(shown_as)});
  std::ranges::stable_sort(some, std::ranges::greater{},
                           [](const PrivateWord& word) { return word.words.size(); });
  all.words = std::make_shared<const PrivateWords>(std::move(some));
}

// The lock is not held while the text, which may be long, is read.
std::string for_clients(std::string_view text) {
  std::string shown(text);
  const auto words = [] {
    Kept& all = kept();
    const std::lock_guard lock(all.mutex);
    return all.words;
  }();
  for (const PrivateWord& word : *words)
    for (std::size_t at = 0; (at = shown.find(word.words, at)) != std::string::npos;
         at += word.shown_as.size())
      shown.replace(at, word.words.size(), word.shown_as);
  return shown;
}

void hide_from_clients(nlohmann::ordered_json& json) {
  if (json.is_string()) json = for_clients(json.get_ref<const std::string&>());
  if (json.is_structured())
    for (nlohmann::ordered_json& part : json) hide_from_clients(part);
}

}  // namespace plimsoll::base
