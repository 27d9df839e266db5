// The provider of a server, and the provider of the catalogue's numbers. Providers limit answers differently:
// a limit of one does not apply to another.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "plimsoll/models.hpp"

namespace plimsoll::window {

// Returns the provider in the card's `source`, by its LiteLLM name: "openai", "azure", "gemini".
// Empty: not known.
std::string provider_of(const ModelCard& card);

// Returns the provider of a URL, by the same names. "?": not a known provider.
std::string_view provider_at(std::string_view url);

// Returns whether provider_at() may return it.
bool is_provider(std::string_view name);

// Returns the prices of a model on the server of a URL. None: not known. Prices of a provider apply to its
// own server and to the names that the catalogue lists for them: a name with another date may cost something
// else.
std::optional<Prices> prices_at(const ModelCatalogue& catalogue, std::string_view model,
                                std::string_view url);

}  // namespace plimsoll::window
