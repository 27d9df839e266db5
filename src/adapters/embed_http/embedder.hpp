// Embeddings of a server: OpenAI-compatible (POST <root>/v1/embeddings) or Ollama (POST <root>/api/embed).
#pragma once

#include <memory>
#include <string>

#include "base/secret.hpp"
#include "plimsoll/embedder.hpp"
#include "plimsoll/http.hpp"

namespace plimsoll::embed_http {

enum class Dialect : std::uint8_t { openai, ollama };

struct Options {
  Dialect dialect = Dialect::openai;
  std::string root;   // "https://host", what the path above is put after
  std::string shown;  // the same without a password, for messages
  std::string model;
  std::string name;  // what an index remembers: "openai:MODEL"
  base::Secret key;  // may be empty
  std::size_t texts_per_request = 64;
};

// Asks for one vector to learn the dimensions. The client outlives the embedder.
Result<std::unique_ptr<Embedder>> make_embedder(HttpClient& http, Options options, Deadline deadline);

// The vectors of a reply's body, made unit length, one after the other. upstream_failed says what is wrong
// with it. `dimensions`: 0 takes what comes.
Result<std::vector<float>> read_vectors(Dialect dialect, std::string_view body, std::size_t texts,
                                        std::size_t dimensions);

}  // namespace plimsoll::embed_http
