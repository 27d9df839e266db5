#include <algorithm>
#include <unordered_map>

#include <nlohmann/json.hpp>

#include "base/json/json_member.hpp"
#include "base/try.hpp"
#include "count/vocabulary/byte_alphabet.hpp"
#include "count/vocabulary/known_patterns.hpp"
#include "count/vocabulary/readers.hpp"

namespace plimsoll::count {
namespace {

using base::member;
using PlainJson = nlohmann::json;  // not ordered_json, which has linear lookups

std::string text_of(const PlainJson& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flag_of(const PlainJson& json, const char* key, bool otherwise = false) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_boolean() ? found->get<bool>() : otherwise;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string escaped(std::string_view literal) {
  std::string pattern;
  for (const char c : literal) {
    if (std::string_view(R"(\^$.|?*+()[]{}-#)").find(c) != std::string_view::npos) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

// The combined result of the file's sections.
struct Reading {
  Definition& definition;
  bool byte_level = false;
  bool metaspace = false;
  std::vector<SplitStep> steps;
};

Result<void> read_normalizer(const PlainJson& json, Reading& reading) {
  Normalizer& n = reading.definition.normalizer;
  if (json.is_null()) return {};
  const std::string type = text_of(json, "type");
  if (type == "Sequence") {
    for (const PlainJson& inner : member(json, "normalizers")) TRY_VOID(read_normalizer(inner, reading));
  } else if (type == "NFC") {
    n.form = Normalizer::Form::nfc;
  } else if (type == "NFD") {
    n.form = Normalizer::Form::nfd;
  } else if (type == "NFKC") {
    n.form = Normalizer::Form::nfkc;
  } else if (type == "NFKD") {
    n.form = Normalizer::Form::nfkd;
  } else if (type == "Lowercase") {
    n.lower_case = true;
  } else if (type == "Replace" && text_of(member(json, "pattern"), "String") == " " &&
             text_of(json, "content") == space_mark) {
    n.bar_is_space = reading.metaspace = true;
  } else if (type == "Prepend" && text_of(json, "prepend") == space_mark) {
    n.prefix_space = true;
  } else if (type == "BertNormalizer") {
    n.clean_text = flag_of(json, "clean_text", true);
    n.split_han = flag_of(json, "handle_chinese_chars", true);
    n.lower_case = flag_of(json, "lowercase", true);
    n.strip_accents = flag_of(json, "strip_accents", n.lower_case);
  } else if (type == "Precompiled") {
    // SentencePiece's character map; the known ones are NFKC with a few additions.
    n.form = Normalizer::Form::nfkc;
    n.collapse_spaces = true;
  } else if (type == "Strip" || (type == "Replace" && text_of(json, "content") == " ")) {
    n.collapse_spaces = true;
  } else {
    return fail(Errc::unsupported, "the normalizer '{}' is not supported", json.dump());
  }
  return {};
}

Result<void> read_split(const PlainJson& json, Reading& reading) {
  const PlainJson& pattern = member(json, "pattern");
  SplitStep step;
  step.pattern = pattern.contains("Regex") ? text_of(pattern, "Regex") : escaped(text_of(pattern, "String"));
  step.invert = flag_of(json, "invert");
  const std::string behaviour = text_of(json, "behavior");
  using enum SplitStep::Behaviour;
  if (behaviour == "Isolated")
    step.behaviour = isolated;
  else if (behaviour == "MergedWithPrevious")
    step.behaviour = merged_with_previous;
  else if (behaviour == "MergedWithNext")
    step.behaviour = merged_with_next;
  else if (behaviour == "Contiguous")
    step.behaviour = contiguous;
  else if (behaviour == "Removed" && step.invert)  // matches are kept, with nothing between them
    step.behaviour = isolated, step.invert = false;
  else
    return fail(Errc::unsupported, "a pre-tokeniser that drops text ('{}') cannot be counted exactly",
                behaviour);
  // Splitting at spaces that the normalizer has replaced does nothing.
  if (!(reading.metaspace && step.pattern == " ")) reading.steps.push_back(step);
  return {};
}

Result<void> read_pre_tokenizer(const PlainJson& json, Reading& reading) {
  if (json.is_null()) return {};
  const std::string type = text_of(json, "type");
  using enum SplitStep::Behaviour;
  if (type == "Sequence") {
    for (const PlainJson& inner : member(json, "pretokenizers")) TRY_VOID(read_pre_tokenizer(inner, reading));
  } else if (type == "ByteLevel") {
    reading.byte_level = true;
    if (flag_of(json, "add_prefix_space"))
      reading.definition.normalizer.prefix_space = reading.definition.normalizer.prefix_unless_space = true;
    if (flag_of(json, "use_regex", true))
      reading.steps.push_back({std::string(gpt2_pattern()), isolated, false});
  } else if (type == "Digits") {
    reading.steps.push_back({R"(\p{N})", flag_of(json, "individual_digits") ? isolated : contiguous, false});
  } else if (type == "Punctuation") {
    reading.steps.push_back({R"([\p{P}$+<=>^`|~])", isolated, false});
  } else if (type == "Split") {
    TRY_VOID(read_split(json, reading));
  } else if (type == "Metaspace") {
    Normalizer& n = reading.definition.normalizer;
    const std::string scheme = text_of(json, "prepend_scheme");
    n.bar_is_space = reading.metaspace = true;
    n.prefix_space = scheme.empty() ? flag_of(json, "add_prefix_space", true) : scheme != "never";
    n.prefix_unless_space = true;
    n.prefix_first_only = scheme == "first";
  } else if (type == "WhitespaceSplit" || type == "Whitespace") {
    reading.steps.push_back({type == "Whitespace" ? R"(\w+|[^\w\s]+)" : R"(\S+)", isolated, false});
  } else if (type == "BertPreTokenizer") {
    reading.steps.push_back({R"(\s)", isolated, false});
    reading.steps.push_back({R"([\p{P}$+<=>^`|~])", isolated, false});
  } else {
    return fail(Errc::unsupported, "the pre-tokeniser '{}' is not supported", type);
  }
  return {};
}

bool is_byte_token(std::string_view text, int& byte) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return false;
  const auto digit = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  if (digit(text[3]) < 0 || digit(text[4]) < 0) return false;
  byte = digit(text[3]) * 16 + digit(text[4]);
  return true;
}

// Returns the bytes of a vocabulary entry, in the encoding of this file.
std::string bytes_of(const std::string& token, const Reading& reading) {
  if (reading.byte_level) return from_byte_alphabet(token).value_or(token);
  return reading.metaspace ? replace_all(token, space_mark, " ") : token;
}

Result<void> read_bpe(const PlainJson& model, Reading& reading) {
  Definition& d = reading.definition;
  if (!text_of(model, "continuing_subword_prefix").empty() || !text_of(model, "end_of_word_suffix").empty())
    return fail(Errc::unsupported, "BPE with a prefix or suffix inside words is not supported");
  d.kind = reading.byte_level ? ModelKind::bpe_bytes : ModelKind::bpe_chars;
  d.info.kind = reading.byte_level ? "byte-level BPE" : "SentencePiece BPE";
  d.whole_piece_first = flag_of(model, "ignore_merges");
  d.fuse_unknown = flag_of(model, "fuse_unk");
  const bool byte_fallback = flag_of(model, "byte_fallback");
  const std::string unknown = text_of(model, "unk_token");
  const PlainJson& vocabulary = member(model, "vocab");
  if (!vocabulary.is_object()) return fail(Errc::bad_input, "model.vocab is not an object");

  std::unordered_map<std::string, std::uint32_t> index;
  for (const auto& [token, id] : vocabulary.items()) {
    if (!id.is_number_unsigned()) return fail(Errc::bad_input, "the token '{}' has no id", token);
    const auto number = id.get<TokenId>();
    int byte = 0;
    if (byte_fallback && is_byte_token(token, byte)) {
      d.byte_tokens[static_cast<std::size_t>(byte)] = number;
      continue;
    }
    if (!unknown.empty() && token == unknown) {
      d.unknown = number;
      continue;
    }
    index.emplace(token, static_cast<std::uint32_t>(d.tokens.size()));
    d.tokens.push_back({bytes_of(token, reading), number, 0});
  }
  for (const PlainJson& merge : member(model, "merges")) {
    std::string left, right;
    if (merge.is_string()) {
      const auto both = merge.get<std::string>();
      const std::size_t space = both.find(' ', 1);
      if (space == std::string::npos) return fail(Errc::bad_input, "'{}' is not a merge", both);
      left = both.substr(0, space);
      right = both.substr(space + 1);
    } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      left = merge[0].get<std::string>();
      right = merge[1].get<std::string>();
    } else {
      return fail(Errc::bad_input, "'{}' is not a merge", merge.dump());
    }
    const auto l = index.find(left);
    const auto r = index.find(right);
    if (l == index.end() || r == index.end())
      return fail(Errc::bad_input, "the merge '{} {}' names a token that is not in the vocabulary", left,
                  right);
    d.merges.emplace_back(l->second, r->second);
  }
  return {};
}

Result<void> read_unigram(const PlainJson& model, Reading& reading) {
  Definition& d = reading.definition;
  d.kind = ModelKind::unigram;
  d.info.kind = "unigram";
  d.info.takes_any_bytes = false;
  const PlainJson& vocabulary = member(model, "vocab");
  const PlainJson& unknown = member(model, "unk_id");
  if (!vocabulary.is_array()) return fail(Errc::bad_input, "model.vocab is not a list");
  if (unknown.is_number_unsigned()) d.unknown = unknown.get<std::int64_t>();
  const bool byte_fallback = flag_of(model, "byte_fallback");
  TokenId id = 0;
  for (const PlainJson& entry : vocabulary) {
    if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
      return fail(Errc::bad_input, "'{}' is not a token and its score", entry.dump());
    const auto token = entry[0].get<std::string>();
    int byte = 0;
    if (byte_fallback && is_byte_token(token, byte))
      d.byte_tokens[static_cast<std::size_t>(byte)] = id;
    else if (id != d.unknown)
      d.tokens.push_back({bytes_of(token, reading), id, entry[1].get<double>()});
    ++id;
  }
  return {};
}

Result<void> read_wordpiece(const PlainJson& model, Reading& reading) {
  Definition& d = reading.definition;
  d.kind = ModelKind::wordpiece;
  d.info.kind = "wordpiece";
  d.info.takes_any_bytes = false;
  const std::string prefix = text_of(model, "continuing_subword_prefix");
  if (prefix != "##")
    return fail(Errc::unsupported, "WordPiece with '{}' before continuations is not supported, only '##'",
                prefix);
  const std::string unknown = text_of(model, "unk_token");
  const PlainJson& longest = member(model, "max_input_chars_per_word");
  if (longest.is_number_unsigned()) d.longest_word = longest.get<std::size_t>();
  for (const auto& [token, id] : member(model, "vocab").items()) {
    if (!id.is_number_unsigned()) return fail(Errc::bad_input, "the token '{}' has no id", token);
    if (token == unknown) d.unknown = id.get<std::int64_t>();
    d.tokens.push_back({token, id.get<TokenId>(), 0});
  }
  return {};
}

void read_added(const PlainJson& list, Definition& definition) {
  for (const PlainJson& entry : list) {
    if (!member(entry, "id").is_number_unsigned()) continue;
    AddedToken token;
    token.text = text_of(entry, "content");
    token.id = entry["id"].get<TokenId>();
    token.special = flag_of(entry, "special");
    token.strips_left = flag_of(entry, "lstrip");
    token.strips_right = flag_of(entry, "rstrip");
    token.whole_word = flag_of(entry, "single_word");
    token.normalized = flag_of(entry, "normalized");
    definition.added.push_back(std::move(token));
  }
}

// Reads the BOS token, if the post-processor adds one.
void read_post_processor(const PlainJson& json, Definition& definition) {
  const std::string type = text_of(json, "type");
  if (type == "Sequence") {
    for (const PlainJson& inner : member(json, "processors")) read_post_processor(inner, definition);
  } else if (type == "TemplateProcessing") {
    const PlainJson& single = member(json, "single");
    if (single.is_array() && !single.empty() && single[0].contains("SpecialToken")) {
      definition.info.bos = text_of(single[0]["SpecialToken"], "id");
      definition.info.adds_bos = true;
    }
  }
}

// A token in the configuration is a string, or an object with the text.
std::string token_text(const PlainJson& config, const char* key) {
  const PlainJson& value = member(config, key);
  return value.is_string() ? value.get<std::string>() : text_of(value, "content");
}

void read_config(std::string_view text, Definition& definition) {
  const PlainJson config = PlainJson::parse(text, nullptr, false);
  if (!config.is_object()) return;
  const PlainJson& chat = member(config, "chat_template");
  if (chat.is_string()) definition.info.chat_template = chat.get<std::string>();
  if (chat.is_array()) {
    for (const PlainJson& named : chat) {
      if (text_of(named, "name") == "default") definition.info.chat_template = text_of(named, "template");
    }
  }
  if (const std::string bos = token_text(config, "bos_token"); !bos.empty()) definition.info.bos = bos;
  if (const std::string eos = token_text(config, "eos_token"); !eos.empty()) definition.info.eos = eos;
  definition.info.adds_bos = flag_of(config, "add_bos_token", definition.info.adds_bos);
}

}  // namespace

Result<Definition> read_tokenizer_json(std::string_view file, std::string_view config) {
  const PlainJson json = PlainJson::parse(file, nullptr, false);
  if (!json.is_object() || !member(json, "model").is_object())
    return fail(Errc::bad_input, "this is not a tokenizer.json: it has no object 'model'");
  Definition definition;
  Reading reading{definition, false, false, {}};
  TRY_VOID(read_normalizer(member(json, "normalizer"), reading));
  TRY_VOID(read_pre_tokenizer(member(json, "pre_tokenizer"), reading));
  const PlainJson& model = json["model"];
  const std::string type = model.contains("type")     ? text_of(model, "type")
                           : model.contains("merges") ? "BPE"
                                                      : "Unigram";
  if (type == "BPE") {
    TRY_VOID(read_bpe(model, reading));
  } else if (type == "Unigram") {
    TRY_VOID(read_unigram(model, reading));
  } else if (type == "WordPiece") {
    TRY_VOID(read_wordpiece(model, reading));
  } else {
    return fail(Errc::unsupported, "the model '{}' is not BPE, Unigram or WordPiece", type);
  }
  if (reading.steps.empty()) {
    definition.splitter = definition.kind == ModelKind::bpe_bytes ? Splitter::whole : Splitter::seams;
  } else if (const auto known = known_splitter(reading.steps)) {
    definition.splitter = *known;
  } else {
    definition.splitter = Splitter::regex;
    definition.split_steps = reading.steps;
    TRY_VOID(RegexSplitter::make(reading.steps));
  }
  read_added(member(json, "added_tokens"), definition);
  read_post_processor(member(json, "post_processor"), definition);
  read_config(config, definition);
  return definition;
}

}  // namespace plimsoll::count
