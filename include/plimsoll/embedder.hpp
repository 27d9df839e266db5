// The port to whatever turns text into vectors.
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
  std::string name;  // "all-minilm-l6-v2": what an index remembers; another name is another space
  std::uint32_t dimensions = 0;
  Tokens max_tokens = 0;  // what it reads of one text; 0: not known

  bool operator==(const EmbedderInfo&) const = default;
};

// Any thread may call at any time; an implementation spreads the work itself.
class Embedder {
 public:
  Embedder() = default;
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;
  virtual ~Embedder() = default;

  virtual const EmbedderInfo& info() const = 0;

  // One unit vector a text, in the order given, one after the other. Of a text beyond max_tokens, what fits.
  virtual Result<std::vector<float>> embed(std::span<const std::string_view> texts, Deadline deadline) = 0;

  virtual Result<std::vector<float>> embed_query(std::string_view query, Deadline deadline) = 0;

  // What it reads of the texts; none: that is not known here.
  virtual std::optional<Tokens> count(std::span<const std::string_view> texts) const {
    (void)texts;
    return std::nullopt;
  }
};

}  // namespace plimsoll
