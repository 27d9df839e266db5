// An answer's bytes as they are made, handed on in whole characters and never with a part of a stop word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace plimsoll::llama {

class TextStream {
 public:
  explicit TextStream(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // What can be told now. Nothing more once it has stopped.
  std::string add(std::string_view bytes);
  // A stop word came; neither it nor what follows is told.
  bool stopped() const { return stopped_; }
  // At the end: what was held back, half a character as U+FFFD.
  std::string rest();

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace plimsoll::llama
