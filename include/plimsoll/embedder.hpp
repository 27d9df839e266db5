// The ports to embedders, which turn text into vectors, and to rerankers, which read a question and a text
// together and say how well the text answers it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/deadline.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

struct EmbedderInfo {
  std::string
      name;  // "all-minilm-l6-v2"; stored with an index: vectors of different names are not comparable
  std::uint32_t dimensions = 0;
  Tokens max_tokens = 0;  // most that it reads of one text; 0: not known

  bool operator==(const EmbedderInfo&) const = default;
};

// Thread-safe. An implementation uses several threads itself.
class Embedder {
 public:
  Embedder() = default;
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;
  virtual ~Embedder() = default;

  virtual const EmbedderInfo& info() const = 0;

  // Returns one unit vector per text, concatenated in order. A text is truncated to max_tokens.
  virtual Result<std::vector<float>> embed(std::span<const std::string_view> texts, Deadline deadline) = 0;

  virtual Result<std::vector<float>> embed_query(std::string_view query, Deadline deadline) = 0;

  // Returns the tokens that it reads of the texts; none: not known.
  virtual std::optional<Tokens> count(std::span<const std::string_view> texts) const {
    (void)texts;
    return std::nullopt;
  }
};

// Thread-safe.
class Reranker {
 public:
  Reranker() = default;
  Reranker(const Reranker&) = delete;
  Reranker& operator=(const Reranker&) = delete;
  virtual ~Reranker() = default;

  virtual std::string_view name() const = 0;

  // Returns one score per text, 0 to 1, in the order of the texts. Long texts are truncated. timed_out: not
  // all texts were read before the deadline.
  virtual Result<std::vector<float>> score(std::string_view question, std::span<const std::string_view> texts,
                                           Deadline deadline) = 0;
};

}  // namespace plimsoll
