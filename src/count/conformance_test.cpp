// Every tokenizer against what its reference makes of the texts in tests/vectors, and the operations
// against each other. PLIMSOLL_VECTORS names another folder of the same form.
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/paths.hpp"
#include "base/sanitized.hpp"
#include "base/source_dir.hpp"
#include "count/split/scan.hpp"
#include "count/tokenizer_impl.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// With sanitizers one text of 24 is used, and no long ones: all texts would take minutes.
constexpr bool thin = base::sanitized;
constexpr std::size_t thin_step = 24;
constexpr std::size_t thin_longest = 20'000;
// Checks that count a text many times over are for texts up to here.
constexpr std::size_t short_text = 3'000;
constexpr std::size_t shown_failures = 5;

// ---- The texts, as tests/vectors/texts.py describes them ----

std::string expand(const Json& entry) {
  if (entry.is_string()) return entry.get<std::string>();
  const std::string kind = entry.begin().key();
  const Json& value = entry.begin().value();
  std::string text;
  if (kind == "repeat") {
    const auto unit = value[0].get<std::string>();
    for (auto times = value[1].get<std::size_t>(); times > 0; --times) text += unit;
  } else if (kind == "draw") {
    const auto units = value[0].get<std::vector<std::string>>();
    auto state = value[1].get<std::uint64_t>();
    for (auto times = value[2].get<std::size_t>(); times > 0; --times) {
      state ^= state >> 12;
      state ^= state << 25;
      state ^= state >> 27;
      text += units[(state * 0x2545F4914F6CDD1D >> 33) % units.size()];
    }
  } else if (kind == "join") {
    for (const Json& part : value) text += expand(part);
  } else {
    ADD_FAILURE() << "no recipe is called '" << kind << "'";
  }
  return text;
}

fs::path vectors_folder() {
  const char* other = std::getenv("PLIMSOLL_VECTORS");
  return other != nullptr ? fs::path(other) : base::source_dir() / "tests" / "vectors";
}

const std::vector<std::string>& all_texts() {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all;
    std::ifstream file(vectors_folder() / "texts.jsonl");
    for (std::string line; std::getline(file, line);) all.push_back(expand(Json::parse(line)));
    return all;
  }();
  return texts;
}

bool is_taken(std::size_t i) {
  return !thin || (i % thin_step == 0 && all_texts()[i].size() <= thin_longest);
}

struct Expected {
  Tokens count = -1;  // -1: the reference gave up
  std::uint64_t hash = 0;
};
struct Row {
  Expected plain, parsed;
};
struct Vectors {
  bool has_parsed = false;
  std::vector<Row> rows;
};

Vectors read_vectors(const std::string& family) {
  Vectors vectors;
  std::ifstream file(vectors_folder() / (family + ".tsv"));
  std::string line;
  std::getline(file, line);
  vectors.has_parsed = line == "# plain parsed";
  const auto expected = [](std::istringstream& in) {
    std::string count, hash;
    in >> count;
    if (count == "-") return Expected{};
    in >> hash;
    return Expected{std::stoll(count), std::stoull(hash, nullptr, 16)};
  };
  while (std::getline(file, line)) {
    std::istringstream in(line);
    Row row;
    row.plain = row.parsed = expected(in);
    if (!(in >> std::ws).eof()) row.parsed = expected(in);
    vectors.rows.push_back(row);
  }
  return vectors;
}

// FNV-1a of 64 bits over the ids as little-endian u32.
std::uint64_t hash_of(const std::vector<TokenId>& ids) {
  std::uint64_t hash = 0xCBF29CE484222325;
  for (const TokenId id : ids) {
    for (unsigned shift = 0; shift < 32; shift += 8) hash = (hash ^ ((id >> shift) & 0xFF)) * 0x100000001B3;
  }
  return hash;
}

std::string excerpt(std::size_t i) {
  const std::string& text = all_texts()[i];
  return fmt::format("text {} ({} bytes): {}", i, text.size(),
                     Json(text.substr(0, 160)).dump(-1, ' ', true, Json::error_handler_t::replace));
}

// ---- The tests, once per tokenizer ----

const TokenizerLibrary& library() {
  static const TokenizerLibrary opened = [] {
    const fs::path cache = base::cache_folder(base::current_environment());
    return TokenizerLibrary(cache / "assets", cache / "tokenizers");
  }();
  return opened;
}

class Conformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!fs::exists(vectors_folder() / (GetParam() + ".tsv"))) GTEST_SKIP() << "no vectors of " << GetParam();
    auto opened = library().open(GetParam());
    if (!opened && opened.error().code == Errc::not_found) GTEST_SKIP() << opened.error().what;
    ASSERT_TRUE(opened) << opened.error().what;
    tokenizer_.emplace(*opened);
    vectors_ = read_vectors(GetParam());
    ASSERT_EQ(vectors_.rows.size(), all_texts().size()) << "make the vectors anew: make vectors";
    for (unsigned byte = 0; byte < 0x100; ++byte) {
      const char c = static_cast<char>(byte);
      if (tokenizer_->count({&c, 1}) == 0) lacking_ += c;
    }
  }

  // Whether a part of the text is dropped because it is not in the vocabulary.
  bool loses(std::string_view text) const { return text.find_first_of(lacking_) != std::string_view::npos; }

  // Begin and end of each literal in the text that counts as one token.
  std::vector<std::pair<std::size_t, std::size_t>> literals(std::string_view text, Specials specials) const {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    const auto& added = tokenizer_->impl().compiled.added;
    std::size_t begin = 0;
    for (const count::Placed& token : tokenizer_->impl().encode(text, specials)) {
      if (std::ranges::find(added, token.id, &count::CompiledAdded::id) != added.end())
        found.emplace_back(begin, token.end);
      begin = token.end;
    }
    return found;
  }

  // Calls check for each text and policy; one text's failure does not hide the next, but only a few are
  // shown.
  template <typename Check>
  void each(std::size_t longest, std::size_t step, Check&& check) {
    std::size_t checked = 0;
    std::size_t failed = 0;
    for (std::size_t i = 0; i < all_texts().size(); ++i) {
      if (i % step != 0 || all_texts()[i].size() > longest || !is_taken(i)) continue;
      for (const Specials specials : {Specials::plain, Specials::parsed}) {
        if (specials == Specials::parsed && !vectors_.has_parsed) continue;
        ++checked;
        const std::string complaint = check(i, std::string_view(all_texts()[i]), specials);
        if (complaint.empty() || ++failed > shown_failures) continue;
        ADD_FAILURE() << excerpt(i) << (specials == Specials::parsed ? ", parsed" : ", plain") << "\n  "
                      << complaint;
      }
    }
    EXPECT_EQ(failed, 0U) << "of " << checked;
    EXPECT_GT(checked, 0U);
  }

  std::optional<Tokenizer> tokenizer_;
  Vectors vectors_;
  std::string lacking_;  // bytes without a token
};

TEST_P(Conformance, CountsAndIdsAreTheReferences) {
  each(std::string::npos, 1, [&](std::size_t i, std::string_view text, Specials specials) -> std::string {
    const Expected& expected = specials == Specials::plain ? vectors_.rows[i].plain : vectors_.rows[i].parsed;
    if (expected.count < 0) return "";
    const Tokens count = tokenizer_->count(text, specials);
    const auto ids = tokenizer_->encode(text, specials);
    if (count != expected.count)
      return fmt::format("counted {}, the reference has {}", count, expected.count);
    if (static_cast<Tokens>(ids.size()) != count)
      return fmt::format("counted {}, encoded {}", count, ids.size());
    return hash_of(ids) == expected.hash ? "" : "other ids than the reference";
  });
}

TEST_P(Conformance, DecodingGivesTheTextBack) {
  // These normalise a text before splitting it; text that needs no change must still round-trip.
  const std::map<std::string, std::string, std::less<>> changing{
      {"qwen2.5", ""}, {"qwen3", ""},  {"command-r", ""},  {"claude-legacy", ""},
      {"gemma2", ""},  {"gemma3", ""}, {"mistral-v3", " "}};
  const auto change = changing.find(GetParam());
  std::size_t compared = 0;
  each(std::string::npos, 1, [&](std::size_t, std::string_view text, Specials specials) -> std::string {
    const bool ascii = std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
    if ((change != changing.end() && !ascii) || loses(text)) return "";
    ++compared;
    const auto ids = tokenizer_->encode(text, specials);
    const auto decoded = tokenizer_->decode(ids);
    if (!decoded) return decoded.error().what;
    const std::string wanted =
        (change != changing.end() && !text.empty() ? change->second : "") + std::string(text);
    return *decoded == wanted
               ? ""
               : fmt::format(
                     "decodes to {}",
                     Json(decoded->substr(0, 160)).dump(-1, ' ', true, Json::error_handler_t::replace));
  });
  EXPECT_GT(compared, 10U);
}

