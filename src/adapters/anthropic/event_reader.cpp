#include "adapters/anthropic/event_reader.hpp"

#include <utility>

#include "base/text/text.hpp"

namespace plimsoll::anthropic {

Result<void> EventReader::add(std::string_view bytes) {
  if (begin_ > bytes_.size() / 2) {
    bytes_.erase(0, begin_);
    looked_ -= begin_;
    begin_ = 0;
  }
  bytes_.append(bytes);
  const bool is_long = bytes_.size() - begin_ > longest_event;
  const bool has_line = !is_long || bytes_.find('\n', looked_) != std::string::npos;
  if (!has_line || data_.size() > longest_event)
    return fail(Errc::upstream_failed, "an event of the server's reply is longer than {}",
                base::human_bytes(longest_event));
  return {};
}

std::optional<std::string> EventReader::next() {
  while (true) {
    const std::size_t end = bytes_.find('\n', looked_);
    if (end == std::string::npos) {
      looked_ = bytes_.size();
      return std::nullopt;
    }
    std::string_view line = std::string_view(bytes_).substr(begin_, end - begin_);
    begin_ = looked_ = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (auto data = take_line(line)) return data;
  }
}

std::optional<std::string> EventReader::last() {
  const std::string rest = std::exchange(bytes_, {}).substr(begin_);
  begin_ = looked_ = 0;
  (void)take_line(base::trim(rest));
  return take_line({});
}

std::optional<std::string> EventReader::take_line(std::string_view line) {
  constexpr std::string_view field = "data:";
  if (line.empty()) {
    if (!std::exchange(has_data_, false)) return std::nullopt;
    return std::exchange(data_, {});
  }
  if (!line.starts_with(field)) return std::nullopt;
  line.remove_prefix(field.size());
  if (line.starts_with(' ')) line.remove_prefix(1);
  if (std::exchange(has_data_, true)) data_ += '\n';
  data_ += line;
  return std::nullopt;
}

}  // namespace plimsoll::anthropic
