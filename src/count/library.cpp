#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <span>

#include <toml++/toml.h>

#include "base/files.hpp"
#include "base/mapped_file.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "count/vocabulary/compile.hpp"
#include "count/vocabulary/compiled.hpp"
#include "count/vocabulary/readers.hpp"
#include "data/assets_toml.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

namespace fs = std::filesystem;

// What a `.tiktoken` file lacks: the pre-tokeniser and the special tokens.
struct TiktokenFacts {
  std::string_view name;
  count::Splitter splitter;
  std::vector<std::pair<std::string_view, TokenId>> specials;
};
const std::array<TiktokenFacts, 4>& tiktoken_facts() {
  static const std::array<TiktokenFacts, 4> facts{{
      {"cl100k_base",
       count::Splitter::cl100k,
       {{"<|endoftext|>", 100257},
        {"<|fim_prefix|>", 100258},
        {"<|fim_middle|>", 100259},
        {"<|fim_suffix|>", 100260},
        {"<|endofprompt|>", 100276}}},
      {"o200k_base", count::Splitter::o200k, {{"<|endoftext|>", 199999}, {"<|endofprompt|>", 200018}}},
      {"p50k_base", count::Splitter::gpt2, {{"<|endoftext|>", 50256}}},
      {"r50k_base", count::Splitter::gpt2, {{"<|endoftext|>", 50256}}},
  }};
  return facts;
}

// Finds the facts for a file by its name, or by the size of its vocabulary if it was renamed.
const TiktokenFacts* facts_for(std::string_view name, std::size_t tokens) {
  for (const TiktokenFacts& facts : tiktoken_facts()) {
    if (name.find(facts.name) != std::string_view::npos) return &facts;
  }
  static const std::map<std::size_t, std::string_view> by_size{
      {100256, "cl100k_base"}, {199998, "o200k_base"}, {50280, "p50k_base"}, {50256, "r50k_base"}};
  const auto found = by_size.find(tokens);
  return found == by_size.end() ? nullptr : facts_for(found->second, 0);
}

Result<count::Definition> define(std::string_view file, std::string_view config, std::string_view name) {
  TRY(count::Definition definition, count::read_definition(file, config, name));
  definition.info.name = name;
  if (definition.by_rank && definition.added.empty() && definition.kind == count::ModelKind::bpe_bytes) {
    if (const TiktokenFacts* facts = facts_for(name, definition.tokens.size())) {
      definition.splitter = facts->splitter;
      for (const auto& [text, id] : facts->specials)
        definition.added.push_back({.text = std::string(text), .id = id, .special = true});
    }
  }
  return definition;
}

std::string text_at(const toml::table& table, std::string_view key) {
  return table[key].value_or(std::string());
}

// A damaged definition compiles to a tokenizer that counts wrong.
Result<void> check_sum(const fs::path& file, std::string_view bytes, std::string_view expected) {
  const std::string found = base::sha256_hex(bytes);
  if (found == expected) return {};
  return fail(Errc::damaged,
              "{} is damaged: its sha256 is {}, expected {}. Delete it and run `tools/setup assets`",
              file.string(), found, expected);
}

// A mapped file costs no memory, so the limit is large.
Result<Tokenizer> open_current(const fs::path& path) {
  return Tokenizer::open(path);
}

}  // namespace

struct TokenizerLibrary::State {
  fs::path assets, compiled;
  std::vector<TokenizerSource> sources;
  std::mutex mutex;
  std::map<std::string, Tokenizer, std::less<>> opened;

  State(fs::path assets_folder, fs::path compiled_folder)
      : assets(std::move(assets_folder)), compiled(std::move(compiled_folder)) {
    const toml::table manifest = toml::parse(data::assets_toml);
    const toml::array* list = manifest["asset"].as_array();
    if (list == nullptr) return;
    for (const toml::node& node : *list) {
      const toml::table* entry = node.as_table();
      if (entry == nullptr || text_at(*entry, "kind") != "tokenizer") continue;
      add_source(*entry);
    }
  }

  void add_source(const toml::table& entry) {
    TokenizerSource source;
    source.name = text_at(entry, "name");
    source.purpose = text_at(entry, "purpose");
    source.package = fmt::format("{} {} {}", text_at(entry, "registry"), text_at(entry, "package"),
                                 text_at(entry, "version"));
    source.licence = text_at(entry, "licence");
    source.upstream = text_at(entry, "upstream");
    const toml::array* files = entry["files"].as_array();
    for (std::size_t i = 0; files != nullptr && i < files->size(); ++i) {
      const toml::table* file = files->get_as<toml::table>(i);
      if (file == nullptr) continue;
      const std::string as = text_at(*file, "as");
      const fs::path path =
          assets / source.name / (as.empty() ? fs::path(text_at(*file, "path")).filename() : fs::path(as));
      const std::string sum = text_at(*file, "sha256");
      if (path.filename() == "tokenizer_config.json") {
        source.config = path;
        source.config_sha256 = sum;
      } else if (source.definition.empty()) {
        source.definition = path;
        source.definition_sha256 = sum;
        // The name has the checksum of the definition, so that a changed definition gets another file.
        const std::string name = fmt::format("{}-{}.ptok", source.name, sum.substr(0, 12));
        source.compiled = compiled / name;
        // A release brings them compiled, next to its assets.
        std::error_code none;
        const fs::path shipped = assets.parent_path() / "compiled-tokenizers" / name;
        if (!fs::exists(source.compiled, none) && fs::exists(shipped, none)) source.compiled = shipped;
      }
    }
    sources.push_back(std::move(source));
  }

