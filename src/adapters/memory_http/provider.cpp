#include "adapters/memory_http/provider.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/try.hpp"

namespace plimsoll::memory_http {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_read = 1'000;  // of one reply; what is beyond is not wanted anyway

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return {};
  if (found->is_string()) return found->get<std::string>();
  return found->is_number_integer() ? found->dump() : std::string();
}

// Between 0 and 1, whatever was said.
double share_of(const Json& object, const char* key, double otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return otherwise;
  const auto value = found->get<double>();
  return std::isfinite(value) ? std::clamp(value, 0.0, 1.0) : otherwise;
}

std::int64_t time_of(const Json& object) {
  constexpr double most = 9e15;  // what a double holds exactly
  const auto found = object.find("at");
  if (found == object.end() || !found->is_number()) return 0;
  const auto value = found->get<double>();
  return value >= 0 && value <= most ? static_cast<std::int64_t>(value) : 0;
}

class HttpProvider final : public MemoryProvider {
 public:
  HttpProvider(std::shared_ptr<HttpClient> http, Options options)
      : http_(std::move(http)), options_(std::move(options)) {}

  std::string_view name() const override { return options_.name; }
  bool takes_limits() const override { return true; }
  bool is_filtered() const override { return false; }

  Result<std::vector<RecalledFact>> recall(const RecallAsk& ask, Deadline deadline) override {
    const Json body{{"query", ask.query},
                    {"limit", ask.limit},
                    {"min_trust", ask.min_trust},
                    {"owner", ask.owner},
                    {"session", ask.session}};
    HttpRequest request{.method = "POST",
                        .url = options_.url,
                        .headers = {{"Content-Type", "application/json"}},
                        .body = base::json_text(body)};
    if (!options_.key.empty())
      request.headers.push_back({"Authorization", "Bearer " + options_.key.reveal()});
    TRY(const HttpReply reply, http_->send(request, deadline));
    if (reply.status != 200)
      return fail(Errc::upstream_failed, "{} answered {}", options_.shown, reply.status);
    return read_memories(reply.body);
  }

 private:
  std::shared_ptr<HttpClient> http_;
  Options options_;
};

}  // namespace

Result<std::vector<RecalledFact>> read_memories(std::string_view body) {
  TRY_VOID(base::check_json_shape(body, "the reply"));
  const Json json = Json::parse(body, nullptr, /*allow_exceptions=*/false);
  const auto list = json.is_object() ? json.find("memories") : json.end();
  if (!json.is_object() || list == json.end() || !list->is_array())
    return fail(Errc::upstream_failed, "the reply is no {{\"memories\": [...]}}");
  std::vector<RecalledFact> out;
  for (const Json& one : *list) {
    if (out.size() == most_read) break;
    if (!one.is_object() || !one.contains("text") || !one["text"].is_string())
      return fail(Errc::upstream_failed, "memory {} of the reply has no \"text\"", out.size() + 1);
    RecalledFact recalled;
    recalled.fact.id = text_of(one, "id").substr(0, 100);
    recalled.fact.text = one["text"].get<std::string>();
    recalled.fact.importance = share_of(one, "importance", 0.7);
    recalled.fact.trust = share_of(one, "trust", 0.5);
    recalled.fact.created_ms = recalled.fact.updated_ms = time_of(one);
    // Their order is their score.
    recalled.score = 61.0 / (61.0 + static_cast<double>(out.size()));
    out.push_back(std::move(recalled));
  }
  return out;
}

std::shared_ptr<MemoryProvider> make_provider(std::shared_ptr<HttpClient> http, Options options) {
  return std::make_shared<HttpProvider>(std::move(http), std::move(options));
}

}  // namespace plimsoll::memory_http
