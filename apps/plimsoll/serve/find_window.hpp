// The windows of models for commands: the finder with an HTTP client, the settings, and a file that remembers
// between runs what servers said.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/http/curl_client.hpp"
#include "base/settings/settings.hpp"
#include "models/upstream.hpp"
#include "models/window_finder.hpp"
#include "plimsoll/models.hpp"

namespace plimsoll {

// The server that a command is to ask. An address alone is enough; a kind alone means the server that the
// settings name for it (ollama_llm_base_url, llm_inference_url); neither: none. The key of the settings goes
// to the server of llm_inference_url and to no other.
Result<std::optional<models::Upstream>> upstream_for(const base::Settings& settings, std::string_view url,
                                                     std::string_view kind);

// The file of authorities that SSL_CERT_FILE names, or empty for the system's own.
std::string trusted_certificates();

// What the file of earlier runs is good for.
enum class EarlierRuns : std::uint8_t {
  believed,   // for cache_ttl_seconds: a command that ends at once need not ask again
  confirmed,  // the server is asked again at once; what the file says is used while it does not answer
  forgotten,
};

class FoundWindows {
 public:
  using Seconds = std::chrono::duration<double>;

  // The settings and the catalogue outlive it. What this run finds is in the file when it ends.
  FoundWindows(const base::Settings& settings, const ModelCatalogue& catalogue, EarlierRuns earlier,
               std::optional<Seconds> timeout = {});
  FoundWindows(const FoundWindows&) = delete;
  FoundWindows& operator=(const FoundWindows&) = delete;
  ~FoundWindows();

  models::WindowFinder& finder() { return finder_; }
  Deadline for_one_model() const { return Deadline::after(patience_); }
  Deadline for_a_list() const { return Deadline::after(6 * patience_); }

 private:
  void load(bool confirm);
  void save();

  std::filesystem::path file_;
  std::chrono::milliseconds patience_;
  Deadline::Clock::time_point begin_;
  adapters::CurlClient http_;
  models::WindowFinder finder_;
};

// Removes models from the file that remembers what servers said; all of them where none is named. Gives how
// many entries there were. A file that cannot be read is removed.
Result<std::size_t> forget_windows(const std::vector<std::string>& models);

// The window of one model, as rules D1 to D4 find it. An error only for an address or a kind that is none.
Result<Window> find_window(const base::Settings& settings, const ModelCatalogue& catalogue,
                           const std::string& model, std::string_view upstream = {},
                           std::string_view kind = {}, bool refresh = false);

}  // namespace plimsoll
