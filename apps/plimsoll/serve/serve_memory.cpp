#include "serve/serve_memory.hpp"

#include <set>
#include <thread>

#include "adapters/http/curl_client.hpp"
#include "adapters/memory_http/provider.hpp"
#include "base/paths.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"
#include "models/upstream.hpp"
#include "serve/find_window.hpp"

namespace plimsoll {
namespace {

constexpr std::size_t most_reply_bytes = 1'000'000;  // of a provider

std::chrono::milliseconds patience_of(const config::Settings& settings) {
  return std::chrono::ceil<std::chrono::milliseconds>(
      std::chrono::duration<double>(settings.memory_timeout_seconds));
}

// Parses "NAME=URL"; the key is in the variable NAME_API_KEY.
Result<memory_http::Options> provider_in(std::string_view text) {
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  const std::size_t equals = text.find('=');
  memory_http::Options options;
  options.name = text.substr(0, equals);
  if (equals == std::string_view::npos || options.name.empty() ||
      options.name.find_first_not_of(allowed) != std::string::npos)
    return fail(Errc::bad_setting,
                "memory_providers: expected NAME=URL; a name has letters, digits, '-', '_' and '.'");
  options.url = text.substr(equals + 1);
  options.shown = models::origin_of(options.url);
  if (options.shown.empty())
    return fail(Errc::bad_setting, "memory_providers: {} has no http or https URL", options.name);
  std::string variable = base::to_upper_ascii(options.name) + "_API_KEY";
  for (char& c : variable)
    if (c == '-' || c == '.') c = '_';
  options.key = base::Secret(std::string(base::value_of(base::current_environment(), variable)));
  return options;
}

Result<std::vector<memory_http::Options>> providers_of(const config::Settings& settings) {
  std::vector<memory_http::Options> out;
  std::set<std::string> names;
  for (const std::string& text : settings.memory_providers) {
    TRY(auto options, provider_in(text));
    if (!names.insert(options.name).second)
      return fail(Errc::bad_setting, "memory_providers: the name '{}' is used twice", options.name);
    out.push_back(std::move(options));
  }
  return out;
}

}  // namespace

memory::FindEmbedder memory_embedder(const config::Settings& settings, Documents& documents) {
  if (settings.embedders.empty()) return {};
  return [&documents] { return documents.embedder(std::string(builtin_embedder)); };
}

ServedMemory::ServedMemory(const config::Settings& settings, Documents& documents,
                           std::unique_ptr<FactStore> store)
    : store_(std::move(store)),
      memories_(*store_, memory_embedder(settings, documents), settings.max_memories) {
  recall_.always = settings.recall_memories;
  recall_.base_min_trust = settings.base_min_trust;
  recall_.filter.above_importance = settings.memory_min_importance;
  recall_.filter.oldest_ms = settings.memory_max_age_days * 24 * 3600 * 1000;
  // Our own provider is local; its first query may wait for the embedder.
  recall_.providers.emplace_back(memory::make_own_provider(memories_.own()),
                                 patience_of(settings) + std::chrono::seconds(10));
}

Result<std::unique_ptr<ServedMemory>> ServedMemory::open(const config::Settings& settings,
                                                         Documents& documents) {
  TRY(auto providers, providers_of(settings));
  TRY(auto store, open_facts(settings, /*create=*/true));
  std::unique_ptr<ServedMemory> made(new ServedMemory(settings, documents, std::move(store)));
  const auto http =
      std::make_shared<adapters::CurlClient>("plimsoll/" PLIMSOLL_VERSION, trusted_certificates(),
                                             adapters::HttpLimits{.body_limit_bytes = most_reply_bytes});
  for (memory_http::Options& options : providers)
    made->recall_.providers.emplace_back(memory_http::make_provider(http, std::move(options)),
                                         patience_of(settings));
  return made;
}

ServedMemory::~ServedMemory() {
  const auto wait = std::chrono::milliseconds(1);
  while (*recall_.providers.front().unanswered > 0) std::this_thread::sleep_for(wait);
  // The other providers have their own deadlines and use none of our objects.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (const memory::AskedProvider& other : recall_.providers)
    while (*other.unanswered > 0 && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(wait);
}

}  // namespace plimsoll
