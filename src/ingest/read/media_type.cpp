#include "ingest/read/media_type.hpp"

#include <algorithm>
#include <array>

#include "base/text/text.hpp"

namespace plimsoll::ingest {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  std::string_view kind;
};

constexpr std::array binary_kinds{
    Magic{"\x89PNG\r\n\x1A\n"sv, "a PNG image"},
    Magic{"\xFF\xD8\xFF"sv, "a JPEG image"},
    Magic{"GIF87a"sv, "a GIF image"},
    Magic{"GIF89a"sv, "a GIF image"},
    Magic{"\x1F\x8B"sv, "gzip"},
    Magic{"BZh9"sv, "bzip2"},
    Magic{"\xFD"
          "7zXZ\0"sv,
          "xz"},
    Magic{"7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive"},
    Magic{"\x28\xB5\x2F\xFD"sv, "zstd"},
    Magic{"Rar!\x1A\x07"sv, "a RAR archive"},
    Magic{"\x7F"
          "ELF"sv,
          "a program (ELF)"},
    Magic{"SQLite format 3\0"sv, "an SQLite database"},
    Magic{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "an old Office file (.doc, .xls, .ppt); save it as .docx"},
    Magic{"\0asm"sv, "WebAssembly"},
    Magic{"OggS"sv, "Ogg sound"},
    Magic{"ID3"sv, "MP3 sound"},
    Magic{"fLaC"sv, "FLAC sound"},
    Magic{"GGUF"sv, "a GGUF model"},
};

struct Ending {
  std::string_view ending;
  MediaType type;
};

constexpr MediaType code(Language language, std::string_view name) {
  return {.format = Format::code, .language = language, .name = name};
}
constexpr MediaType lines(std::string_view name) {
  return {.format = Format::lines, .name = name};
}

constexpr std::array endings{
    Ending{"md", {.format = Format::markdown, .name = "text/markdown"}},
    Ending{"markdown", {.format = Format::markdown, .name = "text/markdown"}},
    Ending{"mdx", {.format = Format::markdown, .name = "text/markdown"}},
    Ending{"html", {.format = Format::html, .name = "text/html"}},
    Ending{"htm", {.format = Format::html, .name = "text/html"}},
    Ending{"xhtml", {.format = Format::html, .name = "text/html"}},
    Ending{"csv", {.format = Format::csv, .name = "text/csv"}},
    Ending{"tsv", {.format = Format::csv, .name = "text/tab-separated-values", .separator = '\t'}},
    Ending{"json", {.format = Format::json, .name = "application/json"}},
    Ending{"geojson", {.format = Format::json, .name = "application/json"}},
    Ending{"ipynb", {.format = Format::json, .name = "application/json"}},
    Ending{"jsonl", {.format = Format::json_lines, .name = "application/jsonl"}},
    Ending{"ndjson", {.format = Format::json_lines, .name = "application/jsonl"}},
    Ending{"c", code(Language::c, "text/x-c")},
    Ending{"h", code(Language::cpp, "text/x-c++")},  // C++ covers nearly all of C
    Ending{"cc", code(Language::cpp, "text/x-c++")},
    Ending{"cpp", code(Language::cpp, "text/x-c++")},
    Ending{"cxx", code(Language::cpp, "text/x-c++")},
    Ending{"hh", code(Language::cpp, "text/x-c++")},
    Ending{"hpp", code(Language::cpp, "text/x-c++")},
    Ending{"hxx", code(Language::cpp, "text/x-c++")},
    Ending{"ipp", code(Language::cpp, "text/x-c++")},
    Ending{"cu", code(Language::cpp, "text/x-c++")},
    Ending{"py", code(Language::python, "text/x-python")},
    Ending{"pyi", code(Language::python, "text/x-python")},
    Ending{"js", code(Language::javascript, "text/javascript")},
    Ending{"mjs", code(Language::javascript, "text/javascript")},
    Ending{"cjs", code(Language::javascript, "text/javascript")},
    Ending{"jsx", code(Language::javascript, "text/javascript")},
    Ending{"ts", code(Language::typescript, "text/typescript")},
    Ending{"mts", code(Language::typescript, "text/typescript")},
    Ending{"cts", code(Language::typescript, "text/typescript")},
    Ending{"tsx", code(Language::tsx, "text/typescript")},
    Ending{"go", code(Language::go, "text/x-go")},
    Ending{"rs", code(Language::rust, "text/x-rust")},
    Ending{"java", code(Language::java, "text/x-java")},
};

