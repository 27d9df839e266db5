// An embedder that reports how long it took.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "plimsoll/embedder.hpp"

namespace plimsoll {

using EmbeddingWatch =
    std::function<void(bool remote, bool success, std::chrono::steady_clock::duration took)>;

class WatchedEmbedder final : public Embedder {
 public:
  // The watch may be empty and must outlive the embedder.
  WatchedEmbedder(std::unique_ptr<Embedder> embedder, bool remote, const EmbeddingWatch& watch)
      : embedder_(std::move(embedder)), remote_(remote), watch_(watch) {}

  const EmbedderInfo& info() const override { return embedder_->info(); }
  Result<std::vector<float>> embed(std::span<const std::string_view> texts, Deadline deadline) override {
    return watched([&] { return embedder_->embed(texts, deadline); });
  }
  Result<std::vector<float>> embed_query(std::string_view query, Deadline deadline) override {
    return watched([&] { return embedder_->embed_query(query, deadline); });
  }
  std::optional<Tokens> count(std::span<const std::string_view> texts) const override {
    return embedder_->count(texts);
  }

 private:
  template <typename Step>
  Result<std::vector<float>> watched(const Step& step) {
    const auto began = std::chrono::steady_clock::now();
    auto vectors = step();
    if (watch_) watch_(remote_, vectors.has_value(), std::chrono::steady_clock::now() - began);
    return vectors;
  }

  std::unique_ptr<Embedder> embedder_;
  bool remote_;
  const EmbeddingWatch& watch_;
};

}  // namespace plimsoll
