#include "window/providers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text/text.hpp"
#include "window/names.hpp"

namespace plimsoll::window {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

// Sources without a provider prefix are the vendors' own.
constexpr std::array makers{Pair{"gpt-", "openai"},       Pair{"o1", "openai"},
                            Pair{"o3", "openai"},         Pair{"o4", "openai"},
                            Pair{"claude-", "anthropic"}, Pair{"deepseek-", "deepseek"},
                            Pair{"gemini-", "gemini"},    Pair{"command-", "cohere"}};

// Hosts or suffixes of hosts.
constexpr std::array hosts{Pair{"api.openai.com", "openai"},
                           Pair{".openai.azure.com", "azure"},
                           Pair{"api.anthropic.com", "anthropic"},
                           Pair{"generativelanguage.googleapis.com", "gemini"},
                           Pair{"api.x.ai", "xai"},
                           Pair{"api.mistral.ai", "mistral"},
                           Pair{"api.deepseek.com", "deepseek"},
                           Pair{"api.cohere.com", "cohere"},
                           Pair{"api.fireworks.ai", "fireworks_ai"},
                           Pair{"api.deepinfra.com", "deepinfra"},
                           Pair{"api.cerebras.ai", "cerebras"},
                           Pair{"api.novita.ai", "novita"},
                           Pair{"api.perplexity.ai", "perplexity"},
                           Pair{"api.z.ai", "zai"},
                           Pair{"dashscope.aliyuncs.com", "dashscope"},
                           Pair{"dashscope-intl.aliyuncs.com", "dashscope"}};

}  // namespace

std::string provider_of(const ModelCard& card) {
  // "litellm 1.108.4: azure/gpt-4", "rule D6; max_output from litellm 1.108.4: deepseek-chat"
  const std::size_t colon = card.source.rfind(": ");
  if (colon == std::string::npos) return {};
  const std::string_view path = std::string_view(card.source).substr(colon + 2);
  if (const std::size_t slash = path.find('/'); slash != std::string_view::npos)
    return std::string(path.substr(0, slash));
  for (const auto& [prefix, provider] : makers)
    if (path.starts_with(prefix)) return std::string(provider);
  return {};
}

std::string_view provider_at(std::string_view url) {
  const std::size_t scheme = url.find("://");
  std::string_view host = scheme == std::string_view::npos ? url : url.substr(scheme + 3);
  host = host.substr(0, host.find_first_of("/?#"));
  if (const std::size_t user = host.rfind('@'); user != std::string_view::npos) host.remove_prefix(user + 1);
  host = host.substr(0, host.find(':'));
  const std::string name = base::to_lower_ascii(host);
  for (const auto& [known, provider] : hosts)
    if (known.starts_with('.') ? name.ends_with(known) : name == known) return provider;
  return "?";
}

bool is_provider(std::string_view name) {
  return std::ranges::any_of(hosts, [&](const Pair& one) { return one.second == name; });
}

std::optional<Prices> prices_at(const ModelCatalogue& catalogue, std::string_view model,
                                std::string_view url) {
  const auto match = catalogue.find(model);
  if (!match || match->kind == MatchKind::partial || !match->card->prices) return std::nullopt;
  const CardPrices& card = *match->card->prices;
  if (!card.provider.empty() && card.provider != provider_at(url)) return std::nullopt;
  const std::string key = key_of(words_of(model.substr(model.rfind('/') + 1)));  // npos + 1 is 0
  const auto is_it = [&](const std::string& name) { return key_of(words_of(name)) == key; };
  if (!card.names.empty() && std::ranges::none_of(card.names, is_it)) return std::nullopt;
  return card.prices;
}

}  // namespace plimsoll::window
