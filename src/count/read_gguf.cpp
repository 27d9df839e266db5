// The tokenizer in a GGUF file: key and value pairs at its front, before the tensors.
#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <variant>

#include "base/try.hpp"
#include "count/byte_alphabet.hpp"
#include "count/known_patterns.hpp"
#include "count/readers.hpp"
#include "count/spm_pieces.hpp"

namespace plimsoll::count {
namespace {

enum ValueType : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };

class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
  Result<T> number() {
    T value;
    if (rest_.size() < sizeof value) return fail(Errc::bad_input, "the GGUF file is cut off");
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }

  Result<std::string_view> text() {
    TRY(const auto size, number<std::uint64_t>());
    if (size > rest_.size())
      return fail(Errc::bad_input, "a text of {} bytes is cut off in the GGUF file", size);
    const std::string_view value = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return value;
  }

  std::size_t left() const { return rest_.size(); }

 private:
  std::string_view rest_;
};

struct Metadata {
  std::unordered_map<std::string_view, std::string_view> texts;
  std::unordered_map<std::string_view, std::int64_t> numbers;
  std::unordered_map<std::string_view, std::vector<std::string_view>> text_lists;
  std::unordered_map<std::string_view, std::vector<double>> number_lists;

  std::string text(std::string_view key) const {
    const auto found = texts.find(key);
    return found == texts.end() ? std::string() : std::string(found->second);
  }
  std::int64_t number(std::string_view key, std::int64_t otherwise) const {
    const auto found = numbers.find(key);
    return found == numbers.end() ? otherwise : found->second;
  }
};

Result<double> scalar(Bytes& bytes, std::uint32_t type) {
  const auto as_double = [](auto value) { return static_cast<double>(value); };
  switch (type) {
    case u8:
    case boolean: return bytes.number<std::uint8_t>().map(as_double);
    case i8: return bytes.number<std::int8_t>().map(as_double);
    case u16: return bytes.number<std::uint16_t>().map(as_double);
    case i16: return bytes.number<std::int16_t>().map(as_double);
    case u32: return bytes.number<std::uint32_t>().map(as_double);
    case i32: return bytes.number<std::int32_t>().map(as_double);
    case f32: return bytes.number<float>().map(as_double);
    case u64: return bytes.number<std::uint64_t>().map(as_double);
    case i64: return bytes.number<std::int64_t>().map(as_double);
    case f64: return bytes.number<double>();
    default: return fail(Errc::bad_input, "a value in the GGUF file has type {}, which does not exist", type);
  }
}

Result<void> read_list(Bytes& bytes, std::string_view key, Metadata& metadata) {
  TRY(const auto type, bytes.number<std::uint32_t>());
  TRY(const auto size, bytes.number<std::uint64_t>());
  if (size > bytes.left())
    return fail(Errc::bad_input, "a list of {} values is cut off in the GGUF file", size);
  if (type == string) {
    auto& list = metadata.text_lists[key];
    for (std::uint64_t i = 0; i < size; ++i) {
      TRY(const auto text, bytes.text());
      list.push_back(text);
    }
    return {};
  }
  if (type == array) return fail(Errc::unsupported, "the GGUF file has a list of lists under '{}'", key);
  auto& list = metadata.number_lists[key];
  for (std::uint64_t i = 0; i < size; ++i) {
    TRY(const double value, scalar(bytes, type));
    list.push_back(value);
  }
  return {};
}

Result<Metadata> read_metadata(std::string_view file) {
  Bytes bytes(file);
  TRY(const auto magic, bytes.number<std::uint32_t>());
  TRY(const auto version, bytes.number<std::uint32_t>());
  if (magic != 0x46554747) return fail(Errc::bad_input, "this is not a GGUF file");
  if (version < 2 || version > 3)
    return fail(Errc::unsupported, "GGUF version {} is not supported, only 2 and 3", version);
  TRY_VOID(bytes.number<std::uint64_t>());  // tensors
  TRY(const auto pairs, bytes.number<std::uint64_t>());
  Metadata metadata;
  for (std::uint64_t i = 0; i < pairs; ++i) {
    TRY(const auto key, bytes.text());
    TRY(const auto type, bytes.number<std::uint32_t>());
    if (type == string) {
      TRY(metadata.texts[key], bytes.text());
    } else if (type == array) {
      TRY_VOID(read_list(bytes, key, metadata));
    } else {
      TRY(const double value, scalar(bytes, type));
      metadata.numbers[key] = value > -9e18 && value < 9e18 ? static_cast<std::int64_t>(value) : 0;
    }
  }
  return metadata;
}

