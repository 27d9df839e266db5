#include "adapters/embed_http/embedder.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/try.hpp"

namespace plimsoll::embed_http {
namespace {

using Json = nlohmann::json;

// No embedder of today has more.
constexpr std::size_t most_dimensions = 65'536;

// What a server said went wrong, as far as it can be told: {"error": "..."} or {"error": {"message": "..."}}.
std::string complaint(std::string_view body) {
  if (!base::check_json_shape(body, "the reply")) return "";
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("error")) return "";
  const Json& error = json["error"];
  const Json& message = error.is_object() && error.contains("message") ? error["message"] : error;
  return message.is_string() ? ": " + message.get<std::string>().substr(0, 300) : "";
}

// Where vector i of a reply stands, or null.
const Json* vector_at(Dialect dialect, const Json& body, std::size_t i) {
  if (!body.is_object()) return nullptr;
  const auto list = body.find(dialect == Dialect::openai ? "data" : "embeddings");
  if (list == body.end() || !list->is_array() || i >= list->size()) return nullptr;
  if (dialect == Dialect::ollama) return &(*list)[i];
  // Each entry says its place; servers keep the order, but nobody promised it.
  for (const Json& entry : *list) {
    if (!entry.is_object() || !entry.contains("embedding")) return nullptr;
    const auto index = entry.find("index");
    if (index != entry.end() && index->is_number_unsigned() && index->get<std::size_t>() == i)
      return &entry["embedding"];
  }
  const Json& entry = (*list)[i];
  return entry.contains("index") ? nullptr : &entry["embedding"];
}

Result<void> append_unit(std::vector<float>& out, const Json& values, std::size_t& dimensions) {
  if (!values.is_array() || values.empty() || values.size() > most_dimensions ||
      (dimensions != 0 && values.size() != dimensions)) {
    return fail(Errc::upstream_failed, "the embedding server gave a vector of {} dimensions instead of {}",
                values.size(), dimensions);
  }
  dimensions = values.size();
  double norm = 0;
  for (const Json& value : values) {
    if (!value.is_number() || !std::isfinite(value.get<double>())) {
      return fail(Errc::upstream_failed,
                  "the embedding server gave a vector that holds something else than numbers");
    }
    norm += value.get<double>() * value.get<double>();
  }
  const double scale = norm > 0 ? 1 / std::sqrt(norm) : 0;
  for (const Json& value : values) out.push_back(static_cast<float>(value.get<double>() * scale));
  return {};
}

class HttpEmbedder final : public Embedder {
 public:
  HttpEmbedder(HttpClient& http, Options options) : http_(http), options_(std::move(options)) {
    info_.name = options_.name;
  }

  Result<void> learn(Deadline deadline) {
    const std::string_view text = "dimensions";
    TRY(const auto vector, ask(std::span(&text, 1), deadline));
    info_.dimensions = static_cast<std::uint32_t>(vector.size());
    return {};
  }

  const EmbedderInfo& info() const override { return info_; }

  Result<std::vector<float>> embed(std::span<const std::string_view> texts, Deadline deadline) override {
    std::vector<float> out;
    while (!texts.empty()) {
      const auto some = texts.first(std::min(options_.texts_per_request, texts.size()));
      TRY(const auto vectors, ask(some, deadline));
      out.insert(out.end(), vectors.begin(), vectors.end());
      texts = texts.subspan(some.size());
    }
    return out;
  }

  Result<std::vector<float>> embed_query(std::string_view query, Deadline deadline) override {
    return ask(std::span(&query, 1), deadline);
  }

 private:
  Result<std::vector<float>> ask(std::span<const std::string_view> texts, Deadline deadline) {
    Json body{{"model", options_.model}, {"input", Json::array()}};
    for (const std::string_view text : texts)
      body["input"].push_back(text.empty() ? " " : text);  // servers refuse ""
    HttpRequest request{
        .method = "POST",
        .url = options_.root + (options_.dialect == Dialect::openai ? "/v1/embeddings" : "/api/embed"),
        .headers = {{"Content-Type", "application/json"}},
        .body = base::json_text(body)};
    if (!options_.key.empty())
      request.headers.push_back({"Authorization", "Bearer " + options_.key.reveal()});
    TRY(const HttpReply reply, http_.send(request, deadline));
    if (reply.status != 200) {
      return fail(reply.status == 404 ? Errc::not_found : Errc::upstream_failed,
                  "{} answered {} when asked to embed with '{}'{}", options_.shown, reply.status,
                  options_.model, complaint(reply.body));
    }
    return read_vectors(options_.dialect, reply.body, texts.size(), info_.dimensions);
  }

  HttpClient& http_;
  Options options_;
  EmbedderInfo info_;
};

}  // namespace

Result<std::vector<float>> read_vectors(Dialect dialect, std::string_view body, std::size_t texts,
                                        std::size_t dimensions) {
  TRY_VOID(base::check_json_shape(body, "the embedding server's reply"));
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  std::vector<float> out;
  for (std::size_t i = 0; i < texts; ++i) {
    const Json* values = vector_at(dialect, json, i);
    if (values == nullptr)
      return fail(Errc::upstream_failed, "the embedding server's reply has no vector for text {} of {}",
                  i + 1, texts);
    TRY_VOID(append_unit(out, *values, dimensions));
  }
  return out;
}

Result<std::unique_ptr<Embedder>> make_embedder(HttpClient& http, Options options, Deadline deadline) {
  auto embedder = std::make_unique<HttpEmbedder>(http, std::move(options));
  TRY_VOID(embedder->learn(deadline));
  return std::unique_ptr<Embedder>(std::move(embedder));
}

}  // namespace plimsoll::embed_http
