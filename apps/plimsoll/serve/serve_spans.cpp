#include "serve/serve_spans.hpp"

#include "base/random.hpp"
#include "ledger/trace_settings.hpp"
#include "serve/find_window.hpp"

namespace plimsoll {

ServedSpans::ServedSpans(const config::Settings& settings, std::vector<HttpHeader> headers)
    : http_("plimsoll/" PLIMSOLL_VERSION, trusted_certificates()) {
  if (settings.otlp_endpoint.empty()) return;
  otlp::SpanSenderOptions options;
  options.url = ledger::spans_url(settings.otlp_endpoint);
  options.headers = std::move(headers);
  options.share = settings.otlp_share;
  constexpr std::size_t id_bytes = 12;
  otlp::SpanSource source{PLIMSOLL_VERSION, base::random_text(id_bytes)};
  sender_ = std::make_unique<otlp::SpanSender>(http_, std::move(source), std::move(options));
}

}  // namespace plimsoll
