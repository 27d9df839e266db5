#include "gateway/openai/check_json.hpp"

namespace plimsoll::gateway {

nlohmann::ordered_json check_json(std::string_view answer, const CheckedAnswer& check,
                                  std::span<const std::size_t> numbers, const char* passages) {
  using Json = nlohmann::ordered_json;
  Json sentences = Json::array();
  for (const CheckedSentence& sentence : check.sentences) {
    Json supporting = Json::array();
    for (const std::size_t index : sentence.passages) supporting.push_back(numbers[index]);
    sentences.push_back({{"text", answer.substr(sentence.span.start, sentence.span.size())},
                         {"verdict", name_of(sentence.verdict)},
                         {passages, std::move(supporting)},
                         {"reason", sentence.reason.empty() ? Json() : Json(sentence.reason)}});
  }
  return {{"supported", check.supported},
          {"unsupported", check.unsupported},
          {"sentences", std::move(sentences)}};
}

}  // namespace plimsoll::gateway
