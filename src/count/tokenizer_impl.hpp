// The implementation of plimsoll::Tokenizer: a compiled file, its model, and a pool of scratch space.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/mapped_file.hpp"
#include "count/chat/segments.hpp"
#include "count/model.hpp"
#include "count/piece_cache.hpp"
#include "count/split/pretokenize.hpp"
#include "count/vocabulary/compiled.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll {

struct Tokenizer::Impl {
  static constexpr Tokens no_limit = std::numeric_limits<Tokens>::max();

  // Scratch space of one thread while it counts, from the pool.
  struct Scratch {
    count::Classes classes;
    count::Model::Scratch model;
    count::PieceCache cache;
    std::string normalized;
    std::vector<std::uint32_t> prefix;
  };
  class Borrowed {
   public:
    explicit Borrowed(const Impl& impl) : impl_(impl), scratch_(impl.take()) {}
    ~Borrowed() { impl_.give_back(std::move(scratch_)); }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;
    Scratch& operator*() { return *scratch_; }

   private:
    const Impl& impl_;
    std::unique_ptr<Scratch> scratch_;
  };

  // A range of text between added tokens, or one added token (index, else no_token).
  struct Segment {
    std::size_t begin, end;
    std::uint32_t added;
  };
  // Calls visit for each segment in order until it returns false.
  template <typename Visit>
  void each_segment(std::string_view text, Specials specials, Visit&& visit) const {
    std::size_t at = 0;
    if (finder.idle(specials)) {
      if (!text.empty()) visit(Segment{0, text.size(), count::no_token});
      return;
    }
    while (at < text.size()) {
      const count::AddedMatch match = finder.find(text, at, specials);
      if (match.begin > at && !visit(Segment{at, match.begin, count::no_token})) return;
      if (match.index == count::no_token) return;
      if (!visit(Segment{match.begin, match.end, match.index})) return;
      at = match.end;
    }
  }

  // Counts normalised text without added tokens; stops soon after the limit.
  Tokens count_pieces_of(std::string_view text, Tokens limit, Scratch& scratch) const;
  Tokens count_batch(std::string_view text, std::size_t begin, std::span<const std::size_t> ends,
                     Scratch& scratch) const;
  Tokens count_piece(std::string_view piece, Scratch& scratch) const;
  Tokens count(std::string_view text, Specials specials, Tokens limit, count::Place place,
               Scratch& scratch) const;
  // Returns the text's tokens with their ends in the original text.
  std::vector<count::Placed> encode(std::string_view text, Specials specials) const;

  std::unique_ptr<Scratch> take() const;
  void give_back(std::unique_ptr<Scratch> scratch) const;

  explicit Impl(base::MappedFile mapped) : file(std::move(mapped)) {}

  base::MappedFile file;
  count::Compiled compiled;
  TokenizerInfo info;
  count::Model model;
  count::AddedFinder finder;
  count::PreTokenizer pre;

 private:
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Scratch>> pool_;
};

}  // namespace plimsoll
