#include "count/plain.hpp"

#include "count/split/unicode.hpp"

namespace plimsoll::count {
namespace {

std::uint64_t pair_key(std::uint32_t left, std::uint32_t right) {
  return static_cast<std::uint64_t>(left) << 32 | right;
}

}  // namespace

PlainMerger::PlainMerger(const Definition& definition) : definition_(definition) {
  const auto& tokens = definition.tokens;
  by_text_.reserve(tokens.size());
  for (std::uint32_t i = 0; i < tokens.size(); ++i) by_text_.emplace(tokens[i].bytes, i);
  if (definition.by_rank) {
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
      const std::string_view text = tokens[i].bytes;
      for (std::size_t cut = 1; cut < text.size(); ++cut) {
        const std::uint32_t left = find(text.substr(0, cut));
        const std::uint32_t right = find(text.substr(cut));
        if (left != absent && right != absent) merges_.emplace(pair_key(left, right), Merge{i, i});
      }
    }
    return;
  }
  std::uint32_t priority = 0;
  for (const auto& [left, right] : definition.merges) {
    const std::uint32_t result = find(tokens[left].bytes + tokens[right].bytes);
    if (result != absent) merges_.emplace(pair_key(left, right), Merge{priority, result});
    ++priority;
  }
}

std::uint32_t PlainMerger::find(std::string_view text) const {
  const auto found = by_text_.find(text);
  return found == by_text_.end() ? absent : found->second;
}

std::vector<std::uint32_t> PlainMerger::merge(std::string_view text) const {
  std::pair<std::uint32_t, std::uint32_t> last;
  return merge(text, last);
}

std::vector<std::uint32_t> PlainMerger::merge(std::string_view text,
                                              std::pair<std::uint32_t, std::uint32_t>& last) const {
  std::vector<std::uint32_t> parts;
  while (!text.empty()) {
    const std::size_t length = definition_.kind == ModelKind::bpe_chars ? decode(text).length : 1;
    parts.push_back(find(text.substr(0, length)));
    text.remove_prefix(length);
  }
  last = {absent, absent};
  for (;;) {
    const Merge* best = nullptr;
    std::size_t where = 0;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = merges_.find(pair_key(parts[i], parts[i + 1]));
      if (found != merges_.end() && (best == nullptr || found->second.priority < best->priority)) {
        best = &found->second;
        where = i;
      }
    }
    if (best == nullptr) return parts;
    last = {parts[where], parts[where + 1]};
    parts[where] = best->result;
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(where) + 1);
  }
}

}  // namespace plimsoll::count
