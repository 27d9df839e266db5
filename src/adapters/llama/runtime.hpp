// llama.cpp's C interface, as far as an embedded model needs it: weights and the state of its conversations.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/llama/generation.hpp"

struct llama_sampler;

namespace plimsoll::llama {

using Token = std::int32_t;

struct RuntimeOptions {
  std::filesystem::path file;  // GGUF
  Tokens window = 0;           // of each conversation; 0: what the model was made for
  std::int32_t slots = 1;      // conversations at once
  std::int32_t threads = 1;
};

// One token of one conversation, on its way into the model.
struct Input {
  std::int32_t slot = 0;
  std::int32_t position = 0;
  Token token = 0;
  bool wants_next = false;  // what follows it is to be chosen
};

class Sampler {
 public:
  explicit Sampler(llama_sampler* chain) : chain_(chain) {}
  Sampler(Sampler&& other) noexcept : chain_(std::exchange(other.chain_, nullptr)) {}
  Sampler& operator=(Sampler&& other) noexcept {
    std::swap(chain_, other.chain_);
    return *this;
  }
  ~Sampler();
  llama_sampler* get() const { return chain_; }

 private:
  llama_sampler* chain_;
};

// For one thread.
class Runtime {
 public:
  // `abandoned` is asked during long work whether anybody still wants it. unsupported: this processor or this
  // file cannot be used, and why.
  static Result<std::unique_ptr<Runtime>> load(const RuntimeOptions& options,
                                               std::function<bool()> abandoned);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  Tokens window() const;  // of each slot
  // The most tokens that read() takes at once.
  static constexpr std::size_t most_inputs = 512;

  // False: it was abandoned, and the slots of these inputs are to be cleared. upstream_failed likewise.
  Result<bool> read(std::span<const Input> inputs);
  // The slot keeps its first `kept` tokens. False: this model cannot forget a part, and has forgotten all.
  bool shorten(std::int32_t slot, std::int32_t kept);

  // bad_input: the grammar cannot be used.
  Result<Sampler> sampler(const Sampling& sampling) const;
  // What follows input i of the last read(), which wanted it.
  Result<Token> choose(Sampler& sampler, std::size_t input);
  bool ends(Token token) const;
  std::string bytes_of(Token token) const;
  // llama.cpp's own tokens of a text, for comparing.
  std::vector<Token> tokens_of(std::string_view text, bool add_bos) const;

 private:
  struct State;
  explicit Runtime(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::llama
