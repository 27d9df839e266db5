#include "index/index_filter.hpp"

#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"

namespace plimsoll {

Result<Metadata> read_filters(const std::vector<std::string>& assignments) {
  Metadata out;
  for (const std::string& assignment : assignments) {
    const std::size_t equals = assignment.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return fail(Errc::bad_input, "'{}' is not KEY=VALUE", assignment);
    }
    const std::string value = assignment.substr(equals + 1);
    auto json = nlohmann::json::parse(value, nullptr, /*allow_exceptions=*/false);
    if (json.is_discarded() || json.is_structured() || json.is_string()) json = value;
    out[assignment.substr(0, equals)] = base::json_text(json);
  }
  return out;
}

}  // namespace plimsoll