// Code and configuration without a grammar, read as lines.
constexpr std::array line_endings{
    "rb"sv,  "php"sv,   "cs"sv,         "kt"sv,     "kts"sv,    "swift"sv, "scala"sv, "lua"sv,    "pl"sv,
    "pm"sv,  "sh"sv,    "bash"sv,       "zsh"sv,    "fish"sv,   "ps1"sv,   "bat"sv,   "sql"sv,    "r"sv,
    "jl"sv,  "hs"sv,    "ml"sv,         "mli"sv,    "ex"sv,     "exs"sv,   "erl"sv,   "clj"sv,    "lisp"sv,
    "el"sv,  "scm"sv,   "zig"sv,        "nim"sv,    "d"sv,      "dart"sv,  "m"sv,     "mm"sv,     "f90"sv,
    "f"sv,   "pas"sv,   "asm"sv,        "s"sv,      "v"sv,      "vhd"sv,   "proto"sv, "thrift"sv, "graphql"sv,
    "tf"sv,  "cmake"sv, "mk"sv,         "gradle"sv, "groovy"sv, "toml"sv,  "yaml"sv,  "yml"sv,    "ini"sv,
    "cfg"sv, "conf"sv,  "properties"sv, "env"sv,    "css"sv,    "scss"sv,  "less"sv,  "vue"sv,    "svelte"sv,
    "xml"sv, "xsd"sv,   "xsl"sv,        "svg"sv,    "plist"sv,  "tex"sv,   "jinja"sv, "diff"sv,   "patch"sv,
    "awk"sv, "vim"sv,   "nix"sv,        "wat"sv};
constexpr std::array line_names{"makefile"sv, "dockerfile"sv, "cmakelists.txt"sv, "gnumakefile"sv,
                                "justfile"sv, "rakefile"sv,   "gemfile"sv,        "jenkinsfile"sv};

std::string_view without_blanks(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\f");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

// Returns whether the text starts like a page, ignoring comments and an XML declaration.
bool looks_like_html(std::string_view text) {
  text = without_blanks(text.substr(0, 16'384));
  for (int skipped = 0; skipped < 8; ++skipped) {
    const bool comment = text.starts_with("<!--");
    if (!comment && !text.starts_with("<?xml")) break;
    const std::size_t end = text.find(comment ? "-->" : "?>");
    if (end == std::string_view::npos) return false;
    text = without_blanks(text.substr(end + (comment ? 3 : 2)));
  }
  const std::string front = base::to_lower_ascii(text.substr(0, 32));
  return front.starts_with("<!doctype html") || front.starts_with("<html") || front.starts_with("<head>") ||
         front.starts_with("<body");
}

MediaType by_first_line(std::string_view text) {
  const std::string_view line = text.substr(0, std::min(text.find('\n'), std::size_t{200}));
  if (!line.starts_with("#!")) return {};
  if (line.find("python") != std::string_view::npos) return code(Language::python, "text/x-python");
  if (line.find("node") != std::string_view::npos) return code(Language::javascript, "text/javascript");
  return lines("text/x-script");
}

}  // namespace

Result<MediaType> packed_type(std::string_view bytes) {
  // Mail and web servers may add lines before it; PDF readers accept the mark in the first kilobyte.
  if (bytes.substr(0, 1024).find("%PDF-") != std::string_view::npos)
    return MediaType{.format = Format::pdf, .name = "application/pdf"};
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06"))
    return MediaType{.format = Format::docx,
                     .name = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"};
  for (const Magic& magic : binary_kinds)
    if (bytes.starts_with(magic.bytes)) return fail(Errc::unsupported, "binary: {}", magic.kind);
  if (bytes.size() > 12 && bytes.starts_with("RIFF") && bytes.find('\0') < 64)
    return fail(Errc::unsupported, "binary: RIFF (sound, video or a WebP image)");
  return MediaType{};
}

std::string_view packed_kind(std::string_view bytes) {
  const auto type = packed_type(bytes);
  if (!type) return "";
  if (type->format == Format::pdf) return "PDF";
  return type->format == Format::docx ? ".docx" : "";
}

MediaType text_type(std::string_view text, std::string_view name) {
  if (const std::size_t slash = name.find_last_of("/\\"); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  const std::string lower = base::to_lower_ascii(name);
  const std::size_t dot = lower.rfind('.');
  const std::string_view ending =
      dot == std::string::npos ? std::string_view{} : std::string_view(lower).substr(dot + 1);

  const auto* const known =
      std::find_if(endings.begin(), endings.end(), [&](const Ending& one) { return one.ending == ending; });
  if (known != endings.end()) {
    const Format format = known->type.format;
    // Code and tables may contain HTML; a page named .txt or .md is HTML.
    if (format != Format::markdown || !looks_like_html(text)) return known->type;
  }
  if (looks_like_html(text)) return {.format = Format::html, .name = "text/html"};
  if (std::find(line_endings.begin(), line_endings.end(), ending) != line_endings.end() ||
      std::find(line_names.begin(), line_names.end(), lower) != line_names.end())
    return lines("text/plain");
  if (const MediaType script = by_first_line(text); script.format != Format::text) return script;
  // Without a known name: an object or a list of objects. The reader falls back if it is not JSON.
  const std::string_view front = without_blanks(text.substr(0, 4096));
  if ((ending.empty() || ending == "txt" || ending == "log") &&
      (front.starts_with("{\"") || front.starts_with("[{") || front.starts_with("{\n") ||
       front.starts_with("[\n")))
    return {.format = Format::json, .name = "application/json"};
  return {};
}

}  // namespace plimsoll::ingest
