#include "adapters/weaviate/objects.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <iterator>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/bm25.hpp"
#include "base/text/words.hpp"

namespace plimsoll::weaviate {
namespace {

constexpr std::uint64_t low12 = 0xfff, low48 = 0xffff'ffff'ffff;

std::string description_of(std::size_t embedders) {
  return fmt::format("Search data of Plimsoll, version {}, {} vectors. Derived: may be deleted at any time.",
                     schema_version, embedders);
}

Json text_property(const char* name, const char* type, const char* tokenization, bool filterable,
                   bool searchable) {
  return {{"name", name},
          {"dataType", {type}},
          {"tokenization", tokenization},
          {"indexFilterable", filterable},
          {"indexSearchable", searchable}};
}

Json number_property(const char* name, bool filterable, bool ranges) {
  return {{"name", name},
          {"dataType", {"number"}},
          {"indexFilterable", filterable},
          {"indexRangeFilters", ranges},
          {"indexSearchable", false}};
}

Json properties() {
  return {number_property("chunk", false, true),
          number_property("document", true, false),
          number_property("length", false, false),
          text_property("words", "text", "whitespace", true, true),
          text_property("language", "text", "field", true, false),
          text_property("mentions", "text[]", "field", true, false),
          text_property("titles", "text[]", "field", true, false),
          text_property("others", "text[]", "field", true, false),
          text_property("state", "text", "field", false, false)};
}

// Three digits are more than a bf16 number has.
void append_vector(std::string& out, const std::vector<std::uint16_t>& vector) {
  char before = '[';
  for (const std::uint16_t half : vector) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16U);
    fmt::format_to(std::back_inserter(out), "{}{:.4g}", std::exchange(before, ','), value);
  }
  if (vector.empty()) out += '[';
  out += ']';
}

void append_names(std::string& out, const char* property, NameUse use,
                  const std::vector<base::ChunkName>& names) {
  std::vector<std::string_view> keys;
  for (const base::ChunkName& name : names)
    if (name.use == use) keys.push_back(name.key);
  if (keys.empty()) return;
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  fmt::format_to(std::back_inserter(out), ",\"{}\":", property);
  char before = '[';
  for (const std::string_view key : keys) {
    out += std::exchange(before, ',');
    base::append_json_string(out, key);
  }
  out += ']';
}

// Appends the stems of the chunk's words, and returns how many there are.
std::int64_t append_words(std::string& out, const StoredChunk& chunk, base::TextLanguage language) {
  std::int64_t words = 0;
  std::string stems;
  for (const std::string_view text : base::searched_texts(chunk)) {
    for (base::WordScanner scanner(text); scanner.next();) {
      const base::StemmedWord word = base::stem_word(scanner.written(), scanner.folded(), language);
      if (word.stop) continue;
      if (words++ > 0) stems += ' ';
      stems += word.stem;
    }
  }
  base::append_json_string(out, stems);
  return words;
}

}  // namespace

std::string object_id(ChunkId chunk, DocumentId document) {
  const auto c = static_cast<std::uint64_t>(chunk), d = static_cast<std::uint64_t>(document);
  return fmt::format("{:08x}-{:04x}-8{:03x}-8{:03x}-{:012x}", c >> 28U, c >> 12U & 0xffffU, c & low12,
                     d >> 48U & low12, d & low48);
}

std::optional<ObjectIds> read_object_id(std::string_view id) {
  constexpr std::size_t length = 36;
  if (id.size() != length) return {};
  std::string digits;  // without dashes, and without the version and the variant
  for (std::size_t i = 0; i < length; ++i)
    if (id[i] != '-' && i != 14 && i != 19) digits += id[i];
  std::uint64_t chunk = 0, document = 0;
  const char *middle = digits.data() + 15, *end = digits.data() + digits.size();
  if (digits.size() != 30 || std::from_chars(digits.data(), middle, chunk, 16).ptr != middle ||
      std::from_chars(middle, end, document, 16).ptr != end)
    return {};
  return ObjectIds{static_cast<ChunkId>(chunk), static_cast<DocumentId>(document)};
}

