#include "gateway/console/graph_json.hpp"

namespace plimsoll::gateway {

nlohmann::ordered_json names_json(const std::vector<NameCount>& names) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const NameCount& name : names) list.push_back({{"name", name.key}, {"chunks", name.chunks}});
  return {{"names", std::move(list)}};
}

nlohmann::ordered_json neighbours_json(const library::NameNeighbours& found) {
  nlohmann::ordered_json out{{"name", found.key},
                             {"title_of", found.titled},
                             {"other_name_in", found.others},
                             {"mentioned_in", found.mentions},
                             {"chunks", found.chunks}};
  out.update(names_json(found.names));
  return out;
}

}  // namespace plimsoll::gateway
