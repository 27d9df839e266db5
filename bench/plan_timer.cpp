// Times planning: pieces that are counted already, a whole request from its text beside the counting in it,
// and a window out of the cache. `make bench-plan` runs it; the figures also go to the file that is named.
#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/paths.hpp"
#include "models/window_cache.hpp"
#include "plimsoll/plan.hpp"

namespace {

using namespace plimsoll;
using Json = nlohmann::ordered_json;

constexpr int pieces = 1'000;

double cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

// The least of some rounds of `times` calls, each.
template <typename Call>
double least_us(int rounds, int times, const Call& call) {
  double least = 0;
  for (int round = 0; round < rounds; ++round) {
    const double before = cpu_us();
    for (int i = 0; i < times; ++i) call();
    const double took = (cpu_us() - before) / times;
    least = round == 0 ? took : std::min(least, took);
  }
  return least;
}

std::string some_words(std::mt19937& rng, int count) {
  static constexpr const char* words[] = {"ship",   "harbour", "freeboard", "is",      "loaded", "the",
                                          "winter", "mark",    "deep",      "salt",    "water",  "cargo",
                                          "of",     "a",       "surveyor",  "measures"};
  std::string text;
  for (int i = 0; i < count; ++i) text += std::string(i == 0 ? "" : " ") + words[rng() % std::size(words)];
  return text;
}

Json request_of(int messages, int passages) {
  std::mt19937 rng{7};
  Json request{{"messages", {{{"role", "system"}, {"content", "Answer briefly."}}}}, {"max_tokens", 1000}};
  for (int i = 0; i < messages; ++i)
    request["messages"].push_back(
        {{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", some_words(rng, 80)}});
  request["messages"].push_back({{"role", "user"}, {"content", "How deep may she be loaded?"}});
  for (int i = 0; i < passages; ++i)
    request["plimsoll"]["passages"].push_back({{"id", fmt::format("p{}", i)},
                                               {"text", some_words(rng, 120)},
                                               {"score", static_cast<double>(rng() % 1000)}});
  return request;
}

Load load_of() {
  std::mt19937 rng{5};
  Load load;
  budget::Wants wants;
  wants.system = 400;
  wants.tools = 900;
  wants.question = 90;
  wants.answer = 4'000;
  wants.thinking = 2'000;
  for (int i = 0; i < pieces; ++i) {
    load.turns.push_back({static_cast<Tokens>(20 + rng() % 400)});
    load.passages.push_back({static_cast<Tokens>(80 + rng() % 240), static_cast<double>(rng() % 100'000)});
    wants.turns += load.turns.back().tokens;
    wants.passages += load.passages.back().tokens;
  }
  load.sections = budget::sections_for(wants, Policy::balanced, 128'000);
  return load;
}

double cache_hit_us() {
  models::WindowCache cache({});
  for (int i = 0; i < 100; ++i)
    cache.put("http://127.0.0.1:11434", fmt::format("model-{}", i), std::make_shared<models::ModelReport>());
  return least_us(5, 100'000, [&] {
    if (!cache.find("http://127.0.0.1:11434", "model-42")) std::abort();
  });
}

}  // namespace

int main(int argc, char** argv) {
  const auto folder = base::cache_folder(base::current_environment());
  const TokenizerLibrary library(folder / "assets", folder / "tokenizers");
  const auto catalogue = ModelCatalogue::built_in();
  if (!catalogue) return 1;
  const CatalogueModels models(*catalogue, library);
  Json figures = Json::array();
  int missed = 0;
  const auto line = [&](const std::string& what, double us, double limit, const std::string& note) {
    const bool met = us <= limit;
    missed += met ? 0 : 1;
    fmt::print("{:58}{:>12.2f} us  {}\n", what, us,
               limit > 1e8 ? note : fmt::format("{}: at most {:.0f} us", met ? "met" : "MISSED", limit));
    figures.push_back({{"what", what}, {"us", us}, {"note", note}});
  };

  const Load load = load_of();
  line("a plan over 1,000 turns and 1,000 passages, counted",
       least_us(5, 200,
                [&] {
                  if (!budget::fill(128'000, load)) std::abort();
                }),
       200, "");
  const auto placement = budget::fill(128'000, load);
  line("its shadow prices, 500 tokens more and 500 fewer",
       least_us(5, 200,
                [&] {
                  for (const Tokens change : {500, -500})
                    shadow_price(load, *placement, 128'000 + change, load);
                }),
       1e9, "");
  line("a window out of the cache", cache_hit_us(), 1, "");

  for (const char* name : {"gpt-4o", "qwen2.5:7b"}) {
    const std::string body = request_of(pieces, pieces).dump();
    const auto model = models.open(name);
    if (!model) return 1;
    std::string sent;
    const double planned = least_us(5, 1, [&] {
      auto plan = plan_request(body, name, {}, models);
      if (!plan || !plan->fits) std::abort();
      sent = std::move(plan->request);
    });
    const Json request = Json::parse(body);
    const double counted = least_us(5, 1, [&] {
      if (!count_chat(model->tokenizer, body, model->chat) ||
          !count_chat(model->tokenizer, sent, model->chat))
        std::abort();
      for (const Json& passage : request["plimsoll"]["passages"])
        if (model->tokenizer.count(passage["text"].get_ref<const std::string&>()) == 0) std::abort();
    });
    line(fmt::format("{}: a request of 1,000 messages and 1,000 passages", name), planned, 1e9,
         fmt::format("{:.2f} times the counting in it, {:.2f} us", planned / counted, counted));
  }
  if (argc > 1) std::ofstream(argv[1]) << figures.dump(2) << "\n";
  fmt::print("Targets missed: {}\n", missed);
  return missed == 0 ? 0 : 1;
}
