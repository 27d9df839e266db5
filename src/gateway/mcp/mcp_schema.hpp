// Checks arguments against a JSON schema. Supported: type, properties, required,
// additionalProperties: false, items, maxItems, enum, minimum, maximum.
#pragma once

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::gateway {

// bad_input: the error names the field: "arguments.used_tokens must be at least 0, not -4".
Result<void> check_schema(const nlohmann::ordered_json& value, const nlohmann::ordered_json& schema);

// Removes optional members that are null: many callers send null for "not given".
nlohmann::ordered_json without_nulls(const nlohmann::ordered_json& arguments,
                                     const nlohmann::ordered_json& schema);

}  // namespace plimsoll::gateway
