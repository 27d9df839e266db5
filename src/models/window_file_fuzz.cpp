// Any bytes as the windows file: an error, or windows that round-trip. A file that is JSON gets the right
// checksum, so that its contents are read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "models/window_file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace models = plimsoll::models;
  std::string file(reinterpret_cast<const char*>(data), size);
  if (auto json = nlohmann::json::parse(file, nullptr, false); json.is_object() && json.contains("windows")) {
    json["sha256"] = plimsoll::base::sha256_hex(json["windows"].dump());
    file = json.dump();
  }
  const auto windows = models::read_windows(file);
  if (!windows) return windows.error().what.empty() ? std::abort(), 1 : 0;
  for (const models::KeptWindow& kept : *windows)
    if (kept.report.window.tokens < 1 || kept.report.window.tokens > plimsoll::largest_served_window)
      std::abort();
  const std::string text = models::write_windows(*windows);
  const auto again = models::read_windows(text);
  if (!again || again->size() != windows->size() || models::write_windows(*again) != text) std::abort();
  return 0;
}
