// TokenizerInfo and split steps as JSON, for the compiled file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "count/split/regex_split.hpp"
#include "plimsoll/count.hpp"

namespace plimsoll::count {

std::string to_json(const TokenizerInfo& info);
Result<TokenizerInfo> info_from_json(std::string_view json);

std::string to_json(const std::vector<SplitStep>& steps);
Result<std::vector<SplitStep>> steps_from_json(std::string_view json);

}  // namespace plimsoll::count
