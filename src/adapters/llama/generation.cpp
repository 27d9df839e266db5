#include "adapters/llama/generation.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "adapters/llama/grammar.hpp"
#include "base/json/json_member.hpp"
#include "base/try.hpp"

namespace plimsoll::llama {
namespace {

using base::member;
using Json = nlohmann::ordered_json;

constexpr std::size_t most_stops = 16;
constexpr std::size_t longest_stop = 256;

Result<void> read_number(const Json& body, const char* key, double least, double most, float& into) {
  const Json& value = member(body, key);
  if (value.is_null()) return {};
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!(number >= least && number <= most))
    return fail(Errc::bad_input, "{} must be a number from {} to {}", key, least, most);
  into = static_cast<float>(number);
  return {};
}

Result<void> read_sampling(const Json& body, Sampling& sampling) {
  TRY_VOID(read_number(body, "temperature", 0, 2, sampling.temperature));
  TRY_VOID(read_number(body, "top_p", 0, 1, sampling.top_p));
  TRY_VOID(read_number(body, "min_p", 0, 1, sampling.min_p));
  TRY_VOID(read_number(body, "repeat_penalty", 0.1, 10, sampling.repeat_penalty));
  TRY_VOID(read_number(body, "frequency_penalty", -2, 2, sampling.frequency_penalty));
  TRY_VOID(read_number(body, "presence_penalty", -2, 2, sampling.presence_penalty));
  float top_k = static_cast<float>(sampling.top_k);
  TRY_VOID(read_number(body, "top_k", 0, 1'000'000, top_k));
  sampling.top_k = static_cast<std::int32_t>(top_k);
  if (const Json& seed = member(body, "seed"); !seed.is_null()) {
    if (!seed.is_number_integer()) return fail(Errc::bad_input, "seed must be a whole number");
    sampling.seed = static_cast<std::uint32_t>(seed.get<std::int64_t>());
  }
  return {};
}

Result<void> read_length(const Json& body, Tokens& most) {
  most = usual_answer;
  for (const char* key : {"max_tokens", "max_completion_tokens"}) {
    const Json& value = member(body, key);
    if (value.is_null()) continue;
    if (!value.is_number_integer() || value.get<std::int64_t>() < 1)
      return fail(Errc::bad_input, "{} must be a whole number above 0", key);
    most = value.get<std::int64_t>();
  }
  return {};
}

Result<void> read_stop(const Json& body, std::vector<std::string>& stop) {
  const Json& value = member(body, "stop");
  if (value.is_null()) return {};
  const Json list = value.is_string() ? Json::array({value}) : value;
  if (!list.is_array() || list.size() > most_stops)
    return fail(Errc::bad_input, "stop must be a text, or a list of {} at most", most_stops);
  for (const Json& word : list) {
    if (!word.is_string() || word.get_ref<const std::string&>().size() > longest_stop)
      return fail(Errc::bad_input, "stop must hold texts of {} bytes at most", longest_stop);
    if (!word.get_ref<const std::string&>().empty()) stop.push_back(word.get<std::string>());
  }
  return {};
}

// {"type": "json_object"}, or {"type": "json_schema", "json_schema": {"schema": {...}}}.
Result<void> read_format(const Json& body, Sampling& sampling) {
  const Json& format = member(body, "response_format");
  if (format.is_null()) return {};
  const Json& type = format.is_object() ? member(format, "type") : format;
  if (type == "text") return {};
  if (type == "json_object") {
    TRY(sampling.grammar, grammar_of(R"({"type":"object"})"));
    return {};
  }
  const Json& described = format.is_object() ? member(format, "json_schema") : format;
  const Json& schema = described.is_object() ? member(described, "schema") : described;
  if (type != "json_schema" || !schema.is_object())
    return fail(Errc::bad_input,
                "response_format must have the type text, json_object, or json_schema with a schema");
  TRY(sampling.grammar, grammar_of(schema.dump()));
  return {};
}

std::vector<std::string> impossible_in(const Json& body) {
  std::vector<std::string> found;
  for (const char* key : {"tools", "functions", "logit_bias", "audio"})
    if (const Json& value = member(body, key); !value.empty()) found.emplace_back(key);
  for (const char* key : {"logprobs", "top_logprobs"})
    if (const Json& value = member(body, key); value.is_number() ? value != 0 : value == true)
      found.emplace_back(key);
  if (const Json& number = member(body, "n"); number.is_number() && number != 1) found.emplace_back("n");
  return found;
}

}  // namespace

Result<ReadGeneration> read_generation(const Json& body, bool refuse) {
  ReadGeneration read;
  read.left_out = impossible_in(body);
  if (refuse && !read.left_out.empty())
    return fail(Errc::bad_input,
                "the embedded model cannot do what these fields ask for: {}. Leave them out, use another "
                "upstream, or set refuse_inexpressible = false",
                fmt::join(read.left_out, ", "));
  TRY_VOID(read_sampling(body, read.generation.sampling));
  TRY_VOID(read_length(body, read.generation.most));
  TRY_VOID(read_stop(body, read.generation.stop));
  TRY_VOID(read_format(body, read.generation.sampling));
  const Json& streaming = member(body, "stream_options");
  read.include_usage = streaming.is_object() && member(streaming, "include_usage") == true;
  return read;
}

}  // namespace plimsoll::llama
