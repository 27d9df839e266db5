// The port to whatever turns text into vectors.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/deadline.hpp"
#include "plimsoll/document.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll {

struct EmbedderInfo {
  std::string name;  // "all-minilm-l6-v2": what an index remembers; another name is another space
  std::uint32_t dimensions = 0;
  Tokens max_tokens = 0;  // what it reads of one text; 0: not known

  bool operator==(const EmbedderInfo&) const = default;
};

struct PassageToEmbed {
  std::string_view text;
  std::vector<Span> parts;  // its sentences
};

// Unit vectors, one after the other.
struct PassageVectors {
  std::vector<float> whole;  // dimensions
  std::vector<float> parts;  // parts * dimensions
};

// Any thread may call at any time; an implementation spreads the work itself.
class Embedder {
 public:
  Embedder() = default;
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;
  virtual ~Embedder() = default;

  virtual const EmbedderInfo& info() const = 0;

  // In the order given. A text beyond max_tokens is embedded by what fits of it; a part that lies beyond has
  // the vector of the whole. An embedder that sees tokens gives its parts as the model saw them inside the
  // passage, so that "it" knows what it means; others embed each by itself.
  virtual Result<std::vector<PassageVectors>> embed(std::span<const PassageToEmbed> passages,
                                                    Deadline deadline) = 0;

  virtual Result<std::vector<float>> embed_query(std::string_view query, Deadline deadline) = 0;
};

}  // namespace plimsoll
