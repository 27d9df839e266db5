// Definitions from the files that tokenizers are published in. Each takes a whole file and says what
// is wrong with it as bad_input, or what it has that we cannot do as unsupported.
#pragma once

#include <string>
#include <string_view>

#include "count/vocabulary/definition.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::count {

// OpenAI's `.tiktoken`: a line per token, base64 and rank. Says nothing of pre-tokeniser or specials.
Result<Definition> read_tiktoken(std::string_view file);

// Hugging Face's `tokenizer.json`: BPE, unigram and WordPiece. `config` is the text of the
// `tokenizer_config.json` beside it, or empty.
Result<Definition> read_tokenizer_json(std::string_view file, std::string_view config = {});

// Mistral's `tekken.json`.
Result<Definition> read_tekken(std::string_view file);

// Anthropic's `claude.json`.
Result<Definition> read_claude(std::string_view file);

// SentencePiece's `.model`, BPE or unigram.
Result<Definition> read_sentencepiece(std::string_view file);

// The tokenizer inside a `.gguf`; the weights are not looked at.
Result<Definition> read_gguf(std::string_view file);

// Any of the above, told apart by content. `name` only helps messages.
Result<Definition> read_definition(std::string_view file, std::string_view config, std::string_view name);

Result<std::string> decode_base64(std::string_view text);

}  // namespace plimsoll::count
