// Who serves a model, and whose figures the catalogue has. Providers limit answers differently: what one of
// them allows says nothing of another.
#pragma once

#include <string>
#include <string_view>

#include "plimsoll/models.hpp"

namespace plimsoll::window {

// The provider whose figures the card's `source` names, in LiteLLM's words: "openai", "azure", "gemini".
// Empty: not known.
std::string provider_of(const ModelCard& card);

// The provider at an address, by the same words. "?" where the host is nobody's in particular.
std::string_view provider_at(std::string_view url);

}  // namespace plimsoll::window
