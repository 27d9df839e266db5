// Finds windows of models for commands, with an HTTP client, the settings, and a file that caches
// the servers' replies between runs.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/http/curl_client.hpp"
#include "config/settings.hpp"
#include "models/upstream.hpp"
#include "models/window_finder.hpp"
#include "plimsoll/models.hpp"

namespace plimsoll {

// Returns the server for a command. A URL alone is enough; a kind alone means the configured server of that
// kind (ollama_llm_base_url, llm_inference_url); neither: none. The configured API key is sent only to
// the server of llm_inference_url.
Result<std::optional<models::Upstream>> upstream_for(const config::Settings& settings, std::string_view url,
                                                     std::string_view kind);

// Returns the CA file named by SSL_CERT_FILE, or empty for the system's.
std::string trusted_certificates();

// How the windows of earlier runs are used.
enum class EarlierRuns : std::uint8_t {
  believed,   // for cache_ttl_seconds; for short commands, which then need not ask
  confirmed,  // the server is asked again; the file is used until it answers
  forgotten,
};

class FoundWindows {
 public:
  using Seconds = std::chrono::duration<double>;

  // The settings and the catalogue must outlive it. Its results are saved to the file when it ends.
  FoundWindows(const config::Settings& settings, const ModelCatalogue& catalogue, EarlierRuns earlier,
               std::optional<Seconds> timeout = {});
  FoundWindows(const FoundWindows&) = delete;
  FoundWindows& operator=(const FoundWindows&) = delete;
  ~FoundWindows();

  models::WindowFinder& finder() { return finder_; }
  // Ends running requests to servers, and refuses further ones.
  void stop() { http_.stop(); }
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

// Removes models from the file of cached windows; all models if none is named. Returns the number of removed
// entries. A file that cannot be read is deleted.
Result<std::size_t> forget_windows(const std::vector<std::string>& models);

// Finds the window of one model by rules D1 to D4. Fails only for an invalid URL or kind.
Result<Window> find_window(const config::Settings& settings, const ModelCatalogue& catalogue,
                           const std::string& model, std::string_view upstream = {},
                           std::string_view kind = {}, bool refresh = false);

}  // namespace plimsoll
