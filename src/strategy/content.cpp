// Rule S8: estimates the tokens of the content if it was not counted.
#include <algorithm>
#include <array>
#include <limits>

#include "base/text/text.hpp"
#include "plimsoll/strategy.hpp"

namespace plimsoll {
namespace {

constexpr std::int64_t characters_per_token = 4;
constexpr Tokens nothing_known = 64'000;

struct NamedSize {
  std::string_view name;
  Tokens tokens;
};
constexpr std::array<NamedSize, 6> sizes{{{"tiny", 2'000},
                                          {"small", 8'000},
                                          {"medium", 32'000},
                                          {"large", 100'000},
                                          {"huge", 500'000},
                                          {"massive", 2'000'000}}};
constexpr auto size_names = [] {
  std::array<std::string_view, sizes.size()> names;
  for (std::size_t i = 0; i < sizes.size(); ++i) names[i] = sizes[i].name;
  return names;
}();

}  // namespace

std::string_view name_of(ContentSize size) {
  return sizes[static_cast<std::size_t>(size)].name;
}

std::span<const std::string_view> content_sizes() {
  return size_names;
}

std::optional<ContentSize> content_size_named(std::string_view name) {
  const std::string wanted = base::to_lower_ascii(base::trim(name));
  const auto found = std::ranges::find(size_names, std::string_view(wanted));
  if (found == size_names.end()) return {};
  return static_cast<ContentSize>(found - size_names.begin());
}

std::string_view name_of(ContentSource source) {
  switch (source) {
    case ContentSource::char_count: return "char_count";
    case ContentSource::counted: return "counted";
    case ContentSource::file_sizes: return "file_sizes";
    case ContentSource::hint: return "hint";
    case ContentSource::assumed: return "default";
  }
  return "default";
}

ContentEstimate estimate_content(std::optional<std::int64_t> char_count,
                                 std::span<const std::int64_t> file_bytes, std::optional<ContentSize> hint) {
  constexpr auto estimated = Exactness::estimated;
  if (char_count.value_or(0) > 0)
    return {*char_count / characters_per_token, ContentSource::char_count, estimated};
  std::int64_t bytes = 0;
  for (const std::int64_t size : file_bytes)
    bytes += std::min(std::max<std::int64_t>(size, 0), std::numeric_limits<std::int64_t>::max() - bytes);
  if (bytes > 0) return {bytes / characters_per_token, ContentSource::file_sizes, estimated};
  if (hint) return {sizes[static_cast<std::size_t>(*hint)].tokens, ContentSource::hint, estimated};
  return {nothing_known, ContentSource::assumed, estimated};
}

}  // namespace plimsoll
