// GET /metrics: the counters in Prometheus format.
#include "gateway/api.hpp"
#include "gateway/auth/gate.hpp"

namespace plimsoll::gateway {
namespace {

void add(std::string& out, std::string_view name, std::string_view help, std::uint64_t value) {
  fmt::format_to(std::back_inserter(out),
                 "# HELP plimsoll_{0} {1}\n# TYPE plimsoll_{0} counter\nplimsoll_{0} {2}\n", name, help,
                 value);
}

}  // namespace

Awaitable<void> Api::metrics(Call call) const {
  const engine::Engine& engine = context_.engine;
  const engine::Counters& counted = engine.counters;
  std::string out;
  add(out, "requests_total", "Requests to models that were answered or refused.", counted.requests);
  add(out, "untouched_requests_total", "Requests that were forwarded byte for byte.", counted.untouched);
  add(out, "planned_requests_total", "Requests that were changed to fit, or by documents.", counted.planned);
  add(out, "refused_requests_total", "Requests that could not fit their window.", counted.refused);
  add(out, "failed_requests_total", "Requests that got no answer for another reason.", counted.failed);
  add(out, "fallbacks_total", "Requests that a fallback model answered.", counted.fallbacks);
  add(out, "compressions_total", "Histories whose oldest turns were replaced by a summary.",
      counted.compressions);
  add(out, "extractive_summaries_total", "Summaries made by extraction because no model wrote them.",
      counted.extracts);
  add(out, "upstream_overflows_total", "Errors of upstreams that reported a smaller window.",
      counted.overflows);
  add(out, "upstream_cuts_total", "Prompts that an upstream truncated.", counted.cuts);
  add(out, "upstream_cut_tokens_total", "Tokens that upstreams cut from prompts.", counted.cut_tokens);
  add(out, "upstream_retries_total", "Requests to upstreams that were retried.", counted.retries);
  if (engine.traces != nullptr) {
    add(out, "traces_dropped_total", "Traces that could not be stored.", engine.traces->dropped());
    add(out, "traces_passed_over_total", "Traces of untouched requests skipped above 500 per second.",
        engine.traces->passed_over());
  }
  if (engine.spans != nullptr) {
    add(out, "otlp_requests_sent_total", "Requests whose spans the collector took.", engine.spans->sent());
    add(out, "otlp_requests_dropped_total", "Requests whose spans were lost.", engine.spans->dropped());
  }
  if (context_.gate != nullptr) {
    const Gate::Counters& gate = context_.gate->counters();
    add(out, "unknown_key_requests_total", "Requests without a known key.", gate.unknown);
    add(out, "limited_requests_total", "Requests above the limits of their key.", gate.limited);
    add(out, "budget_alerts_total", "Alerts about a key's daily budget.", gate.alerts);
  }
  out += watched_->text();
  AnswerHead head;
  head.content_type = "text/plain; version=0.0.4; charset=utf-8";
  head.length = out.size();
  (void)co_await call.reply.head(head);
  (void)co_await call.reply.body(out);
}

}  // namespace plimsoll::gateway
