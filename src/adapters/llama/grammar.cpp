#include "adapters/llama/grammar.hpp"

#include <exception>

#include <json-schema-to-grammar.h>

#include "base/json_shape.hpp"
#include "base/try.hpp"

namespace plimsoll::llama {
namespace {

constexpr std::size_t longest_schema = 64 << 10;  // bytes; a grammar grows with it
constexpr std::size_t longest_grammar = 1 << 20;  // bytes

}  // namespace

Result<std::string> grammar_of(std::string_view json_schema) {
  if (json_schema.size() > longest_schema)
    return fail(Errc::bad_input, "the schema of response_format has {} bytes; {} are the most",
                json_schema.size(), longest_schema);
  try {
    std::string grammar =
        json_schema_to_grammar(common_json::parse(std::string(json_schema)), /*force_gbnf=*/true);
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
