// The tokenizer in a GGUF file.
#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/try.hpp"
#include "count/vocabulary/byte_alphabet.hpp"
#include "count/vocabulary/gguf_metadata.hpp"
#include "count/vocabulary/known_patterns.hpp"
#include "count/vocabulary/readers.hpp"
#include "count/vocabulary/spm_pieces.hpp"

namespace plimsoll::count {
namespace {

std::vector<SpmPiece> pieces_of(const GgufMetadata& metadata) {
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

Result<Definition> byte_level(const GgufMetadata& metadata, const std::vector<SpmPiece>& pieces) {
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
                "the GGUF file uses the unknown pre-tokeniser '{}'; use the "
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
  TRY(const GgufMetadata metadata, read_gguf_metadata(file));
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
