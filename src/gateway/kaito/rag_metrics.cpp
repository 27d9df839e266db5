#include "gateway/kaito/rag_metrics.hpp"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

namespace plimsoll::gateway {
namespace {

struct Names {
  std::string_view requests, latency, help;
};

// In the order of RagRoute.
constexpr std::array<Names, 11> route_names{{
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

// In the order of RagFigure.
constexpr std::array<std::array<std::string_view, 2>, 12> figure_names{{
    {"rag_retrieve_result_count", "Nodes returned by /retrieve"},
    {"rag_lowest_source_score", "Lowest score of the nodes"},
    {"rag_avg_source_score", "Mean score of the nodes"},
    {"rag_hybrid_top_score", "Highest score of the nodes"},
    {"rag_hybrid_median_score", "Median score of the nodes"},
    {"rag_hybrid_score_spread", "Highest minus lowest score"},
    {"rag_hybrid_top_k_requested", "Nodes requested"},
    {"rag_hybrid_dense_candidates", "Nodes found by vector search"},
    {"rag_hybrid_sparse_candidates", "Nodes found by keyword search"},
    {"rag_hybrid_overlap_count", "Nodes found by both searches"},
    {"rag_hybrid_dense_only_count", "Nodes found by vector search only"},
    {"rag_hybrid_sparse_only_count", "Nodes found by keyword search only"},
}};
constexpr std::array<std::string_view, 3> operation_names{"insert", "delete", "query"};
constexpr std::array<std::string_view, 2> modes{"local", "remote"};

void write_type(std::string& out, std::string_view name, std::string_view help, std::string_view type) {
  fmt::format_to(std::back_inserter(out), "# HELP {0} {1}.\n# TYPE {0} {2}\n", name, help, type);
}

}  // namespace

void RagMetrics::Histogram::add(double value) {
  ++count_;
  millionths_ += static_cast<std::int64_t>(value * 1e6);
  const auto* const bound = std::ranges::lower_bound(bounds, value);
  if (bound != bounds.end()) ++up_to_[static_cast<std::size_t>(bound - bounds.begin())];
}

void RagMetrics::Histogram::write(std::string& out, std::string_view name, std::string_view labels) const {
  const auto to = std::back_inserter(out);
  const std::string_view comma = labels.empty() ? "" : ",";
  const std::string alone = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  std::uint64_t sum = 0;
  for (std::size_t b = 0; b < bounds.size(); ++b) {
    sum += up_to_[b];
    fmt::format_to(to, "{}_bucket{{le=\"{}\"{}{}}} {}.0\n", name, bounds[b], comma, labels, sum);
  }
  const std::uint64_t all = std::max<std::uint64_t>(sum, count_);
  fmt::format_to(to, "{}_bucket{{le=\"+Inf\"{}{}}} {}.0\n", name, comma, labels, all);
  fmt::format_to(to, "{}_count{} {}.0\n{}_sum{} {:.6f}\n", name, alone, all, name, alone,
                 static_cast<double>(millionths_) / 1e6);
}

void RagMetrics::add(RagRoute route, bool success, Clock::duration took) {
  routes_[static_cast<std::size_t>(route)][success ? 1 : 0].add(took);
}

void RagMetrics::add(RagFigure figure, double value) {
  figures_[static_cast<std::size_t>(figure)].add(value);
}

void RagMetrics::add(StoreOperation operation, bool success, Clock::duration took) {
  operations_[static_cast<std::size_t>(operation)][success ? 1 : 0].add(took);
}

void RagMetrics::add_embedding(bool remote, bool success, Clock::duration took) {
  embeddings_[remote ? 1 : 0][success ? 1 : 0].add(took);
}

void RagMetrics::write_route(std::string& out, std::string_view requests, std::string_view latency,
                             std::string_view help, const ByStatus& series) {
  const auto to = std::back_inserter(out);
  write_type(out, requests, fmt::format("Requests: {}", help), "counter");
  for (std::size_t s = 0; s < statuses.size(); ++s)
    fmt::format_to(to, "{}{{status=\"{}\"}} {}.0\n", requests, statuses[s], series[s].count());
  write_type(out, latency, fmt::format("Seconds: {}", help), "histogram");
  for (std::size_t s = 0; s < statuses.size(); ++s)
    series[s].write(out, latency, fmt::format("status=\"{}\"", statuses[s]));
}

std::string RagMetrics::text() const {
  std::string out;
  const auto to = std::back_inserter(out);
  for (std::size_t i = 0; i < routes_.size(); ++i)
    write_route(out, route_names[i].requests, route_names[i].latency, route_names[i].help, routes_[i]);

  write_type(out, "rag_embedding_requests_total", "Embeddings", "counter");
  for (std::size_t m = 0; m < modes.size(); ++m)
    for (std::size_t s = 0; s < statuses.size(); ++s)
      fmt::format_to(to, "rag_embedding_requests_total{{mode=\"{}\",status=\"{}\"}} {}.0\n", modes[m],
                     statuses[s], embeddings_[m][s].count());
  write_type(out, "rag_embedding_latency_seconds", "Seconds of an embedding", "histogram");
  for (std::size_t m = 0; m < modes.size(); ++m)
    for (std::size_t s = 0; s < statuses.size(); ++s)
      embeddings_[m][s].write(out, "rag_embedding_latency_seconds",
                              fmt::format("mode=\"{}\",status=\"{}\"", modes[m], statuses[s]));

  write_type(out, "rag_vector_store_operation_latency_seconds", "Seconds in the store", "histogram");
  for (std::size_t o = 0; o < operations_.size(); ++o)
    for (std::size_t s = 0; s < statuses.size(); ++s)
      operations_[o][s].write(
          out, "rag_vector_store_operation_latency_seconds",
          fmt::format("operation=\"{}\",status=\"{}\"", operation_names[o], s == 1 ? "success" : "error"));

  for (std::size_t f = 0; f < figures_.size(); ++f) {
    write_type(out, figure_names[f][0], figure_names[f][1], "histogram");
    figures_[f].write(out, figure_names[f][0], "");
  }
  write_type(out, "rag_hybrid_search_mode_total", "Searches with keywords and vectors", "counter");
  const Histogram& found = routes_[static_cast<std::size_t>(RagRoute::retrieve)][1];
  fmt::format_to(to, "rag_hybrid_search_mode_total{{mode=\"hybrid\"}} {}.0\n", found.count());
  write_type(out, "num_requests_running", "Running requests", "gauge");
  fmt::format_to(to, "num_requests_running {}.0\n", running.load());
  return out;
}

}  // namespace plimsoll::gateway
