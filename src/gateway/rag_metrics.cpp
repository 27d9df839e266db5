#include "gateway/rag_metrics.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace plimsoll::gateway {
namespace {

struct Names {
  std::string_view requests, latency, help;
};

// In the order of RagRoute.
constexpr std::array<Names, 11> names{{
    {"rag_chat_requests_total", "rag_chat_latency_seconds", "POST /v1/chat/completions"},
    {"rag_index_requests_total", "rag_index_latency_seconds", "POST /index"},
    {"rag_indexes_requests_total", "rag_indexes_latency_seconds", "GET /indexes"},
    {"rag_indexes_document_requests_total", "rag_indexes_document_latency_seconds",
     "GET /indexes/NAME/documents"},
    {"rag_indexes_update_document_requests_total", "rag_indexes_update_document_latency_seconds",
     "POST /indexes/NAME/documents"},
    {"rag_indexes_delete_document_requests_total", "rag_indexes_delete_document_latency_seconds",
     "POST /indexes/NAME/documents/delete"},
    {"rag_indexes_retrieve_requests_total", "rag_indexes_retrieve_latency_seconds", "POST /retrieve"},
    {"rag_persist_requests_total", "rag_persist_latency_seconds", "POST /persist/NAME"},
    {"rag_load_requests_total", "rag_load_latency_seconds", "POST /load/NAME"},
    {"rag_delete_index_requests_total", "rag_delete_index_latency_seconds", "DELETE /indexes/NAME"},
    {"e2e_request_total", "e2e_request_latency_seconds", "all routes together"},
}};
constexpr std::array<std::string_view, 2> statuses{"failure", "success"};

}  // namespace

void RagMetrics::add(RagRoute route, bool success, Clock::duration took) {
  Series& series = series_[static_cast<std::size_t>(route)][success ? 1 : 0];
  ++series.count;
  series.microseconds += std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  const double seconds = std::chrono::duration<double>(took).count();
  const auto* const bound = std::ranges::lower_bound(bounds, seconds);
  if (bound != bounds.end()) ++series.up_to[static_cast<std::size_t>(bound - bounds.begin())];
}

std::string RagMetrics::text() const {
  std::string out;
  const auto to = std::back_inserter(out);
  for (std::size_t route = 0; route < routes; ++route) {
    const Names& name = names[route];
    fmt::format_to(to, "# HELP {0} Requests: {1}.\n# TYPE {0} counter\n", name.requests, name.help);
    for (std::size_t s = 0; s < statuses.size(); ++s)
      fmt::format_to(to, "{}{{status=\"{}\"}} {}.0\n", name.requests, statuses[s],
                     series_[route][s].count.load());
    fmt::format_to(to, "# HELP {0} Seconds: {1}.\n# TYPE {0} histogram\n", name.latency, name.help);
    for (std::size_t s = 0; s < statuses.size(); ++s) {
      const Series& series = series_[route][s];
      std::uint64_t sum = 0;
      for (std::size_t b = 0; b < bounds.size(); ++b) {
        sum += series.up_to[b];
        fmt::format_to(to, "{}_bucket{{le=\"{}\",status=\"{}\"}} {}.0\n", name.latency, bounds[b],
                       statuses[s], sum);
      }
      const std::uint64_t count = std::max<std::uint64_t>(sum, series.count);
      fmt::format_to(to,
                     "{0}_bucket{{le=\"+Inf\",status=\"{1}\"}} {2}.0\n{0}_count{{status=\"{1}\"}} {2}.0\n",
                     name.latency, statuses[s], count);
      fmt::format_to(to, "{}_sum{{status=\"{}\"}} {:.6f}\n", name.latency, statuses[s],
                     static_cast<double>(series.microseconds) / 1e6);
    }
  }
  fmt::format_to(to,
                 "# HELP num_requests_running Requests under way.\n# TYPE num_requests_running gauge\n"
                 "num_requests_running {}.0\n",
                 running.load());
  return out;
}

}  // namespace plimsoll::gateway