std::vector<SpmPiece> pieces_of(const Metadata& metadata) {
  const auto find = [&](std::string_view key) -> std::vector<double> {
    const auto found = metadata.number_lists.find(key);
    return found == metadata.number_lists.end() ? std::vector<double>() : found->second;
  };
  const auto scores = find("tokenizer.ggml.scores");
  const auto types = find("tokenizer.ggml.token_type");
  std::vector<SpmPiece> pieces;
  const auto tokens = metadata.text_lists.find("tokenizer.ggml.tokens");
  if (tokens == metadata.text_lists.end()) return pieces;
  for (std::size_t i = 0; i < tokens->second.size(); ++i) {
    SpmPiece piece{.text = std::string(tokens->second[i])};
    if (i < scores.size()) piece.score = static_cast<float>(scores[i]);
    if (i < types.size()) piece.type = static_cast<SpmType>(std::clamp(types[i], 0.0, 7.0));
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

Result<Definition> byte_level(const Metadata& metadata, const std::vector<SpmPiece>& pieces) {
  Definition definition;
  definition.info.kind = "byte-level BPE";
  std::unordered_map<std::string, std::uint32_t> index;
  for (TokenId id = 0; id < pieces.size(); ++id) {
    const SpmPiece& piece = pieces[id];
    if (piece.type == SpmType::control || piece.type == SpmType::user_defined ||
        piece.type == SpmType::unknown) {
      definition.added.push_back(
          {.text = piece.text, .id = id, .special = piece.type != SpmType::user_defined});
      continue;
    }
    index.emplace(piece.text, static_cast<std::uint32_t>(definition.tokens.size()));
    definition.tokens.push_back({from_byte_alphabet(piece.text).value_or(piece.text), id, 0});
  }
  const auto merges = metadata.text_lists.find("tokenizer.ggml.merges");
  if (merges == metadata.text_lists.end())
    return fail(Errc::bad_input, "the GGUF file has a BPE tokenizer without merges");
  for (const std::string_view merge : merges->second) {
    const std::size_t space = merge.find(' ', 1);
    const auto left = index.find(std::string(merge.substr(0, space)));
    const auto right =
        space == std::string_view::npos ? index.end() : index.find(std::string(merge.substr(space + 1)));
    if (left == index.end() || right == index.end())
      return fail(Errc::bad_input, "the merge '{}' names a token that is not in the vocabulary", merge);
    definition.merges.emplace_back(left->second, right->second);
  }
  const std::string pre = metadata.text("tokenizer.ggml.pre");
  const auto steps = steps_of_gguf(pre.empty() ? "default" : pre);
  if (!steps)
    return fail(Errc::unsupported,
                "the GGUF file names the pre-tokeniser '{}', which this build does not know; give the "
                "model's tokenizer.json instead",
                pre);
  static constexpr std::array<std::string_view, 9> whole_first{
      "llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2", "tekken"};
  definition.whole_piece_first = std::ranges::find(whole_first, pre) != whole_first.end();
  if (const auto known = known_splitter(*steps)) {
    definition.splitter = *known;
  } else {
    definition.splitter = Splitter::regex;
    definition.split_steps = *steps;
  }
  return definition;
}

}  // namespace

Result<Definition> read_gguf(std::string_view file) {
  TRY(const Metadata metadata, read_metadata(file));
  const std::string model = metadata.text("tokenizer.ggml.model");
  const auto pieces = pieces_of(metadata);
  if (pieces.empty()) return fail(Errc::bad_input, "the GGUF file has no tokenizer");
  Definition definition;
  if (model == "gpt2") {
    TRY(definition, byte_level(metadata, pieces));
  } else if (model == "llama" || model == "t5") {
    definition = from_spm_pieces(pieces, model == "t5");
    definition.normalizer.prefix_space = metadata.number("tokenizer.ggml.add_space_prefix", 1) != 0;
  } else {
    return fail(Errc::unsupported,
                "the GGUF file has a tokenizer of kind '{}'; only gpt2, llama and t5 are supported", model);
  }
  const auto token_text = [&](const char* key) {
    const std::int64_t id = metadata.number(key, -1);
    return id >= 0 && static_cast<std::size_t>(id) < pieces.size() ? pieces[static_cast<std::size_t>(id)].text
                                                                   : std::string();
  };
  definition.info.bos = token_text("tokenizer.ggml.bos_token_id");
  definition.info.eos = token_text("tokenizer.ggml.eos_token_id");
  definition.info.adds_bos = metadata.number("tokenizer.ggml.add_bos_token", model == "llama" ? 1 : 0) != 0;
  definition.info.chat_template = metadata.text("tokenizer.chat_template");
  return definition;
}

}  // namespace plimsoll::count