  Result<void> make(const TokenizerSource& source) const {
    TRY(const auto file, base::MappedFile::open(source.definition));
    TRY_VOID(check_sum(source.definition, file.text(), source.definition_sha256));
    std::string config;
    if (!source.config.empty()) {
      TRY(config, base::read_file(source.config, 64U << 20));
      TRY_VOID(check_sum(source.config, config, source.config_sha256));
    }
    TRY(count::Definition definition, define(file.text(), config, source.name));
    definition.info.source = fmt::format("{}, {}", source.package, source.definition.filename().string());
    definition.info.licence = source.licence;
    definition.info.upstream = source.upstream;
    TRY(const std::string bytes, count::compile(definition));
    return base::write_atomically(source.compiled, bytes);
  }
};

TokenizerLibrary::TokenizerLibrary(fs::path assets, fs::path compiled)
    : state_(std::make_unique<State>(std::move(assets), std::move(compiled))) {}
TokenizerLibrary::~TokenizerLibrary() = default;
TokenizerLibrary::TokenizerLibrary(TokenizerLibrary&&) noexcept = default;
TokenizerLibrary& TokenizerLibrary::operator=(TokenizerLibrary&&) noexcept = default;

const std::vector<TokenizerSource>& TokenizerLibrary::sources() const {
  return state_->sources;
}

Result<bool> TokenizerLibrary::compile(std::string_view name) const {
  const auto source = std::ranges::find(state_->sources, name, &TokenizerSource::name);
  if (source == state_->sources.end()) {
    std::vector<std::string_view> names;
    for (const TokenizerSource& known : state_->sources) names.push_back(known.name);
    const auto near = base::nearest(name, names);
    return fail(Errc::not_found, "unknown tokenizer '{}'{}; `plimsoll tokenizers` lists all tokenizers", name,
                near ? fmt::format(" (did you mean '{}'?)", *near) : "");
  }
  if (open_current(source->compiled)) return false;
  if (!fs::exists(source->definition))
    return fail(Errc::not_found,
                "the definition of '{}' was not downloaded: {} is missing; run `tools/setup assets`", name,
                source->definition.string());
  TRY_VOID(state_->make(*source));
  return true;
}

Result<Tokenizer> TokenizerLibrary::open(std::string_view name) const {
  const std::lock_guard lock(state_->mutex);
  if (const auto found = state_->opened.find(name); found != state_->opened.end()) return found->second;
  const auto source = std::ranges::find(state_->sources, name, &TokenizerSource::name);
  Result<Tokenizer> tokenizer =
      source == state_->sources.end() ? fail(Errc::not_found, "") : open_current(source->compiled);
  if (!tokenizer) {
    TRY_VOID(compile(name));
    tokenizer = open_current(source->compiled);
  }
  if (tokenizer) state_->opened.emplace(std::string(name), *tokenizer);
  return tokenizer;
}

Result<Tokenizer> TokenizerLibrary::open_file(const fs::path& definition) const {
  if (definition.extension() == ".ptok") return open_current(definition);
  TRY(const auto file, base::MappedFile::open(definition));
  // In a GGUF file only the start describes the tokenizer, so the weights are not hashed.
  constexpr std::size_t hashed = std::size_t{64} << 20;
  const std::string sum =
      base::sha256_hex(fmt::format("{}:{}:", definition.filename().string(), file.text().size()) +
                       std::string(file.text().substr(0, hashed)));
  const fs::path compiled = state_->compiled / "files" / fmt::format("{}.ptok", sum.substr(0, 32));
  if (auto ready = open_current(compiled)) return ready;
  std::string config;
  if (const fs::path beside = definition.parent_path() / "tokenizer_config.json"; fs::exists(beside)) {
    TRY(config, base::read_file(beside, 64U << 20));
  }
  TRY(count::Definition read, define(file.text(), config, definition.filename().string()));
  read.info.source = definition.string();
  read.info.licence = read.info.upstream = "as its file came";
  TRY(const std::string bytes, count::compile(read));
  TRY_VOID(base::write_atomically(compiled, bytes));
  return open_current(compiled);
}

}  // namespace plimsoll
