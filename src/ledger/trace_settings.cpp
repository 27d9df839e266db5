#include "ledger/trace_settings.hpp"

#include <array>

#include "base/text/text.hpp"

namespace plimsoll::ledger {

std::span<const base::Setting> trace_settings() {
  static const std::array declared{
      base::Setting{"trace_count", "", base::Whole{&TraceSettings::trace_count, 0, 100'000'000},
                    "Most traces kept."},
      base::Setting{"trace_days", "", base::Whole{&TraceSettings::trace_days, 0, 36'500},
                    "Days that a trace is kept."},
      base::Setting{"trace_bytes", "", base::Whole{&TraceSettings::trace_bytes, 0, std::int64_t{1} << 40},
                    "Most bytes of traces kept."},
      base::Setting{"keep_prompts", "", base::Flag{&TraceSettings::keep_prompts},
                    "Keep the text of requests and passages in traces."},
      base::Setting{
          "otlp_endpoint", "", base::Url{&TraceSettings::otlp_endpoint},
          "URL of an OpenTelemetry collector (OTLP over HTTP, such as http://127.0.0.1:4318) that gets "
          "spans of "
          "requests; empty: none. They have no words of prompts unless keep_prompts is set."},
      base::Setting{"otlp_headers", "", base::SecretText{&TraceSettings::otlp_headers},
                    "Headers for the collector: name=value, separated by commas. Never shown."},
      base::Setting{
          "otlp_share", "", base::Real{&TraceSettings::otlp_share, 0, 1},
          "Share of requests that get spans, from 0 to 1; a client's traceparent decides for its own."},
  };
  return declared;
}

Result<std::vector<HttpHeader>> read_otlp_headers(const base::Secret& text) {
  std::vector<HttpHeader> headers;
  for (std::string_view rest = text.reveal(); !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view one = base::trim(rest.substr(0, comma));
    rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
    if (one.empty()) continue;
    const std::size_t equals = one.find('=');
    if (equals == 0 || equals == std::string_view::npos)
      return fail(Errc::bad_setting,
                  "otlp_headers must be name=value, separated by commas; entry {} has no name or no value",
                  headers.size() + 1);
    headers.push_back(
        {std::string(base::trim(one.substr(0, equals))), std::string(base::trim(one.substr(equals + 1)))});
  }
  return headers;
}

std::string spans_url(const std::string& endpoint) {
  std::string url = endpoint;
  while (url.ends_with('/')) url.pop_back();
  const std::size_t host = url.find("://");
  const bool has_path = host != std::string::npos && url.find('/', host + 3) != std::string::npos;
  return has_path ? url : url + "/v1/traces";
}

}  // namespace plimsoll::ledger
