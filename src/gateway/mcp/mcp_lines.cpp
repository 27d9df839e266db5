#include "gateway/mcp/mcp_lines.hpp"

#include <utility>

namespace plimsoll::gateway {

McpLines::McpLines(std::size_t limit_bytes, std::function<void(std::string_view)> line,
                   std::function<void()> too_long)
    : limit_(limit_bytes), line_(std::move(line)), too_long_(std::move(too_long)) {}

void McpLines::keep(std::string_view bytes) {
  if (over_) return;
  if (bytes.size() > limit_ - held_.size()) {
    over_ = true;
    held_ = {};  // frees its memory
    return;
  }
  held_ += bytes;
}

void McpLines::end_line() {
  if (std::exchange(over_, false)) {
    too_long_();
    return;
  }
  std::string_view line = held_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  line_(line);
  held_.clear();
}

void McpLines::feed(std::string_view bytes) {
  for (std::size_t end = bytes.find('\n'); end != std::string_view::npos; end = bytes.find('\n')) {
    keep(bytes.substr(0, end));
    bytes.remove_prefix(end + 1);
    end_line();
  }
  keep(bytes);
}

void McpLines::finish() {
  if (over_ || !held_.empty()) end_line();
}

}  // namespace plimsoll::gateway
