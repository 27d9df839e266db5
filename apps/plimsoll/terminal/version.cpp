#include "terminal/version.hpp"

#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include "adapters/llama/about.hpp"
#include "count/split/classify.hpp"
#include "data/assets_toml.hpp"
#include "plimsoll/tokenizers.hpp"
#include "plimsoll_commit.hpp"
#include "search/dot/dot.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

std::string compiler() {
#if defined(__clang__)
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

std::string processor() {
#if defined(__x86_64__)
  constexpr const char* kind = "x86-64";
#else
  constexpr const char* kind = "aarch64";
#endif
  return fmt::format("{}; in use: {} for counting, {} for vectors", kind,
                     count::all_classifiers().back().name, search::fastest_dot().name);
}

std::string llama_package() {
  const toml::table manifest = toml::parse(data::assets_toml);
  const toml::array* assets = manifest["asset"].as_array();
  for (std::size_t i = 0; assets != nullptr && i < assets->size(); ++i) {
    const toml::table* asset = assets->get_as<toml::table>(i);
    if (asset != nullptr && (*asset)["name"].value_or(std::string()) == "llama.cpp")
      return fmt::format("{} {}", (*asset)["package"].value_or(std::string()),
                         (*asset)["version"].value_or(std::string()));
  }
  return "unknown";
}

}  // namespace

std::string version_text() {
  std::vector<std::string> names;
  const TokenizerLibrary library({}, {});
  for (const TokenizerSource& source : library.sources()) names.push_back(source.name);
  constexpr std::size_t indent = 12;
  return fmt::format(
      "plimsoll {}\n"
      "commit      {}\n"
      "compiler    {}\n"
      "processor   {}\n"
      "tokenizers  {}\n"
      "llama.cpp   from {}, ggml {}",
      PLIMSOLL_VERSION, source_commit, compiler(), processor(),
      wrap(fmt::format("{}", fmt::join(names, ", ")), 80, indent), llama_package(),
      llama::ggml_version_text());
}

}  // namespace plimsoll
