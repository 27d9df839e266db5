#include "adapters/llama/grammar.hpp"

#include <exception>

#include <json-schema-to-grammar.h>
#include <nlohmann/json.hpp>

#include "base/json/json_shape.hpp"
#include "base/try.hpp"

namespace plimsoll::llama {
namespace {

constexpr std::size_t longest_schema = 64 << 10;  // bytes; a grammar grows with it
constexpr std::size_t longest_grammar = 1 << 20;  // bytes
// A grammar goes as deep as a name is long, and an expression may have as many ways on as letters.
constexpr std::size_t longest_name = 256, longest_pattern = 128;
constexpr std::int64_t most_times = 1'000;
constexpr std::size_t deepest = 200;

using Json = nlohmann::ordered_json;

// What llama.cpp would follow until the stack, or somebody's patience, is at its end.
Result<void> check(const Json& schema) {
  if (schema.is_array()) {
    for (const Json& one : schema) TRY_VOID(check(one));
    return {};
  }
  if (schema.is_string() && schema.get_ref<const std::string&>().size() > longest_name)
    return fail(Errc::bad_input, "the schema of response_format has a text of {} bytes; {} are the most",
                schema.get_ref<const std::string&>().size(), longest_name);
  if (!schema.is_object()) return {};
  for (const auto& [name, value] : schema.items()) {
    if (name.size() > longest_name)
      return fail(Errc::bad_input, "the schema of response_format has a name of {} bytes; {} are the most",
                  name.size(), longest_name);
    if (name == "pattern" && value.is_string() &&
        value.get_ref<const std::string&>().size() > longest_pattern)
      return fail(Errc::bad_input, "a pattern in response_format has {} bytes; {} are the most",
                  value.get_ref<const std::string&>().size(), longest_pattern);
    const bool counts =
        name == "minLength" || name == "maxLength" || name == "minItems" || name == "maxItems";
    if (counts && value.is_number() && value.get<double>() > static_cast<double>(most_times))
      return fail(Errc::bad_input, "{} in response_format is above {}, the most", name, most_times);
    if (name == "description" || name == "title" || name == "$comment") continue;  // for readers
    TRY_VOID(check(value));
  }
  return {};
}

bool is_too_deep(std::string_view grammar) {
  std::size_t depth = 0;
  for (const char c : grammar) {
    if (c == '(' && ++depth > deepest) return true;
    if (c == ')' && depth > 0) --depth;
    if (c == '\n') depth = 0;
  }
  return false;
}

}  // namespace

Result<std::string> grammar_of(std::string_view json_schema) {
  if (json_schema.size() > longest_schema)
    return fail(Errc::bad_input, "the schema of response_format has {} bytes; {} are the most",
                json_schema.size(), longest_schema);
  try {
    TRY_VOID(check(Json::parse(json_schema)));
    std::string grammar =
        json_schema_to_grammar(common_json::parse(std::string(json_schema)), /*force_gbnf=*/true);
    if (is_too_deep(grammar))
      return fail(Errc::bad_input, "the schema of response_format goes deeper than {} levels", deepest);
    if (grammar.size() > longest_grammar)
      return fail(Errc::bad_input,
                  "the schema of response_format makes a grammar of {} bytes; {} are the most",
                  grammar.size(), longest_grammar);
    return grammar;
  } catch (const std::exception& error) {
    return fail(Errc::bad_input, "the schema of response_format cannot be followed: {}", error.what());
  }
}

}  // namespace plimsoll::llama
