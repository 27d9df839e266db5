// Counts tokens exactly, with the model's own tokenizer.
//
//   auto tokenizer = Tokenizer::open("o200k_base.ptok");
//   Tokens n = tokenizer->count("How deep may she be loaded?");
//
// A Tokenizer is immutable, thread-safe and cheap to copy. Its file is compiled once from a
// definition (`plimsoll tokenizers --compile`) and memory-mapped.
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

// How a literal such as "<|endoftext|>" in a text is read: OpenAI's servers treat it as plain text;
// Ollama, llama.cpp and vLLM mostly parse it as one special token.
enum class Specials : std::uint8_t { plain, parsed };

struct TokenizerInfo {
  std::string name;  // "o200k_base"
  std::string kind;  // "byte-level BPE", "SentencePiece BPE", "unigram", "wordpiece"
  std::size_t vocabulary = 0;
  std::string source;         // package and file that the definition came from
  std::string licence;        // declared by the package
  std::string upstream;       // terms of the vocabulary's authors
  std::string chat_template;  // Jinja text from the definition, or empty
  std::string bos;            // text of the BOS token, or empty
  std::string eos;
  bool adds_bos = false;        // whether a server puts bos before a plain prompt
  bool takes_any_bytes = true;  // invalid UTF-8 is counted by its bytes; false: as U+FFFD
};

class Tokenizer {
 public:
  static Result<Tokenizer> open(const std::filesystem::path& compiled);

  const TokenizerInfo& info() const;

  Tokens count(std::string_view text, Specials specials = Specials::plain) const;

  // Returns min(count(text), limit + 1) without reading much beyond the limit.
  Tokens count_up_to(std::string_view text, Tokens limit, Specials specials = Specials::plain) const;

  std::vector<TokenId> encode(std::string_view text, Specials specials = Specials::plain) const;

  // Returns the bytes of the tokens; not_found: an id is not in the vocabulary.
  Result<std::string> decode(std::span<const TokenId> ids) const;

  // Returns the size in bytes of the longest prefix that ends at a character boundary and has at most `limit`
  // tokens. A literal that is parsed as one token is not split.
  std::size_t split_at(std::string_view text, Tokens limit, Specials specials = Specials::plain) const;

  // Returns the tokens of each piece of a text, where piece i ends before byte ends[i] (ascending). A token
  // belongs to the piece of its first byte, so the counts add up to count(text) exactly.
  std::vector<Tokens> count_pieces(std::string_view text, std::span<const std::size_t> ends,
                                   Specials specials = Specials::plain) const;

  // Returns the end of each token as a byte position, for display.
  std::vector<std::size_t> token_ends(std::string_view text, Specials specials = Specials::plain) const;

  struct Impl;  // src/count
  explicit Tokenizer(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  const Impl& impl() const { return *impl_; }

 private:
  std::shared_ptr<const Impl> impl_;
};

// Counts a text that arrives in parts as if it were one. Appending costs time for the new part only, and
// memory stays bounded even for one endless word. Not thread-safe.
class Counter {
 public:
  explicit Counter(Tokenizer tokenizer, Specials specials = Specials::plain);
  ~Counter();
  Counter(Counter&&) noexcept;
  Counter& operator=(Counter&&) noexcept;

  void append(std::string_view text);

  // Returns the tokens of everything appended so far; may be called between appends.
  Tokens total() const;

  // False only if a pre-token of many megabytes would need bytes that are no longer kept; no known
  // vocabulary does this.
  bool exact() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll
