// Words that only the operator may see, such as URLs of upstreams and paths of files. Logs and traces
// keep them; in errors for clients they are replaced.
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace plimsoll::base {

// Valid for the rest of the process. Thread-safe.
void keep_private(std::string words, std::string shown_as);

std::string for_clients(std::string_view text);
// Does the same in all texts of a JSON value.
void hide_from_clients(nlohmann::ordered_json& json);

}  // namespace plimsoll::base
