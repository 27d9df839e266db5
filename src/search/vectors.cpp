#include "search/vectors.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "search/best_hits.hpp"

namespace plimsoll::search {

Vectors::Vectors(std::uint32_t dimensions, VectorOptions options)
    : options_(options), vectors_(dimensions), graph_(vectors_) {}

void Vectors::add(ChunkId chunk, DocumentId document, std::span<const Bf16> vector) {
  assert(vector.size() == dimensions() && chunk > highest_);
  const std::size_t slot = size();
  chunks_.grow_to(slot + 1);
  documents_.grow_to(slot + 1);
  vectors_.grow_to(slot + 1);
  *chunks_.writable(slot) = chunk;
  *documents_.writable(slot) = document;
  std::copy(vector.begin(), vector.end(), vectors_.writable(slot));
  highest_ = chunk;
}

void Vectors::settle() {
  if (has_graph() || size() > options_.exact_up_to) graph_.add_until(size(), options_.threads);
}

Vectors::View Vectors::view(const View* before, std::span<const Removed> removed) const {
  View next;
  next.all_ = shared_from_this();
  next.size_ = size();
  next.in_graph_ = graph_.size();
  if (before != nullptr) {
    next.dead_ = before->dead_;
    next.dead_count_ = before->dead_count_;
  }
  std::shared_ptr<Bits> dead;
  for (const Removed& range : removed) {
    std::size_t low = 0;
    std::size_t high = size();
    while (low < high) {
      const std::size_t middle = low + (high - low) / 2;
      if (*chunks_.row(middle) < range.first)
        low = middle + 1;
      else
        high = middle;
    }
    for (std::size_t slot = low; slot < size() && *chunks_.row(slot) <= range.last; ++slot) {
      if (!dead) {
        dead = next.dead_ ? std::make_shared<Bits>(*next.dead_) : std::make_shared<Bits>();
        dead->grow(size());
      }
      if (dead->test(slot)) continue;
      dead->set(slot);
      ++next.dead_count_;
    }
  }
  if (dead) next.dead_ = std::move(dead);
  return next;
}

std::shared_ptr<Vectors> Vectors::compacted(const View& view) const {
  auto kept = std::make_shared<Vectors>(dimensions(), options_);
  for (std::size_t slot = 0; slot < view.size_; ++slot)
    if (!view.is_dead(slot))
      kept->add(*chunks_.row(slot), *documents_.row(slot), {vectors_.row(slot), vectors_.width()});
  kept->highest_ = highest_;
  kept->settle();
  return kept;
}

namespace {

std::vector<float> unit(std::span<const float> query) {
  double sum = 0;
  for (const float value : query) sum += static_cast<double>(value) * value;
  const double length = std::sqrt(sum);
  std::vector<float> scaled(query.begin(), query.end());
  if (length > 0 && std::isfinite(length))
    for (float& value : scaled) value = static_cast<float>(value / length);
  return scaled;
}

}  // namespace

Bits Vectors::View::slots_of(const std::vector<DocumentId>& only) const {
  Bits slots(size_);
  DocumentId last = 0;
  bool last_in = false;
  for (std::size_t slot = 0; slot < size_; ++slot) {
    const DocumentId document = *all_->documents_.row(slot);
    if (slot == 0 || document != last) {  // the chunks of a document are consecutive
      last = document;
      last_in = std::binary_search(only.begin(), only.end(), document);
    }
    if (last_in && !is_dead(slot)) slots.set(slot);
  }
  return slots;
}

std::vector<Hit> Vectors::View::scan(std::span<const float> query, std::size_t k, const Bits* allowed) const {
  BestHits<float, std::size_t> best(k, std::numeric_limits<float>::lowest());
  const Dot dot = fastest_dot().dot;
  const auto offer = [&](std::size_t slot) {
    best.offer(dot(all_->vectors_.row(slot), query.data(), query.size()), slot);
  };
  if (allowed != nullptr)
    allowed->each(offer);
  else
    for (std::size_t slot = 0; slot < size_; ++slot)
      if (!is_dead(slot)) offer(slot);
  std::vector<Hit> hits;
  for (const auto& entry : best.take())
    hits.push_back({*all_->chunks_.row(entry.id), *all_->documents_.row(entry.id), entry.score});
  return hits;
}

std::vector<Hit> Vectors::View::walk(std::span<const float> query, std::size_t k, const Bits* allowed) const {
  Graph::Test passes;
  if (allowed != nullptr)
    passes = [allowed](Node node) { return allowed->test(node); };
  else if (dead_)
    passes = [this](Node node) { return !is_dead(node); };
  const std::size_t effort = std::max(all_->options_.search_effort, k + k / 2);
  std::vector<Hit> hits;
  for (const Neighbour& one : all_->graph_.search(query.data(), effort, size_, passes)) {
    if (hits.size() == k) break;
    hits.push_back({*all_->chunks_.row(one.node), *all_->documents_.row(one.node), one.similarity});
  }
  return hits;
}

std::vector<Hit> Vectors::View::nearest(std::span<const float> query, std::size_t k,
                                        const std::vector<DocumentId>* only) const {
  if (!all_ || query.size() != all_->dimensions() || k == 0) return {};
  const std::vector<float> asked = unit(query);
  const std::size_t most = std::min(k, living());
  Bits allowed;
  std::size_t can_be_found = living();
  if (only != nullptr) {
    allowed = slots_of(*only);
    can_be_found = allowed.count();
  }
  // If one in ten vectors passes, the walk must visit ten times as many.
  const double walk_squared =
      static_cast<double>(all_->options_.walk_comparisons) * static_cast<double>(size_);
  const bool few = static_cast<double>(can_be_found) * static_cast<double>(can_be_found) < walk_squared;
  const Bits* filter = only != nullptr ? &allowed : nullptr;
  if (in_graph_ < size_ || few) return scan(asked, most, filter);
  return walk(asked, most, filter);
}

std::vector<Hit> Vectors::View::nearest_exact(std::span<const float> query, std::size_t k,
                                              const std::vector<DocumentId>* only) const {
  if (!all_ || query.size() != all_->dimensions()) return {};
  Bits allowed;
  if (only != nullptr) allowed = slots_of(*only);
  return scan(unit(query), std::min(k, living()), only != nullptr ? &allowed : nullptr);
}

}  // namespace plimsoll::search
