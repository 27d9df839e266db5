// Spans of requests for an OpenTelemetry collector, if one is set.
#pragma once

#include <memory>
#include <vector>

#include "adapters/http/curl_client.hpp"
#include "adapters/otlp/span_sender.hpp"
#include "config/settings.hpp"

namespace plimsoll {

class ServedSpans {
 public:
  ServedSpans(const config::Settings& settings, std::vector<HttpHeader> headers);
  otlp::SpanSender* sender() { return sender_.get(); }  // null: no collector is set

 private:
  adapters::CurlClient http_;
  std::unique_ptr<otlp::SpanSender> sender_;
};

}  // namespace plimsoll
