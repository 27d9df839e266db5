// Lines out of a stream of bytes, none of them longer than a limit.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace plimsoll::gateway {

class McpLines {
 public:
  // `line` gets each line without its end. One above the limit is not kept: `too_long` is told when it ends.
  McpLines(std::size_t limit_bytes, std::function<void(std::string_view)> line,
           std::function<void()> too_long);

  void feed(std::string_view bytes);
  void finish();  // the last line may have no end

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
