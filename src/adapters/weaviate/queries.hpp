// The GraphQL of searches, and what comes back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "adapters/weaviate/nodes.hpp"
#include "plimsoll/index.hpp"

namespace plimsoll::weaviate {

// More hits than this the server does not return.
inline constexpr std::size_t most_hits = 10'000;

// A property and one of its values: "words", "anchor".
struct PropertyValue {
  std::string_view property;
  std::string_view value;
};

// `only`: ascending ids of documents; null: all.
std::string bm25_query(std::string_view collection, std::string_view words, std::size_t k,
                       const std::vector<DocumentId>* only);
std::string nearest_query(std::string_view collection, std::size_t embedder, std::span<const float> vector,
                          std::size_t k, const std::vector<DocumentId>* only);
// Counts the objects with each value.
std::string count_query(std::string_view collection, std::span<const PropertyValue> values);
// Counts the objects with each of the values, and returns some of them.
std::string named_query(std::string_view collection, std::string_view property,
                        std::span<const std::string> keys, std::size_t most);
// Returns objects with any of the values, and their values.
std::string any_named_query(std::string_view collection, std::string_view property,
                            std::span<const std::string> keys, std::size_t limit);
std::string top_values_query(std::string_view collection, std::string_view property, std::size_t most);

// Best first; equal ones by chunk.
std::vector<Hit> lexical_hits(const Json& data, std::string_view collection);
std::vector<Hit> nearest_hits(const Json& data, std::string_view collection);
// upstream_failed: a count is missing.
Result<std::vector<std::uint64_t>> counts_in(const Json& data, std::size_t values);
Result<std::vector<NamedChunks>> named_in(const Json& data, std::size_t keys);
// None: there may be more objects than `limit`.
std::optional<std::vector<NamedChunks>> any_named_in(const Json& data, std::string_view collection,
                                                     std::string_view property,
                                                     std::span<const std::string> keys, std::size_t most,
                                                     std::size_t limit);
// The number of chunks, by the alias `all` of an aggregation; 0 if there is none.
std::uint64_t count_of_all(const Json& data);
std::vector<NameCount> top_values_in(const Json& data, std::string_view collection,
                                     std::string_view property);

}  // namespace plimsoll::weaviate
