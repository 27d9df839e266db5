// For tests: a small model with random weights, in the form of multilingual-e5-small's file.
#pragma once

#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace plimsoll::base {

class TinyE5 {
 public:
  static constexpr std::uint32_t width = 32, layers = 2, inner = 64, positions = 64, pieces = 40;

  // The file. Its vocabulary has the letters a to z, with and without a space before them for some.
  static std::string file() { return TinyE5().make(); }

 private:
  template <typename T>
  static void put(std::string& out, T value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }

  void add(const std::string& name, std::uint32_t values, bool is_packed) {
    std::string contents;
    for (std::uint32_t block = 0; is_packed && block < values / 32; ++block) {
      put<std::uint16_t>(contents, 0x2400);  // 1/64
      for (int i = 0; i < 16; ++i) contents += static_cast<char>(random_());
    }
    for (std::uint32_t i = 0; !is_packed && i < values; ++i)
      put(contents, name.ends_with("ln.w") ? 1.0F : static_cast<float>(random_() % 100) / 1000 - 0.05F);
    put(directory_, static_cast<std::uint16_t>(name.size()));
    directory_ += name;
    put<std::uint8_t>(directory_, is_packed ? 1 : 0);
    put(directory_, values);
    places_.push_back(directory_.size());
    put<std::uint64_t>(directory_, tensors_.size());
    put<std::uint64_t>(directory_, contents.size());
    tensors_ += contents;
    ++count_;
  }

  std::string head() {
    std::string out = "E5S1";
    put<std::uint32_t>(out, 1);
    for (const std::uint32_t each : {width, layers, 1U, inner, pieces + 2, positions, 2U}) put(out, each);
    put(out, 1e-12F);
    put<std::uint32_t>(out, 32);
    std::vector<std::string> texts{"<s>", "<pad>", "</s>", "<unk>", "\u2581"};
    for (char c = 'a'; c <= 'z'; ++c) texts.emplace_back(1, c);
    for (char c = 'a'; texts.size() < pieces - 1; ++c) texts.push_back(std::string("\u2581") + c);
    texts.emplace_back("<mask>");
    std::string ends, scores, all;
    put<std::uint32_t>(ends, 0);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      all += texts[i];
      put(ends, static_cast<std::uint32_t>(all.size()));
      put(scores, -static_cast<float>(i));
    }
    for (const std::uint32_t each : {pieces, 0U, 2U, 1U, 3U}) put(out, each);
    put<std::uint64_t>(out, all.size());
    out += ends + scores + all;
    put<std::uint32_t>(out, 1);  // one character: a tab becomes a space
    put<std::uint32_t>(out, 9);
    put<std::uint32_t>(out, '\t');
    put<std::uint8_t>(out, 1);
    put<std::uint32_t>(out, ' ');
    return out;
  }

  std::string make() {
    add("emb.word", (pieces + 2) * width, true);
    add("emb.pos", positions * width, false);
    add("emb.type", 2 * width, false);
    add("emb.ln.w", width, false);
    add("emb.ln.b", width, false);
    for (std::uint32_t i = 0; i < layers; ++i) {
      for (const char* name : {"q", "k", "v", "ao"})
        add(fmt::format("l{}.{}.w", i, name), width * width, true);
      for (const char* name : {"q", "k", "v", "ao", "fo"})
        add(fmt::format("l{}.{}.b", i, name), width, false);
      for (const char* name : {"aln.w", "aln.b", "oln.w", "oln.b"})
        add(fmt::format("l{}.{}", i, name), width, false);
      add(fmt::format("l{}.fi.w", i), width * inner, true);
      add(fmt::format("l{}.fo.w", i), width * inner, true);
      add(fmt::format("l{}.fi.b", i), inner, false);
    }
    std::string out = head();
    put(out, count_);
    for (const std::size_t place : places_) {
      std::uint64_t offset = 0;
      std::memcpy(&offset, directory_.data() + place, sizeof offset);
      offset += out.size() + directory_.size();
      std::memcpy(directory_.data() + place, &offset, sizeof offset);
    }
    return out + directory_ + tensors_;
  }

  std::mt19937 random_{27};
  std::uint32_t count_ = 0;
  std::string directory_, tensors_;
  std::vector<std::size_t> places_;  // of the offsets, which are relative until the end
};

}  // namespace plimsoll::base
