// The façade with its own vocabulary, which needs no downloads.
#include <filesystem>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "count/piece_cache.hpp"
#include "count/vocabulary/compile.hpp"
#include "plimsoll/count.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

// Bytes, a few merges and one special token, with cl100k's pre-tokeniser.
count::Definition small() {
  count::Definition definition;
  definition.info.name = "small";
  definition.by_rank = true;
  definition.whole_piece_first = true;
  definition.splitter = count::Splitter::cl100k;
  TokenId id = 0;
  for (int byte = 0; byte < 256; ++byte)
    definition.tokens.push_back({std::string(1, static_cast<char>(byte)), id++, 0});
  for (const char* text : {"th", "he", "the", " the", "in", "ing", " a", "\n\n"})
    definition.tokens.push_back({text, id++, 0});
  definition.added.push_back({.text = "<|end|>", .id = id, .special = true});
  return definition;
}

Tokenizer open_small(const base::TemporaryFolder& folder) {
  const auto file = count::compile(small());
  EXPECT_TRUE(file.has_value());
  write(folder / "small.ptok", *file);
  auto tokenizer = Tokenizer::open(folder / "small.ptok");
  EXPECT_TRUE(tokenizer.has_value());
  return *tokenizer;
}

TEST(Tokenizer, CountsEncodesAndDecodes) {
  const base::TemporaryFolder folder("tokenizers");
  const Tokenizer tokenizer = open_small(folder);
  EXPECT_EQ(tokenizer.count(""), 0);
  EXPECT_EQ(tokenizer.encode("the thing"), (std::vector<TokenId>{258, ' ', 256, 261}));
  EXPECT_EQ(*tokenizer.decode(tokenizer.encode("the thing\xFF")), "the thing\xFF");
  EXPECT_EQ(tokenizer.decode(std::vector<TokenId>{999}).error().code, Errc::not_found);
}

TEST(Tokenizer, TakesALiteralAsThePolicySays) {
  const base::TemporaryFolder folder("tokenizers");
  const Tokenizer tokenizer = open_small(folder);
  EXPECT_EQ(tokenizer.count("<|end|>", Specials::parsed), 1);
  EXPECT_EQ(tokenizer.count("<|end|>", Specials::plain), 7);
  EXPECT_EQ(tokenizer.count("the<|end|>the", Specials::parsed), 3);
}

TEST(Tokenizer, StopsCountingAtTheLimit) {
  const base::TemporaryFolder folder("tokenizers");
  const Tokenizer tokenizer = open_small(folder);
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(tokenizer.count_up_to("the the", 5), 2);
  EXPECT_EQ(tokenizer.count_up_to("a b c d e f g", 3), 4);
  EXPECT_EQ(tokenizer.count_up_to(text, 10), 11);
  EXPECT_EQ(tokenizer.count_up_to(text, -1), 0);
}

