// Times our counter.
//
//   count_timer ENCODING FILE ROUNDS    one line of JSON: CPU time of opening the tokenizer and the first
//                                       count (cold), and of the best of ROUNDS further counts (warm)
//   count_timer --linear ENCODING PROSE CODE
//                                       a line for each kind of text and size up to 100 MB
#include <time.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/try.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

constexpr std::uint64_t text_limit_bytes = std::uint64_t{1} << 30;

// CPU time of this process, all threads.
double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

Result<Tokenizer> open(std::string_view encoding) {
  const auto cache = base::cache_folder(base::current_environment());
  return TokenizerLibrary(cache / "assets", cache / "tokenizers").open(encoding);
}

Result<void> time_text(std::string_view encoding, const std::string& path, int rounds) {
  TRY(const std::string text, base::read_file(path, text_limit_bytes));
  const double started = cpu_ms();
  TRY(const Tokenizer tokenizer, open(encoding));
  const double loaded = cpu_ms();
  const Tokens tokens = tokenizer.count(text);
  const double cold = cpu_ms();
  double warm = cold - loaded;
  for (int round = 0; round < rounds; ++round) {
    const double before = cpu_ms();
    if (tokenizer.count(text) != tokens) return fail(Errc::damaged, "two counts of one text differ");
    const double took = cpu_ms() - before;
    warm = round == 0 ? took : std::min(warm, took);
  }
  fmt::print(
      "{{\"tokens\": {}, \"load_ms\": {:.3f}, \"first_ms\": {:.3f}, \"cold_ms\": {:.3f}, \"warm_ms\": "
      "{:.3f}}}\n",
      tokens, loaded - started, cold - loaded, cold - started, warm);
  return {};
}

// Text of at least so many bytes out of another one, a line in four with a word of its own, so that it is not
// one text over and over.
std::string varied(std::string_view from, std::size_t size) {
  std::mt19937 rng{1};
  std::string text;
  text.reserve(size + 4096);
  for (std::size_t at = 0; text.size() < size;) {
    const std::size_t end = std::min(from.find('\n', at), from.size() - 1);
    text += from.substr(at, end + 1 - at);
    if (rng() % 4 == 0)
      text += fmt::format("No. {} {}{}.\n", rng() % 100'000, static_cast<char>('a' + rng() % 26), rng());
    at = (end + 1) % from.size();
  }
  return text;
}

std::string random_letters(std::size_t size) {
  std::mt19937 rng{2};
  std::string text(size, 'a');
  for (char& c : text) c = static_cast<char>('a' + rng() % 26);
  return text;
}

std::string mixed(std::size_t size) {
  static constexpr std::string_view parts[] = {
      "word ", "Mixed", "\n",       "    ", "\t", "é", "字",     "の", "🚢",      "1234567",
      "...",   "'s",    "/path/to", "\r\n", "x",  "Ж", "\u3000", "-",  "e\u0301", "ﷺ"};
  std::mt19937 rng{3};
  std::string text;
  while (text.size() < size) text += parts[rng() % std::size(parts)];
  return text;
}

Result<void> time_sizes(std::string_view encoding, const std::string& prose_path,
                        const std::string& code_path) {
  TRY(const Tokenizer tokenizer, open(encoding));
  TRY(const std::string prose, base::read_file(prose_path, text_limit_bytes));
  TRY(const std::string code, base::read_file(code_path, text_limit_bytes));
  struct Kind {
    std::string_view name;
    std::function<std::string(std::size_t)> make;
  };
  const std::vector<Kind> kinds{{"prose", [&](std::size_t size) { return varied(prose, size); }},
                                {"code", [&](std::size_t size) { return varied(code, size); }},
                                {"a", [](std::size_t size) { return std::string(size, 'a'); }},
                                {"random letters", random_letters},
                                {"newlines", [](std::size_t size) { return std::string(size, '\n'); }},
                                {"spaces", [](std::size_t size) { return std::string(size, ' '); }},
                                {"mixed", mixed}};
  for (const Kind& kind : kinds) {
    const std::string text = kind.make(100'000'000);
    for (const std::size_t part : {8U, 4U, 2U, 1U}) {
      const std::string_view some = std::string_view(text).substr(0, text.size() / part);
      double best = 0;
      Tokens tokens = 0;
      for (int round = 0; round < 2; ++round) {
        const double before = cpu_ms();
        tokens = tokenizer.count(some);
        const double took = cpu_ms() - before;
        best = round == 0 ? took : std::min(best, took);
      }
      fmt::print("{{\"kind\": \"{}\", \"bytes\": {}, \"tokens\": {}, \"ms\": {:.2f}}}\n", kind.name,
                 some.size(), tokens, best);
      std::fflush(stdout);
    }
  }
  return {};
}

Result<void> run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 4 && arguments[0] == "--linear")
    return time_sizes(arguments[1], arguments[2], arguments[3]);
  int rounds = 0;
  if (arguments.size() != 3 ||
      std::from_chars(arguments[2].data(), arguments[2].data() + arguments[2].size(), rounds).ec !=
          std::errc{})
    return fail(Errc::bad_input,
                "count_timer ENCODING FILE ROUNDS, or count_timer --linear ENCODING PROSE CODE");
  return time_text(arguments[0], arguments[1], rounds);
}

}  // namespace
}  // namespace plimsoll

int main(int count, char** values) {
  const auto done = plimsoll::run({values + 1, values + count});
  if (!done) fmt::print(stderr, "count_timer: {}\n", done.error().what);
  return done ? 0 : 1;
}
