// Options of `plimsoll count`, and the tokenizer they select.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/settings.hpp"
#include "plimsoll/chat.hpp"
#include "plimsoll/count.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {

struct CountOptions {
  std::vector<std::string> files;
  std::string tokenizer;
  std::string tokenizer_file;
  std::string model;
  std::string chat;
  std::string chat_template;
  std::string date;
  std::string specials;
  Tokens window = 0;
  bool json = false, jsonl = false, show = false;
};

// The selected tokenizer and model.
struct CountChoice {
  Tokenizer tokenizer;
  Specials specials = Specials::plain;
  Tokens window = 0;  // 0: not known
  std::string model;  // name in the catalogue, if a model was given
  ChatOptions chat;
  Exactness exactness = Exactness::exact;
  std::string why;  // reason, if it is not exact
};

Result<CountChoice> choose_tokenizer(const TokenizerLibrary& library, const config::Settings& settings,
                                     const CountOptions& options);

// "gpt-4o (o200k_base), exact", or the reason why not.
std::string counted_with(const CountChoice& chosen, Exactness exactness, std::string_view why);

// A bar and a percentage.
std::string share_cell(Tokens tokens, Tokens window);

}  // namespace plimsoll
