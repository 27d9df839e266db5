#include "index/index_settings.hpp"

namespace plimsoll {

Result<std::vector<EmbedderInfo>> usual_embedders(const config::Settings& settings, Documents& documents,
                                                  std::vector<std::string>& notes) {
  std::vector<EmbedderInfo> out;
  for (const std::string& name : settings.embedders) {
    const auto embedder = documents.embedder(name);
    if (embedder)
      out.push_back((*embedder)->info());
    else if (embedder.error().code == Errc::not_found)
      notes.push_back(fmt::format("searched by words alone, because {}", embedder.error().what));
    else
      return tl::unexpected<Error>(embedder.error());
  }
  return out;
}

}  // namespace plimsoll