TEST(Tokenizer, ManyThreadsCountAlike) {
  const base::TemporaryFolder folder("tokenizers");
  const Tokenizer tokenizer = open_small(folder);
  std::vector<std::string> texts;
  std::vector<Tokens> expected;
  for (int i = 0; i < 40; ++i) {
    std::string text;
    for (int k = 0; k < 200; ++k)
      text += (k * i) % 7 == 0 ? " the" : (k + i) % 3 == 0 ? "ing\n\n" : " ab" + std::to_string(k * i);
    texts.push_back(text);
    expected.push_back(tokenizer.count(text));
  }
  std::vector<int> wrong(8, 0);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      for (int round = 0; round < 20; ++round) {
        for (std::size_t i = 0; i < texts.size(); ++i) {
          if (tokenizer.count(texts[i]) != expected[i]) ++wrong[t];
          if (static_cast<Tokens>(tokenizer.encode(texts[i]).size()) != expected[i]) ++wrong[t];
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
}

TEST(Tokenizer, RefusesADamagedFile) {
  const base::TemporaryFolder folder("tokenizers");
  std::string file = *count::compile(small());
  const auto error_of = [&](const std::string& bytes) {
    write(folder / "damaged.ptok", bytes);
    const auto opened = Tokenizer::open(folder / "damaged.ptok");
    return opened ? "none" : std::string(name_of(opened.error().code));
  };
  EXPECT_EQ(error_of(file), "none");
  EXPECT_EQ(error_of(""), "damaged");
  EXPECT_EQ(error_of(file.substr(0, file.size() / 2)), "damaged");
  EXPECT_EQ(error_of("PTOK9999" + file.substr(8)), "damaged");
  for (std::size_t i = 8; i < file.size(); i += i < 400 ? 7 : 61) {
    std::string flipped = file;
    flipped[i] = static_cast<char>(flipped[i] ^ 1);
    EXPECT_EQ(error_of(flipped), "damaged") << i;
  }
}

TEST(Counter, OfAGrowingTextEqualsTheWhole) {
  const base::TemporaryFolder folder("tokenizers");
  const Tokenizer tokenizer = open_small(folder);
  Counter counter(tokenizer, Specials::parsed);
  std::string whole;
  for (int i = 0; i < 300; ++i) {
    const std::string part = i % 5 == 0   ? "<|e"
                             : i % 5 == 1 ? "nd|>"
                             : i % 3 == 0 ? " the\n"
                                          : "\nin" + std::to_string(i);
    counter.append(part);
    whole += part;
    ASSERT_EQ(counter.total(), tokenizer.count(whole, Specials::parsed)) << whole;
  }
}

TEST(Counter, OfAnEndlessWordEqualsTheWhole) {
  const base::TemporaryFolder folder("tokenizers");
  const Tokenizer tokenizer = open_small(folder);
  std::string whole = "the ";
  for (const auto& [text, times] : {std::pair<const char*, int>{"thein", 900'000},
                                    {"!", 3'000'000},
                                    {" ", 2'500'000},
                                    {"\n", 2'400'000}}) {
    for (int i = 0; i < times; ++i) whole += text;
    whole += "<|end|> x's ";
  }
  Counter counter(tokenizer, Specials::parsed);
  constexpr std::size_t stretch = 700'001;
  for (std::size_t at = 0; at < whole.size(); at += stretch) {
    counter.append(std::string_view(whole).substr(at, stretch));
    if (at % 3 == 0) {
      ASSERT_EQ(counter.total(),
                tokenizer.count(std::string_view(whole).substr(0, at + stretch), Specials::parsed));
    }
  }
  EXPECT_EQ(counter.total(), tokenizer.count(whole, Specials::parsed));
  EXPECT_TRUE(counter.exact());
}

TEST(TokenizerLibrary, SaysWhatIsMissing) {
  const base::TemporaryFolder folder("tokenizers");
  const TokenizerLibrary library(folder / "assets", folder / "compiled");
  EXPECT_EQ(library.open("o200k_bass").error().what,
            "unknown tokenizer 'o200k_bass' (did you mean 'o200k_base'?); `plimsoll tokenizers` lists all "
            "tokenizers");
  const auto absent = library.open("qwen3");
  ASSERT_FALSE(absent.has_value());
  EXPECT_EQ(absent.error().code, Errc::not_found);
  EXPECT_NE(absent.error().what.find("run `tools/setup assets`"), std::string::npos);
  EXPECT_EQ(library.sources().size(), 17u);
}

TEST(TokenizerLibrary, MakesADamagedTokenizerAnewFromItsFile) {
  const base::TemporaryFolder folder("tokenizers");
  write(folder / "tiny.tiktoken", "YQ== 0\nYg== 1\nYWI= 2\n");
  const TokenizerLibrary library(folder / "assets", folder / "compiled");
  const auto first = library.open_file(folder / "tiny.tiktoken");
  ASSERT_TRUE(first.has_value()) << first.error().what;
  EXPECT_EQ(first->count("ab"), 1);
  int damaged = 0;
  for (const auto& entry : fs::directory_iterator(folder / "compiled" / "files")) {
    write(entry.path(), "rubbish");
    ++damaged;
  }
  EXPECT_EQ(damaged, 1);
  const auto second = library.open_file(folder / "tiny.tiktoken");
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->count("ab"), 1);
}

TEST(TokenizerLibrary, SaysWhatIsWrongWithADefinition) {
  const base::TemporaryFolder folder("tokenizers");
  const TokenizerLibrary library(folder / "assets", folder / "compiled");
  const auto error_of = [&](std::string_view text) {
    write(folder / "given", text);
    const auto opened = library.open_file(folder / "given");
    return opened ? "none" : opened.error().what;
  };
  EXPECT_EQ(error_of(""), "given: the file is empty");
  EXPECT_EQ(error_of("{}"), "given: this is not a tokenizer.json: it has no object 'model'");
  EXPECT_EQ(error_of("YQ== x\n"), "given: line 1 is not a token in base64, a space and its rank");
  EXPECT_EQ(error_of("GGUF\x09"), "given: the GGUF file is cut off");
}

TEST(PieceCache, FindsWhatWasPutAndNeverAnotherPiece) {
  using count::PieceCache;
  PieceCache cache;
  const auto key_of = [](std::string text) {
    const std::size_t length = text.size();
    text.resize(16, '#');
    return PieceCache::key_of(text.data(), length);
  };
  int kept = 0;
  for (int i = 0; i < 200'000; ++i) {
    const auto key = key_of(std::to_string(i * 7));
    const auto set = PieceCache::set_of(key);
    ASSERT_EQ(cache.find_short(key, set), 0u);
    cache.put_short(key, set, static_cast<std::size_t>(1 + i % 15));
  }
  for (int i = 0; i < 200'000; ++i) {
    const auto key = key_of(std::to_string(i * 7));
    const unsigned found = cache.find_short(key, PieceCache::set_of(key));
    ASSERT_TRUE(found == 0 || found == static_cast<unsigned>(1 + i % 15));
    kept += found != 0 ? 1 : 0;
  }
  EXPECT_GT(kept, 80'000);
  // A NUL is part of the text; a shorter piece is different.
  const auto with_nul = key_of(std::string("a\0", 2));
  const auto without = key_of("a");
  EXPECT_FALSE(with_nul.low == without.low && with_nul.high == without.high);

  const std::string long_piece(300, 'x');
  const auto hash = PieceCache::hash_of(long_piece);
  EXPECT_EQ(cache.find_long(long_piece, hash), 0u);
  cache.put_long(long_piece, hash, 42);
  EXPECT_EQ(cache.find_long(long_piece, hash), 42u);
  EXPECT_EQ(cache.find_long(std::string(300, 'y'), hash), 0u);
}

}  // namespace
}  // namespace plimsoll
