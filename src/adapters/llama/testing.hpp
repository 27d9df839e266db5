// For tests: the model that set-up fetched, with its own tokenizer and template.
#pragma once

#include <gtest/gtest.h>

#include "adapters/llama/embedded_model.hpp"
#include "base/paths.hpp"
#include "base/sanitized.hpp"
#include "plimsoll/chat.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll::llama {

// How long a test waits for an answer: an emulator of another processor takes minutes for one.
#ifdef PLIMSOLL_EMULATED
constexpr std::chrono::minutes patience{30};
#else
constexpr std::chrono::minutes patience{2};
#endif

inline std::filesystem::path cache() {
  return base::cache_folder(base::current_environment());
}

inline std::filesystem::path smollm2() {
  return cache() / "assets/smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";
}

inline const Tokenizer& smollm2_tokenizer() {
  static const Result<Tokenizer> tokenizer =
      TokenizerLibrary(cache() / "assets", cache() / "tokenizers").open("smollm2");
  return tokenizer.value();
}

inline Options small_options(Tokens window = 1'024, std::int32_t slots = 2) {
  Options options;
  options.runtime = {.file = smollm2(), .window = window, .slots = slots, .threads = 1};
  options.prompt = [](RequestKind, const std::string& body) {
    return encode_chat(smollm2_tokenizer(), body);
  };
  return options;
}

}  // namespace plimsoll::llama
