// Reads two JSON formats with ranked bytes like `.tiktoken`: Mistral's tekken and Anthropic's claude.
#include <algorithm>
#include <array>
#include <charconv>

#include <nlohmann/json.hpp>

#include "base/try.hpp"
#include "count/vocabulary/known_patterns.hpp"
#include "count/vocabulary/readers.hpp"

namespace plimsoll::count {
namespace {

using PlainJson = nlohmann::json;

Result<void> cut_by(const std::string& pattern, Definition& definition) {
  const std::vector<SplitStep> steps{{pattern, SplitStep::Behaviour::isolated, false}};
  if (const auto known = known_splitter(steps)) {
    definition.splitter = *known;
    return {};
  }
  definition.splitter = Splitter::regex;
  definition.split_steps = steps;
  TRY_VOID(RegexSplitter::make(steps));
  return {};
}

Definition ranked_bytes() {
  Definition definition;
  definition.info.kind = "byte-level BPE";
  definition.by_rank = true;
  definition.whole_piece_first = true;
  return definition;
}

// The first special tokens if a file does not list them; the rest are fillers.
constexpr std::array<std::string_view, 14> tekken_specials{"<unk>",
                                                           "<s>",
                                                           "</s>",
                                                           "[INST]",
                                                           "[/INST]",
                                                           "[AVAILABLE_TOOLS]",
                                                           "[/AVAILABLE_TOOLS]",
                                                           "[TOOL_RESULTS]",
                                                           "[/TOOL_RESULTS]",
                                                           "[TOOL_CALLS]",
                                                           "<pad>",
                                                           "[PREFIX]",
                                                           "[MIDDLE]",
                                                           "[SUFFIX]"};

}  // namespace

Result<Definition> read_tekken(std::string_view file) {
  const PlainJson json = PlainJson::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("config") || !json.contains("vocab") || !json["vocab"].is_array())
    return fail(Errc::bad_input, "this is not a tekken.json: it has no 'config' and 'vocab'");
  const PlainJson& config = json["config"];
  const auto size = config.value("default_vocab_size", std::size_t{0});
  const auto specials = config.value("default_num_special_tokens", std::size_t{0});
  if (size <= specials)
    return fail(Errc::bad_input, "a vocabulary of {} with {} special tokens has no room for text", size,
                specials);
  Definition definition = ranked_bytes();
  TRY_VOID(cut_by(config.value("pattern", ""), definition));
  for (const PlainJson& entry : json["vocab"]) {
    const auto rank = entry.value("rank", std::size_t{0});
    if (rank >= size - specials) continue;  // the file has more tokens than the model
    TRY(auto bytes, decode_base64(entry.value("token_bytes", "")));
    definition.tokens.push_back({std::move(bytes), static_cast<TokenId>(rank + specials), 0});
  }
  std::ranges::sort(definition.tokens, {}, &VocabularyEntry::id);
  if (json.contains("special_tokens") && json["special_tokens"].is_array()) {
    for (const PlainJson& token : json["special_tokens"])
      definition.added.push_back(
          {.text = token.value("token_str", ""), .id = token.value("rank", TokenId{0}), .special = true});
  } else {
    for (std::size_t i = 0; i < specials; ++i)
      definition.added.push_back({.text = i < tekken_specials.size() ? std::string(tekken_specials[i])
                                                                     : fmt::format("<SPECIAL_{}>", i),
                                  .id = static_cast<TokenId>(i),
                                  .special = true});
  }
  definition.info.bos = "<s>";
  definition.info.eos = "</s>";
  definition.info.adds_bos = true;
  return definition;
}

Result<Definition> read_claude(std::string_view file) {
  const PlainJson json = PlainJson::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("bpe_ranks") || !json["bpe_ranks"].is_string())
    return fail(Errc::bad_input, "this is not a claude.json: it has no text 'bpe_ranks'");
  Definition definition = ranked_bytes();
  definition.normalizer.form = Normalizer::Form::nfkc;
  TRY_VOID(cut_by(json.value("pat_str", ""), definition));

  // Lines of "! FIRST token token ...": ranks start at FIRST.
  const auto ranks = json["bpe_ranks"].get<std::string>();
  std::string_view rest = ranks;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    TokenId next = 0;
    std::size_t field = 0;
    for (std::size_t at = 0; at < line.size(); ++field) {
      const std::size_t end = std::min(line.find(' ', at), line.size());
      const std::string_view word = line.substr(at, end - at);
      at = end + 1;
      if (field == 1 && std::from_chars(word.data(), word.data() + word.size(), next).ec != std::errc{})
        return fail(Errc::bad_input, "'{}' is not a first rank", word);
      if (field < 2) continue;
      TRY(auto bytes, decode_base64(word));
      definition.tokens.push_back({std::move(bytes), next++, 0});
    }
  }
  if (json.contains("special_tokens")) {
    for (const auto& [text, id] : json["special_tokens"].items())
      definition.added.push_back({.text = text, .id = id.get<TokenId>(), .special = true});
  }
  return definition;
}

}  // namespace plimsoll::count
