#include "count/bpe_run.hpp"

#include <algorithm>

#include "count/split/unicode.hpp"

namespace plimsoll::count {

void BpeRun::feed(std::string_view text, Bpe::Scratch& scratch) {
  text_ += text;
  advance(false, scratch);
  if (at_ > 2 * kept_bytes) drop_front();
}

std::uint64_t BpeRun::finish(Bpe::Scratch& scratch) {
  advance(true, scratch);
  return counted_ + tokens_.size();
}

void BpeRun::advance(bool to_the_end, Bpe::Scratch& scratch) {
  closed_.resize(text_.size() / 64 + 1, 0);
  // A longest match is certain only if the longest token could still end inside the text.
  while (at_ < text_.size() && (to_the_end || at_ + longest_token_ <= text_.size())) {
    std::uint32_t token =
        trying_ == no_token ? bpe_->longest(std::string_view(text_).substr(at_)) : bpe_->shorter(trying_);
    trying_ = no_token;
    const std::uint32_t last = tokens_.empty() || tokens_.back() >= Bpe::literal ? no_token : tokens_.back();
    while (token != no_token) {
      const std::size_t end = at_ + bpe_->length(token);
      const bool closed = (closed_[end >> 6] >> (end & 63)) & 1;
      if (!closed && (last == no_token || bpe_->stay_apart(last, token, scratch))) break;
      token = bpe_->shorter(token);
    }
    if (token != no_token) {
      tokens_.push_back(token);
      at_ += bpe_->length(token);
    } else if (last != no_token) {
      closed_[at_ >> 6] |= std::uint64_t{1} << (at_ & 63);
      trying_ = last;
      tokens_.pop_back();
      at_ -= bpe_->length(last);
    } else {
      // No token starts here: an unknown character, or too much was
      // dropped.
      exact_ = exact_ && bpe_->longest(std::string_view(text_).substr(at_)) == no_token;
      scratch.tokens.clear();
      at_ += bpe_->say_unknown(std::string_view(text_).substr(at_), scratch);
      tokens_.insert(tokens_.end(), scratch.tokens.begin(), scratch.tokens.end());
    }
  }
}

// Keeps the last kept_bytes of encoded text, and the text that is not encoded yet.
void BpeRun::drop_front() {
  std::size_t begin = at_;
  std::size_t keep = tokens_.size();
  while (keep > 0 && at_ - begin < kept_bytes) {
    --keep;
    begin -= tokens_[keep] < Bpe::literal ? bpe_->length(tokens_[keep]) : 1;
  }
  begin = begin / 64 * 64;  // whole words of `closed_`; may keep a part of the previous token
  counted_ += keep;
  tokens_.erase(tokens_.begin(), tokens_.begin() + static_cast<std::ptrdiff_t>(keep));
  text_.erase(0, begin);
  closed_.erase(closed_.begin(), closed_.begin() + static_cast<std::ptrdiff_t>(begin / 64));
  at_ -= begin;
}

}  // namespace plimsoll::count
