// Splits a stream of bytes into lines up to a size limit.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace plimsoll::gateway {

class McpLines {
 public:
  // `line` gets each line without its newline. A line above the limit is dropped, and `too_long` is called.
  McpLines(std::size_t limit_bytes, std::function<void(std::string_view)> line,
           std::function<void()> too_long);

  void feed(std::string_view bytes);
  void finish();  // the last line may have no newline

 private:
  void keep(std::string_view bytes);
  void end_line();

  std::size_t limit_;
  std::function<void(std::string_view)> line_;
  std::function<void()> too_long_;
  std::string held_;
  bool over_ = false;
};

}  // namespace plimsoll::gateway
