#include "count/info_json.hpp"

#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"

namespace plimsoll::count {

using PlainJson = nlohmann::json;

std::string to_json(const TokenizerInfo& info) {
  const PlainJson json{{"name", info.name},
                       {"kind", info.kind},
                       {"vocabulary", info.vocabulary},
                       {"source", info.source},
                       {"licence", info.licence},
                       {"upstream", info.upstream},
                       {"chat_template", info.chat_template},
                       {"bos", info.bos},
                       {"eos", info.eos},
                       {"adds_bos", info.adds_bos},
                       {"takes_any_bytes", info.takes_any_bytes}};
  return base::json_text(json);
}

Result<TokenizerInfo> info_from_json(std::string_view text) {
  const PlainJson json = PlainJson::parse(text, nullptr, false);
  if (!json.is_object()) return fail(Errc::damaged, "the description in the compiled tokenizer is damaged");
  TokenizerInfo info;
  info.name = json.value("name", "");
  info.kind = json.value("kind", "");
  info.vocabulary = json.value("vocabulary", std::size_t{0});
  info.source = json.value("source", "");
  info.licence = json.value("licence", "");
  info.upstream = json.value("upstream", "");
  info.chat_template = json.value("chat_template", "");
  info.bos = json.value("bos", "");
  info.eos = json.value("eos", "");
  info.adds_bos = json.value("adds_bos", false);
  info.takes_any_bytes = json.value("takes_any_bytes", true);
  return info;
}

std::string to_json(const std::vector<SplitStep>& steps) {
  PlainJson json = PlainJson::array();
  for (const SplitStep& step : steps)
    json.push_back({{"pattern", step.pattern},
                    {"behaviour", static_cast<int>(step.behaviour)},
                    {"invert", step.invert}});
  return json.dump();
}

Result<std::vector<SplitStep>> steps_from_json(std::string_view text) {
  const PlainJson json = PlainJson::parse(text, nullptr, false);
  if (!json.is_array()) return fail(Errc::damaged, "the pre-tokeniser in the compiled tokenizer is damaged");
  std::vector<SplitStep> steps;
  for (const PlainJson& step : json)
    steps.push_back({step.value("pattern", ""), static_cast<SplitStep::Behaviour>(step.value("behaviour", 0)),
                     step.value("invert", false)});
  return steps;
}

}  // namespace plimsoll::count
