// Settings of traces of requests.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/secret.hpp"
#include "base/settings/setting.hpp"
#include "plimsoll/http.hpp"

namespace plimsoll::ledger {

struct TraceSettings {
  std::int64_t trace_count = 10'000;
  std::int64_t trace_days = 30;
  std::int64_t trace_bytes = std::int64_t{256} << 20;
  bool keep_prompts = false;  // in traces
  std::string otlp_endpoint;  // a URL; empty: no spans are sent
  base::Secret otlp_headers;  // "name=value,name=value"
  double otlp_share = 1;
};

// Reads otlp_headers. bad_setting: not of this form.
Result<std::vector<HttpHeader>> read_otlp_headers(const base::Secret& text);
// Returns the URL that spans are posted to: the path /v1/traces is added to an address without a path of its
// own.
std::string spans_url(const std::string& endpoint);

// Their names, allowed values and meanings.
std::span<const base::Setting> trace_settings();

}  // namespace plimsoll::ledger
