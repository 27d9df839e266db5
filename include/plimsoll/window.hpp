// How many tokens a model holds where it is served, who said so, and how sure that is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/tokens.hpp"

namespace plimsoll {

// From the surest to the least sure.
enum class WindowSource : std::uint8_t {
  configured,  // the user set it
  served,      // the server said what it really serves
  declared,    // the server or the model's file said what the model could do
  catalogue,   // known by the model's name
  assumed,     // nobody knew: DEFAULT_CONTEXT_WINDOW
};
// "configured", "served", "declared", "catalogue", "default".
std::string_view name_of(WindowSource source);

enum class Confidence : std::uint8_t { high, medium, low };
std::string_view name_of(Confidence confidence);

// One way that was tried, in order, and what came of it.
struct WindowAttempt {
  std::string way;     // "ollama POST /api/show", "catalogue"
  std::string result;  // "num_ctx 8,192", "timed out after 2 s", "no entry for 'my-model'"
};

struct Window {
  Tokens tokens = 0;
  WindowSource source = WindowSource::assumed;
  Confidence confidence = Confidence::low;
  std::vector<WindowAttempt> tried;
};

}  // namespace plimsoll