TEST_P(Conformance, CountingUpToALimitStopsThere) {
  std::mt19937 rng{1};
  each(200'000, 1, [&](std::size_t, std::string_view text, Specials specials) -> std::string {
    const Tokens count = tokenizer_->count(text, specials);
    for (const Tokens limit : {Tokens{0}, count - 1, count, count + 1,
                               static_cast<Tokens>(rng() % static_cast<unsigned>(count + 2))}) {
      if (limit < 0) continue;
      const Tokens found = tokenizer_->count_up_to(text, limit, specials);
      if (found != std::min(count, limit + 1)) return fmt::format("up to {} of {}: {}", limit, count, found);
    }
    return "";
  });
}

TEST_P(Conformance, PartsAppendedCountAsOneText) {
  std::mt19937 rng{2};
  each(200'000, 1, [&](std::size_t, std::string_view text, Specials specials) -> std::string {
    Counter counter(*tokenizer_, specials);
    const std::size_t longest = std::size_t{1} << (rng() % 13);
    const bool asks = text.size() <= short_text;
    std::string cuts;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = std::min<std::size_t>(text.size() - at, 1 + rng() % longest);
      counter.append(text.substr(at, size));
      at += size;
      cuts += fmt::format(" {}", at);
      if (asks && rng() % 4 == 0 && counter.total() != tokenizer_->count(text.substr(0, at), specials))
        return fmt::format("{} after the first {} bytes, counted at once they are {}; ends of the parts:{}",
                           counter.total(), at, tokenizer_->count(text.substr(0, at), specials),
                           cuts.substr(0, 400));
    }
    const Tokens count = tokenizer_->count(text, specials);
    return counter.total() == count ? ""
                                    : fmt::format("{} in parts, {} at once; ends of the parts:{}",
                                                  counter.total(), count, cuts.substr(0, 400));
  });
}

