#include "base/private_words.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace plimsoll::base {
namespace {

struct PrivateWord {
  std::string words, shown_as;
};

struct Kept {
  std::mutex mutex;
  std::vector<PrivateWord> words;  // longest first: one may be a prefix of another
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
  std::erase_if(all.words, [&](const PrivateWord& word) { return word.words == words; });
  all.words.push_back({std::move(words), std::move(shown_as)});
  std::ranges::stable_sort(all.words, std::ranges::greater{},
                           [](const PrivateWord& word) { return word.words.size(); });
}

std::string for_clients(std::string_view text) {
  std::string shown(text);
  Kept& all = kept();
  const std::lock_guard lock(all.mutex);
  for (const PrivateWord& word : all.words)
    for (std::size_t at = 0; (at = shown.find(word.words, at)) != std::string::npos;
         at += word.shown_as.size())
      shown.replace(at, word.words.size(), word.shown_as);
  return shown;
}

}  // namespace plimsoll::base
