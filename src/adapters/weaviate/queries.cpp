#include "adapters/weaviate/queries.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

#include <fmt/ranges.h>

#include "adapters/weaviate/objects.hpp"
#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/text/bm25.hpp"

namespace plimsoll::weaviate {
namespace {

// A string of JSON is one of GraphQL, too.
std::string graphql_string(std::string_view text) {
  std::string out;
  base::append_json_string(out, text);
  return out;
}

std::string only_clause(const std::vector<DocumentId>* only) {
  if (only == nullptr) return "";
  return fmt::format(",where:{{path:[\"document\"],operator:ContainsAny,valueNumber:[{}]}}",
                     fmt::join(*only, ","));
}

std::string equals(const PropertyValue& wanted) {
  return fmt::format("where:{{path:[\"{}\"],operator:Equal,valueText:{}}}", wanted.property,
                     graphql_string(wanted.value));
}

std::size_t limit_of(std::size_t k) {
  return std::clamp<std::size_t>(k, 1, most_hits);
}

const Json& objects_in(const Json& data, std::string_view root, std::string_view name) {
  return base::list_in(
      base::member(base::member(data, std::string(root).c_str()), std::string(name).c_str()));
}

std::optional<ObjectIds> ids_of(const Json& object) {
  return read_object_id(base::text_in(base::member(object, "_additional"), "id"));
}

void put_best_first(std::vector<Hit>& hits) {
  std::ranges::sort(hits, [](const Hit& a, const Hit& b) {
    return a.score != b.score ? a.score > b.score : a.chunk < b.chunk;
  });
}

std::uint64_t whole(const Json& number) {
  return number.is_number() ? static_cast<std::uint64_t>(std::max(0.0, number.get<double>())) : 0;
}

// By chunk, each once.
void put_in_order(std::vector<Hit>& hits) {
  std::ranges::sort(hits, {}, &Hit::chunk);
  hits.erase(
      std::unique(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.chunk == b.chunk; }),
      hits.end());
}

}  // namespace

std::string bm25_query(std::string_view collection, std::string_view words, std::size_t k,
                       const std::vector<DocumentId>* only) {
  return fmt::format(
      "{{Get{{{}(bm25:{{query:{},properties:[\"words\"]}},limit:{}{}){{_additional{{id score}}}}}}}}",
      collection, graphql_string(words), limit_of(k), only_clause(only));
}

std::string nearest_query(std::string_view collection, std::size_t embedder, std::span<const float> vector,
                          std::size_t k, const std::vector<DocumentId>* only) {
  std::string numbers;
  for (const float value : vector)
    fmt::format_to(std::back_inserter(numbers), "{}{:.7g}", numbers.empty() ? "" : ",", value);
  return fmt::format(
      "{{Get{{{}(nearVector:{{vector:[{}],targetVectors:[\"e{}\"]}},limit:{}{}){{_additional{{id "
      "distance}}}}}}}}",
      collection, numbers, embedder, limit_of(k), only_clause(only));
}

std::string count_query(std::string_view collection, std::span<const PropertyValue> values) {
  std::string out = "{Aggregate{";
  for (std::size_t i = 0; i < values.size(); ++i)
    fmt::format_to(std::back_inserter(out), "c{}:{}({}){{meta{{count}}}}", i, collection, equals(values[i]));
  return out + "}}";
}

std::string named_query(std::string_view collection, std::string_view property,
                        std::span<const std::string> keys, std::size_t most) {
  std::string counts, objects;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string where = equals({property, keys[i]});
    fmt::format_to(std::back_inserter(counts), "c{}:{}({}){{meta{{count}}}}", i, collection, where);
    if (most > 0)
      fmt::format_to(std::back_inserter(objects), "n{}:{}({},limit:{}){{_additional{{id}}}}", i, collection,
                     where, limit_of(most));
  }
  return fmt::format("{{Aggregate{{{}}}{}}}", counts,
                     objects.empty() ? "" : fmt::format("Get{{{}}}", objects));
}

std::string any_named_query(std::string_view collection, std::string_view property,
                            std::span<const std::string> keys, std::size_t limit) {
  std::string values;
  for (const std::string& key : keys) values += (values.empty() ? "" : ",") + graphql_string(key);
  return fmt::format(
      "{{Get{{{}(where:{{path:[\"{}\"],operator:ContainsAny,valueText:[{}]}},limit:{}){{{} "
      "_additional{{id}}}}}}}}",
      collection, property, values, limit, property);
}