TEST_P(Conformance, AnEndlessWordFromTheFrontCountsAsOneText) {
  for (const char* word : {"a", " ", "ship"}) {
    std::string text;
    while (text.size() < 2'500'000) text += word;
    text += " end";
    Counter counter(*tokenizer_);
    for (std::size_t at = 0; at < text.size(); at += 300'007)
      counter.append(std::string_view(text).substr(at, 300'007));
    EXPECT_EQ(counter.total(), tokenizer_->count(text)) << "of '" << word << "'";
    EXPECT_TRUE(counter.exact());
  }
}

TEST_P(Conformance, TheLargestPrefixWithinALimitIsFound) {
  std::mt19937 rng{3};
  constexpr int characters_further = 40;
  // A prefix that ends inside a literal has other tokens than the text; such positions are skipped.
  each(short_text, 2, [&](std::size_t, std::string_view text, Specials specials) -> std::string {
    if (loses(text)) return "";
    const Tokens count = tokenizer_->count(text, specials);
    const auto uncut = literals(text, specials);
    const auto inside = [&](std::size_t at) {
      return std::ranges::any_of(uncut, [&](const auto& one) { return one.first < at && at < one.second; });
    };
    for (const Tokens limit :
         {Tokens{1}, count - 1, count, static_cast<Tokens>(rng() % static_cast<unsigned>(count + 1))}) {
      if (limit < 0) continue;
      const std::size_t at = tokenizer_->split_at(text, limit, specials);
      if (at > text.size() || (at < text.size() && count::is_continuation(text[at])))
        return fmt::format("limit {}: {} is inside a character", limit, at);
      const Tokens prefix = tokenizer_->count(text.substr(0, at), specials);
      if (prefix > limit)
        return fmt::format("limit {}: the first {} bytes have {} tokens", limit, at, prefix);
      std::size_t further = at;
      for (int i = 0; i < characters_further && further < text.size(); ++i) {
        do ++further;
        while (further < text.size() && count::is_continuation(text[further]));
        if (!inside(further) && tokenizer_->count(text.substr(0, further), specials) <= limit)
          return fmt::format("limit {}: {} bytes, but {} fit as well", limit, at, further);
      }
    }
    return "";
  });
}

TEST_P(Conformance, TokensHaveTheirPlacesInTheText) {
  std::mt19937 rng{4};
  each(200'000, 1, [&](std::size_t, std::string_view text, Specials specials) -> std::string {
    const Tokens count = tokenizer_->count(text, specials);
    const auto ends = tokenizer_->token_ends(text, specials);
    if (static_cast<Tokens>(ends.size()) != count)
      return fmt::format("{} ends of {} tokens", ends.size(), count);
    if (!std::ranges::is_sorted(ends)) return "the ends go back";
    if (!ends.empty() && !loses(text) && ends.back() != text.size())
      return fmt::format("the last token ends at {} of {}", ends.back(), text.size());

    std::vector<std::size_t> pieces;
    for (std::size_t at = 0; at < text.size();)
      pieces.push_back(at = std::min<std::size_t>(text.size(), at + 1 + rng() % 60));
    if (pieces.empty()) return "";
    const auto counts = tokenizer_->count_pieces(text, pieces, specials);
    Tokens sum = 0;
    for (const Tokens one : counts) sum += one;
    return sum == count ? "" : fmt::format("the pieces add up to {}, not {}", sum, count);
  });
}

std::vector<std::string> families() {
  std::vector<std::string> names;
  for (const TokenizerSource& source : library().sources()) names.push_back(source.name);
  return names;
}
std::string as_test_name(const ::testing::TestParamInfo<std::string>& param) {
  std::string name = param.param;
  std::ranges::replace_if(
      name, [](char c) { return c == '.' || c == '-'; }, '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Of, Conformance, ::testing::ValuesIn(families()), as_test_name);

// ---- Shared by all tokenizers ----

TEST(Vectors, AreManyAndReachAMegabyte) {
  EXPECT_GE(all_texts().size(), 2'000U);
  EXPECT_TRUE(
      std::ranges::any_of(all_texts(), [](const std::string& text) { return text.size() >= 1'000'000; }));
}

TEST(ClassifyVectors, EveryPathOfThisMachineSeesTheSame) {
  const auto every_class = [](std::uint8_t flagged) -> std::uint8_t {
    const std::uint8_t plain = count::plain_class(flagged);
    const auto category = static_cast<std::uint8_t>(flagged & ~count::cjk);
    return static_cast<std::uint8_t>(plain | (category == count::lu   ? count::cls::upper
                                              : category == count::ll ? count::cls::lower
                                                                      : 0));
  };
  const auto table = count::ClassTable::of(count::classes_by(every_class));
  const auto paths = count::all_classifiers();
  count::Classes wanted, found;
  for (std::size_t i = 0; i < all_texts().size(); ++i) {
    const std::string& text = all_texts()[i];
    if (!is_taken(i)) continue;
    for (auto* one : {&wanted, &found}) one->reserve(text.size());
    paths.front().run(text, table, wanted);
    for (const auto& path : paths.subspan(1)) {
      path.run(text, table, found);
      ASSERT_EQ(std::memcmp(wanted.bytes.data(), found.bytes.data(), text.size() + 1), 0)
          << path.name << ", " << excerpt(i);
      ASSERT_EQ(std::memcmp(wanted.words.data(), found.words.data(),
                            (text.size() / 64 + 1) * sizeof(count::ClassWord)),
                0)
          << path.name << ", " << excerpt(i);
    }
  }
}

TEST(AnyBytes, AreCountedAlikeByAllOperations) {
  std::mt19937 rng{6};
  std::size_t checked = 0;
  for (const std::string& name : families()) {
    const auto tokenizer = library().open(name);
    if (!tokenizer) continue;
    for (int round = 0; round < (thin ? 100 : 1'000); ++round) {
      std::string bytes(rng() % 60, '\0');
      constexpr std::string_view likely = "a '1\xC3\xA9\n.\xE5\xAD\x97\xF0\x9F\x9A\xA2";
      for (char& c : bytes) c = rng() % 3 == 0 ? static_cast<char>(rng()) : likely[rng() % likely.size()];
      const Tokens count = tokenizer->count(bytes);
      ASSERT_EQ(static_cast<Tokens>(tokenizer->encode(bytes).size()), count) << name;
      Counter counter(*tokenizer);
      for (const char c : bytes) counter.append({&c, 1});
      ASSERT_EQ(counter.total(), count)
          << name << " " << Json(bytes).dump(-1, ' ', true, Json::error_handler_t::replace) << " round "
          << round;
      const auto at = tokenizer->split_at(bytes, count / 2);
      ASSERT_LE(tokenizer->count(std::string_view(bytes).substr(0, at)), count / 2) << name;
      ++checked;
    }
  }
  if (checked == 0) GTEST_SKIP() << "no tokenizer was fetched; run `tools/setup assets`";
}

}  // namespace
}  // namespace plimsoll
