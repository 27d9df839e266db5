// The check of an answer against its passages, as JSON.
#pragma once

#include <span>
#include <string_view>

#include <nlohmann/json.hpp>

#include "plimsoll/grounding.hpp"

namespace plimsoll::gateway {

// Returns {supported, unsupported, sentences: [{text, verdict, <passages>, reason}]}. `numbers`: of the
// passages that were compared, as clients know them; `passages`: the name of that field.
nlohmann::ordered_json check_json(std::string_view answer, const CheckedAnswer& check,
                                  std::span<const std::size_t> numbers, const char* passages);

}  // namespace plimsoll::gateway
