// ONNX Runtime's C interface, as far as an embedder needs it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::onnx {

// A batch of texts as token ids, each row padded with zeros to `length`.
struct Batch {
  std::size_t rows = 0;
  std::size_t length = 0;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> mask;     // 1 for a token, 0 for padding
  std::vector<std::int64_t> types{};  // 1 for the tokens of a second text; empty: there is none
};

// Any thread may run it at any time.
class Session {
 public:
  static Result<std::unique_ptr<Session>> open(const std::filesystem::path& library,
                                               const std::filesystem::path& model);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session();

  // The model's first output, rows * length * width floats; `width` is told.
  Result<std::vector<float>> run(const Batch& batch, std::size_t& width) const;
  // The model's first output as it is.
  Result<std::vector<float>> run(const Batch& batch) const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace plimsoll::onnx
