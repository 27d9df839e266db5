// Counting tokens, exactly, with the tokenizer a model really uses.
//
//   auto tokenizer = Tokenizer::open("o200k_base.ptok");
//   Tokens n = tokenizer->count("How deep may she be loaded?");
//
// A Tokenizer is immutable and cheap to copy; every member may be called from any thread. The file
// it stands on is made once from a definition (`plimsoll tokenizers --compile`) and memory-mapped.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

// What a literal such as "<|endoftext|>" inside a text is: OpenAI's servers take it as plain text,
// Ollama, llama.cpp and vLLM mostly parse it into the one special token.
enum class Specials : std::uint8_t { plain, parsed };

struct TokenizerInfo {
  std::string name;  // "o200k_base"
  std::string kind;  // "byte-level BPE", "SentencePiece BPE", "unigram", "wordpiece"
  std::size_t vocabulary = 0;
  std::string source;         // package and file that the definition came from
  std::string licence;        // as the package declares it
  std::string upstream;       // the terms the vocabulary's own authors set
  std::string chat_template;  // Jinja text that came with the definition, or empty
  std::string bos;            // text of the token that opens a sequence, or empty
  std::string eos;
  bool adds_bos = false;        // whether a server puts bos before a plain prompt
  bool takes_any_bytes = true;  // invalid UTF-8 is counted by its bytes; false: as U+FFFD
};

class Tokenizer {
 public:
  static Result<Tokenizer> open(const std::filesystem::path& compiled);

  const TokenizerInfo& info() const;

  Tokens count(std::string_view text, Specials specials = Specials::plain) const;

  // min(count(text), limit + 1), without reading much further than the limit needs.
  Tokens count_up_to(std::string_view text, Tokens limit, Specials specials = Specials::plain) const;

  std::vector<TokenId> encode(std::string_view text, Specials specials = Specials::plain) const;

  // Bytes of the tokens; not_found for an id that the vocabulary does not have.
  Result<std::string> decode(std::span<const TokenId> ids) const;

  // Bytes of the largest prefix that ends at a character and counts at most `limit` tokens. A literal
  // that is taken as one token is not cut.
  std::size_t split_at(std::string_view text, Tokens limit, Specials specials = Specials::plain) const;

  // Tokens per piece of one text, where piece i ends before byte ends[i] (ascending). A token belongs
  // to the piece that its first byte lies in, so that the counts add up to count(text) exactly.
  std::vector<Tokens> count_pieces(std::string_view text, std::span<const std::size_t> ends,
                                   Specials specials = Specials::plain) const;

  // Where each token ends, in bytes of the text; for showing them.
  std::vector<std::size_t> token_ends(std::string_view text, Specials specials = Specials::plain) const;

  struct Impl;  // src/count
  explicit Tokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// Counts a text that arrives in parts, as if it were one: appending costs about what was appended,
// and memory stays bounded, also where the text is one endless word. Not for use by two threads at once.
class Counter {
 public:
  explicit Counter(Tokenizer tokenizer, Specials specials = Specials::plain);
  ~Counter();
  Counter(Counter&&) noexcept;
  Counter& operator=(Counter&&) noexcept;

  void append(std::string_view text);

  // Tokens of everything appended so far; may be called between appends.
  Tokens total() const;

  // False only where a pre-token of many megabytes would have had to be encoded anew from before what
  // is kept of it, which no known vocabulary does.
  bool exact() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll
