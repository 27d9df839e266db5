#include "models/window_file.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/sha256.hpp"
#include "base/try.hpp"

namespace plimsoll::models {
namespace {

using Json = nlohmann::json;

constexpr int version = 2;
constexpr std::size_t most_windows = 2000;

Json to_json(const KeptWindow& kept) {
  const ModelReport& report = kept.report;
  Json tried = Json::array();
  for (const WindowAttempt& attempt : report.window.tried)
    tried.push_back({{"way", attempt.way}, {"result", attempt.result}});
  const ReportedModel& served = report.served;
  return {{"upstream", kept.upstream},
          {"model", kept.model},
          {"found_at", kept.found_at},
          {"kind", report.kind ? Json(name_of(*report.kind)) : Json()},
          {"tokens", report.window.tokens},
          {"source", name_of(report.window.source)},
          {"confidence", name_of(report.window.confidence)},
          {"tried", std::move(tried)},
          {"served", served.served},
          {"served_by", served.served_by},
          {"maximum", served.maximum},
          {"max_output", served.max_output},
          {"parameters", served.parameters},
          {"quantization", served.quantization},
          {"family", served.family}};
}

// Reads the members of one entry; after an error `good` stays false.
class Entry {
 public:
  explicit Entry(const Json& json) : json_(json), good(json.is_object()) {}

  std::string text(const char* key) {
    const Json* value = get(key);
    if (value != nullptr && value->is_string()) return value->get<std::string>();
    good = false;
    return {};
  }
  std::int64_t number(const char* key, std::int64_t least, std::int64_t most) {
    const Json* value = get(key);
    if (value != nullptr && value->is_number_integer()) {
      const bool huge = value->is_number_unsigned() && value->get<std::uint64_t>() > INT64_MAX;
      const std::int64_t number = huge ? -1 : value->get<std::int64_t>();
      if (!huge && number >= least && number <= most) return number;
    }
    good = false;
    return 0;
  }
  const Json* get(const char* key) {
    const auto found = good ? json_.find(key) : json_.end();
    if (found == json_.end()) good = false;
    return found == json_.end() ? nullptr : &*found;
  }

 private:
  const Json& json_;

 public:
  bool good;
};

template <typename Enum>
Enum choice(Entry& entry, const char* key, std::initializer_list<Enum> all) {
  const std::string word = entry.text(key);
  for (const Enum one : all)
    if (name_of(one) == word) return one;
  entry.good = false;
  return *all.begin();
}

void read_tried(Entry& entry, std::vector<WindowAttempt>& tried) {
  const Json* list = entry.get("tried");
  if (list == nullptr || !list->is_array()) {
    entry.good = false;
    return;
  }
  for (const Json& one : *list) {
    Entry attempt(one);
    tried.push_back({attempt.text("way"), attempt.text("result")});
    entry.good = entry.good && attempt.good;
  }
}

Result<KeptWindow> from_json(const Json& json) {
  Entry entry(json);
  KeptWindow kept;
  kept.upstream = entry.text("upstream");
  kept.model = entry.text("model");
  kept.found_at = entry.number("found_at", 0, 1'000'000'000'000);
  Window& window = kept.report.window;
  window.tokens = entry.number("tokens", 1, largest_served_window);
  window.source = choice(entry, "source", {WindowSource::served, WindowSource::declared});
  window.confidence = choice(entry, "confidence", {Confidence::high, Confidence::medium, Confidence::low});
  read_tried(entry, window.tried);
  if (const Json* kind = entry.get("kind"); kind != nullptr && !kind->is_null()) {
    kept.report.kind = kind->is_string() ? server_kind_of(kind->get_ref<const std::string&>()) : std::nullopt;
    entry.good = entry.good && kept.report.kind.has_value();
  }
  ReportedModel& served = kept.report.served;
  served.name = kept.model;
  served.served = entry.number("served", 0, largest_served_window);
  served.served_by = entry.text("served_by");
  served.confidence = window.confidence;
  served.maximum = entry.number("maximum", 0, largest_served_window);
  served.max_output = entry.number("max_output", 0, largest_served_window);
  served.parameters = entry.text("parameters");
  served.quantization = entry.text("quantization");
  served.family = entry.text("family");
  if (!entry.good) return fail(Errc::damaged, "an entry of the windows file is incomplete");
  return kept;
}

std::string checksum_of(const Json& list) {
  return base::sha256_hex(list.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace

std::string write_windows(std::vector<KeptWindow> windows) {
  std::ranges::stable_sort(windows, std::greater{}, &KeptWindow::found_at);
  if (windows.size() > most_windows) windows.resize(most_windows);
  Json list = Json::array();
  for (const KeptWindow& window : windows) list.push_back(to_json(window));
  const Json whole{{"version", version}, {"sha256", checksum_of(list)}, {"windows", std::move(list)}};
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<std::vector<KeptWindow>> read_windows(std::string_view text) {
  const Json whole = Json::parse(text, nullptr, false);
  if (!whole.is_object() || !whole.contains("version") || !whole.contains("windows"))
    return fail(Errc::damaged, "not a windows file");
  if (whole["version"] != version)
    return fail(Errc::unsupported, "the windows file does not have version {}", version);
  const Json& list = whole["windows"];
  if (whole.value("sha256", Json()) != checksum_of(list))
    return fail(Errc::damaged, "the windows file does not have the checksum of its contents");
  if (!list.is_array() || list.size() > most_windows)
    return fail(Errc::damaged, "the windows file has no list, or it is too long");
  std::vector<KeptWindow> windows;
  for (const Json& one : list) {
    TRY(KeptWindow kept, from_json(one));
    windows.push_back(std::move(kept));
  }
  return windows;
}

}  // namespace plimsoll::models
