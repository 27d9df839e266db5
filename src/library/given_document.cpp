#include "library/given_document.hpp"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "ingest/cut.hpp"
#include "ingest/read/readers.hpp"

namespace plimsoll::library {
namespace {

using ingest::Language;

struct NamedLanguage {
  std::string_view name;
  Language language;
  std::string_view media_type;
};

// Names of tree-sitter's grammars.
constexpr std::array parsed_languages{
    NamedLanguage{"c", Language::c, "text/x-c"},
    NamedLanguage{"cpp", Language::cpp, "text/x-c++"},
    NamedLanguage{"c++", Language::cpp, "text/x-c++"},
    NamedLanguage{"python", Language::python, "text/x-python"},
    NamedLanguage{"javascript", Language::javascript, "text/javascript"},
    NamedLanguage{"jsx", Language::javascript, "text/javascript"},
    NamedLanguage{"typescript", Language::typescript, "text/typescript"},
    NamedLanguage{"tsx", Language::tsx, "text/typescript"},
    NamedLanguage{"go", Language::go, "text/x-go"},
    NamedLanguage{"rust", Language::rust, "text/x-rust"},
    NamedLanguage{"java", Language::java, "text/x-java"},
};

// Known languages without a grammar, which are read by lines.
constexpr std::array<std::string_view, 48> line_languages{
    "bash",    "c_sharp",    "csharp",  "clojure",  "cmake",  "commonlisp", "css",    "cuda",
    "dart",    "dockerfile", "elisp",   "elixir",   "elm",    "erlang",     "fish",   "fortran",
    "graphql", "groovy",     "haskell", "hcl",      "html",   "ini",        "json",   "julia",
    "kotlin",  "lua",        "make",    "markdown", "matlab", "nix",        "objc",   "ocaml",
    "perl",    "php",        "proto",   "r",        "ruby",   "scala",      "scheme", "scss",
    "sql",     "svelte",     "swift",   "toml",     "vue",    "xml",        "yaml",   "zig"};

// Returns a metadata value as text; empty: missing or not a string.
std::string text_in(const Metadata& metadata, std::string_view key) {
  const auto found = metadata.find(key);
  if (found == metadata.end()) return {};
  const auto json = nlohmann::json::parse(found->second, nullptr, /*allow_exceptions=*/false);
  return json.is_string() ? json.get<std::string>() : std::string();
}

Result<ingest::ReadDocument> read_given_code(const GivenDocument& given, const ingest::ReadOptions& options) {
  const std::string language = base::to_lower_ascii(text_in(given.metadata, "language"));
  if (language.empty())
    return fail(Errc::unsupported,
                "Language not specified in node metadata. Put \"language\" beside \"split_type\": \"code\".");
  const auto* const parsed = std::ranges::find(parsed_languages, language, &NamedLanguage::name);
  if (parsed != parsed_languages.end())
    return ingest::read_code(
        given.text,
        {.format = ingest::Format::code, .language = parsed->language, .name = parsed->media_type}, options);
  if (std::ranges::find(line_languages, language) != line_languages.end())
    return ingest::read_lines(given.text, "text/plain");
  constexpr std::size_t shown = 60;
  return fail(Errc::unsupported,
              "Could not find language library for {}. Take the name of a language as tree-sitter has it "
              "(\"python\"), or leave split_type out.",
              language.substr(0, shown));
}

}  // namespace

Result<Document> make_given(const GivenDocument& given, const Tokenizer& tokenizer, Tokens chunk_tokens,
                            const ingest::ReadOptions& options) {
  TRY_VOID(ingest::check_size(given.text.size(), options));
  ingest::ReadDocument read;
  if (text_in(given.metadata, "split_type") == "code") {
    TRY(read, read_given_code(given, options));
  } else {
    read = ingest::read_text(given.text, "text/plain");
  }
  TRY(Document document, ingest::cut(std::move(read), tokenizer, {.chunk_tokens = chunk_tokens}));
  if (document.chunks.empty()) document.text.clear();  // only white space
  document.key = given.id;
  document.source_hash = base::sha256_hex(given.text);
  document.source_bytes = given.text.size();
  document.metadata = given.metadata;
  return document;
}

}  // namespace plimsoll::library