std::string top_values_query(std::string_view collection, std::string_view property, std::size_t most) {
  return fmt::format("{{Aggregate{{{}{{{}{{topOccurrences(limit:{}){{value occurs}}}}}}}}}}", collection,
                     property, limit_of(most));
}

std::vector<Hit> lexical_hits(const Json& data, std::string_view collection) {
  std::vector<Hit> out;
  for (const Json& object : objects_in(data, "Get", collection)) {
    const auto ids = ids_of(object);
    const std::string score = base::text_in(base::member(object, "_additional"), "score");
    float value = 0;
    std::from_chars(score.data(), score.data() + score.size(), value);
    // The server leaves out a factor that does not change the order.
    if (ids && value > 0) out.push_back({ids->chunk, ids->document, value * (base::bm25_k1 + 1)});
  }
  put_best_first(out);
  return out;
}

std::vector<Hit> nearest_hits(const Json& data, std::string_view collection) {
  std::vector<Hit> out;
  for (const Json& object : objects_in(data, "Get", collection)) {
    const auto ids = ids_of(object);
    const Json& distance = base::member(base::member(object, "_additional"), "distance");
    if (ids && distance.is_number()) out.push_back({ids->chunk, ids->document, -distance.get<float>()});
  }
  put_best_first(out);
  return out;
}

Result<std::vector<std::uint64_t>> counts_in(const Json& data, std::size_t values) {
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0; i < values; ++i) {
    const Json& answer = objects_in(data, "Aggregate", fmt::format("c{}", i));
    if (answer.empty()) return fail(Errc::upstream_failed, "the index store left out a count");
    out.push_back(whole(base::member(base::member(answer.front(), "meta"), "count")));
  }
  return out;
}

Result<std::vector<NamedChunks>> named_in(const Json& data, std::size_t keys) {
  const auto counts = counts_in(data, keys);
  if (!counts) return tl::unexpected(counts.error());
  std::vector<NamedChunks> out(keys);
  for (std::size_t i = 0; i < keys; ++i) {
    out[i].total = (*counts)[i];
    for (const Json& object : objects_in(data, "Get", fmt::format("n{}", i)))
      if (const auto ids = ids_of(object)) out[i].chunks.push_back({ids->chunk, ids->document, 1});
    put_in_order(out[i].chunks);
  }
  return out;
}

std::optional<std::vector<NamedChunks>> any_named_in(const Json& data, std::string_view collection,
                                                     std::string_view property,
                                                     std::span<const std::string> keys, std::size_t most,
                                                     std::size_t limit) {
  const Json& objects = objects_in(data, "Get", collection);
  if (objects.size() >= limit) return {};
  std::map<std::string, std::vector<Hit>> by_key;
  for (const Json& object : objects) {
    const auto ids = ids_of(object);
    if (!ids) continue;
    for (const Json& value : base::list_in(base::member(object, std::string(property).c_str())))
      if (value.is_string()) by_key[value.get<std::string>()].push_back({ids->chunk, ids->document, 1});
  }
  std::vector<NamedChunks> out(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    std::string sent;  // as the server has it: of invalid bytes only a mark is left
    base::append_json_string(sent, keys[i]);
    const auto found = by_key.find(Json::parse(sent).get<std::string>());
    if (found == by_key.end()) continue;
    out[i].chunks = found->second;
    put_in_order(out[i].chunks);
    out[i].total = out[i].chunks.size();
    if (out[i].chunks.size() > most) out[i].chunks.resize(most);
  }
  return out;
}

std::uint64_t count_of_all(const Json& data) {
  std::uint64_t out = 0;
  for (const Json& answer : objects_in(data, "Aggregate", "all"))
    out += whole(base::member(base::member(answer, "meta"), "count"));
  return out > 0 ? out - 1 : 0;  // without the note of the progress
}

std::vector<NameCount> top_values_in(const Json& data, std::string_view collection,
                                     std::string_view property) {
  std::vector<NameCount> out;
  for (const Json& answer : objects_in(data, "Aggregate", collection))
    for (const Json& one :
         base::list_in(base::member(base::member(answer, std::string(property).c_str()), "topOccurrences")))
      out.push_back({base::text_in(one, "value"), whole(base::member(one, "occurs"))});
  std::ranges::sort(out, [](const NameCount& a, const NameCount& b) {
    return a.chunks != b.chunks ? a.chunks > b.chunks : a.key < b.key;
  });
  return out;
}

}  // namespace plimsoll::weaviate
