// POST /retrieve, POST /persist/NAME and POST /load/NAME.
#include <algorithm>

#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/http/target.hpp"
#include "gateway/kaito/kaito.hpp"
#include "gateway/kaito/kaito_read.hpp"

namespace plimsoll::gateway {
namespace {

Json node_json(const library::RankedNode& ranked) {
  const auto number = [](const std::optional<double>& score) { return score ? Json(*score) : Json(); };
  Json source;
  if (ranked.dense && ranked.sparse)
    source = "both";
  else if (ranked.dense)
    source = "dense_only";
  else if (ranked.sparse)
    source = "sparse_only";
  return {{"doc_id", ranked.node.document},
          {"node_id", ranked.node.id()},
          {"text", ranked.node.text},
          {"score", ranked.score},
          {"dense_score", number(ranked.dense)},
          {"sparse_score", number(ranked.sparse)},
          {"source", std::move(source)},
          {"metadata", json_from(ranked.node.metadata)}};
}

}  // namespace

void Kaito::watch(const std::vector<library::RankedNode>& nodes, std::int64_t wanted) const {
  if (context_.metrics == nullptr) return;
  const auto tell = [&](RagFigure figure, auto value) {
    context_.metrics->add(figure, static_cast<double>(value));
  };
  tell(RagFigure::result_count, nodes.size());
  tell(RagFigure::top_k_requested, wanted);
  const auto count = [&](bool dense, bool sparse) {
    return std::ranges::count_if(nodes, [&](const library::RankedNode& node) {
      return node.dense.has_value() == dense && node.sparse.has_value() == sparse;
    });
  };
  const auto both = count(true, true), by_meaning = count(true, false), by_words = count(false, true);
  tell(RagFigure::dense_candidates, both + by_meaning);
  tell(RagFigure::sparse_candidates, both + by_words);
  tell(RagFigure::overlap_count, both);
  tell(RagFigure::dense_only_count, by_meaning);
  tell(RagFigure::sparse_only_count, by_words);
  if (nodes.empty()) return;
  double sum = 0;
  for (const library::RankedNode& node : nodes) sum += node.score;
  const double highest = nodes.front().score, lowest = nodes.back().score;  // best first
  tell(RagFigure::lowest_score, lowest);
  tell(RagFigure::average_score, sum / static_cast<double>(nodes.size()));
  tell(RagFigure::top_score, highest);
  tell(RagFigure::median_score, nodes[nodes.size() / 2].score);
  tell(RagFigure::score_spread, highest - lowest);
}

Kaito::Answer Kaito::retrieve(const ClientRequest& request, const std::string&, Deadline deadline) const {
  Complaints complaints;
  const auto body = read_object(request.body, complaints);
  if (!body) return failed(body.error());
  RetrieveAsk ask;
  if (!complaints.any()) ask = read_retrieve(*body, context_.most_nodes, complaints);
  if (complaints.any()) return {422, complaints.body()};
  const auto loaded = context_.collections->open_indexes().take(request.caller.indexes, ask.index);
  if (!loaded) return failed(loaded.error(), "Retrieve failed: ");
  if (base::trim(ask.query).empty()) return failed({Errc::bad_input, "Query string cannot be empty."});
  const auto nodes = timed(StoreOperation::query, [&] {
    retrieve::GatherOptions options;
    options.filter = ask.filter;
    return library::rank_nodes((*loaded)->open, ask.query, static_cast<std::size_t>(ask.most),
                               std::move(options), deadline);
  });
  if (!nodes) return failed(nodes.error(), "Retrieve failed: ");
  watch(*nodes, ask.most);
  Json results = Json::array();
  for (const library::RankedNode& node : *nodes) results.push_back(node_json(node));
  const std::size_t count = results.size();
  return {200, {{"query", ask.query}, {"results", std::move(results)}, {"count", count}}};
}

Result<SnapshotPath> Kaito::snapshot_of(const ClientRequest& request, std::string_view name) const {
  std::optional<std::string> path = query_value(request.query, "path");
  const std::string& owner = request.caller.indexes;
  if (owner == engine::Caller{}.indexes) return snapshot_path(context_.snapshots, path, name);
  if (path == context_.snapshots.string()) path.reset();  // the default, as RAGEngine's clients send it
  return snapshot_path(private_root(context_.snapshots, owner), path, name);
}

Kaito::Answer Kaito::persist(const ClientRequest& request, const std::string& name, Deadline) const {
  // Checks the index before the path, so that clients cannot probe which folders exist.
  if (const auto info = context_.collections->find(request.caller.indexes, name); !info)
    return failed(info.error());
  const auto path = snapshot_of(request, name);
  if (!path) return failed(path.error());
  const auto saved = context_.collections->undisturbed(
      request.caller.indexes, name, [&](const IndexInfo* info) -> Result<void> {
        if (info == nullptr) return fail(Errc::not_found, "No such index: '{}' exists.", name);
        return context_.save(*info, path->folder);
      });
  if (!saved) return failed(saved.error(), "Persistence failed: ");
  return {200, {{"message", fmt::format("Successfully persisted index {} to {}.", name, path->shown)}}};
}

Kaito::Answer Kaito::load(const ClientRequest& request, const std::string& name, Deadline) const {
  Complaints complaints;
  const bool overwrite = flag_parameter(request.query, "overwrite", complaints);
  // The same rules as for an index created by its documents.
  (void)read_index_name({{"index_name", name}}, complaints);
  if (complaints.any()) return {422, complaints.body()};
  const auto path = snapshot_of(request, name);
  if (!path) return failed(path.error());
  std::error_code ignored;
  if (!std::filesystem::exists(path->folder, ignored))
    return failed({Errc::not_found, fmt::format("Path does not exist: {}", path->shown)});
  bool in_the_way = false;
  const auto loaded = context_.collections->undisturbed(
      request.caller.indexes, name, [&](const IndexInfo* info) -> Result<void> {
        in_the_way = info != nullptr && !overwrite;
        if (in_the_way) return {};
        return context_.load(path->folder, request.caller.indexes, name);
      });
  if (in_the_way)
    return {409,
            {{"detail", fmt::format("Index '{}' already exists. Use a different name or delete the existing "
                                    "index first, or say overwrite=true.",
                                    name)}}};
  if (!loaded) return failed(loaded.error(), "Loading failed: ");
  return {200, {{"message", fmt::format("Successfully loaded index {} from {}.", name, path->shown)}}};
}

}  // namespace plimsoll::gateway
