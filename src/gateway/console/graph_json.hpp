// Names of an index and what is around one of them, as JSON for the console and `plimsoll graph --json`.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "library/name_graph.hpp"

namespace plimsoll::gateway {

// {names: [{name, chunks}]}
nlohmann::ordered_json names_json(const std::vector<NameCount>& names);
// {name, title_of, other_name_in, mentioned_in, chunks, names}
nlohmann::ordered_json neighbours_json(const library::NameNeighbours& found);

}  // namespace plimsoll::gateway