std::string progress_text(const Progress& progress) {
  return Json{{"version", schema_version},  {"revision", progress.revision}, {"highest", progress.highest},
              {"whole", progress.is_whole}, {"chunks", progress.chunks},     {"words", progress.words}}
      .dump();
}

std::optional<Progress> read_progress(std::string_view text) {
  const Json read = base::parse_json(text);
  const auto number = [&](const char* key) -> std::int64_t {
    const Json& value = base::member(read, key);
    return value.is_number_integer() ? value.get<std::int64_t>() : -1;
  };
  const Json& whole = base::member(read, "whole");
  Progress out{number("revision"), number("highest"), whole.is_boolean() && whole.get<bool>(),
               number("chunks"), number("words")};
  if (number("version") != schema_version || out.revision < 0 || out.highest < 0 || out.chunks < 0 ||
      out.words < 0)
    return {};
  return out;
}

WrittenObject ObjectWriter::write(const StoredChunk& chunk,
                                  std::span<const std::vector<std::uint16_t>> whole_by_embedder) {
  WrittenObject out{object_id(chunk.id, chunk.document), {}, 0};
  const base::TextLanguage language = language_.next(chunk.document, chunk.text);
  std::string& json = out.json;
  json = fmt::format(R"({{"class":"{}","id":"{}","properties":{{"chunk":{},"document":{},"words":)",
                     collection_, out.id, chunk.id, chunk.document);
  out.words = append_words(json, chunk, language);
  fmt::format_to(std::back_inserter(json), ",\"length\":{}", out.words);
  if (language != base::TextLanguage::english)
    fmt::format_to(std::back_inserter(json), ",\"language\":\"{}\"", base::name_of(language));
  base::read_chunk_names(chunk, names_);
  append_names(json, "mentions", NameUse::mention, names_);
  append_names(json, "titles", NameUse::title, names_);
  append_names(json, "others", NameUse::other, names_);
  json += "},\"vectors\":{";
  bool is_first = true;
  for (std::size_t e = 0; e < dimensions_.size() && e < whole_by_embedder.size(); ++e) {
    if (whole_by_embedder[e].size() != dimensions_[e]) continue;
    fmt::format_to(std::back_inserter(json), "{}\"e{}\":", std::exchange(is_first, false) ? "" : ",", e);
    append_vector(json, whole_by_embedder[e]);
  }
  json += "}}";
  return out;
}

std::string progress_object(std::string_view collection, const Progress& progress) {
  return Json{
      {"class", collection}, {"id", object_id(0, 0)}, {"properties", {{"state", progress_text(progress)}}}}
      .dump();
}

std::string collection_schema(std::string_view collection, std::size_t embedders, const Address& address) {
  Json schema{
      {"class", collection},
      {"description", description_of(embedders)},
      {"properties", properties()},
      {"invertedIndexConfig",
       {{"bm25", {{"k1", base::bm25_k1}, {"b", base::bm25_b}}}, {"stopwords", {{"preset", "none"}}}}},
      {"replicationConfig", {{"factor", address.replication}, {"asyncEnabled", address.replication > 1}}}};
  schema["shardingConfig"] = {{"desiredCount", address.shards}};
  for (std::size_t e = 0; e < embedders; ++e)
    schema["vectorConfig"][fmt::format("e{}", e)] = {{"vectorizer", {{"none", Json::object()}}},
                                                     {"vectorIndexType", "hnsw"},
                                                     {"vectorIndexConfig", {{"distance", "dot"}}}};
  if (embedders == 0) {
    schema["vectorizer"] = "none";
    schema["vectorIndexConfig"] = {{"skip", true}};
  }
  return schema.dump();
}

bool is_our_schema(const Json& schema, std::size_t embedders) {
  return base::text_in(schema, "description") == description_of(embedders);
}

}  // namespace plimsoll::weaviate
