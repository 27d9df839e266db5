// Options that `plimsoll ask` and `plimsoll chat` share.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "ask/conversation.hpp"
#include "terminal/globals.hpp"

namespace plimsoll {

struct AskOptions {
  std::string index;  // index to search; empty: none
  std::string model;
  std::vector<std::string> upstreams;
  std::string model_file;
  std::string system;
  std::optional<Tokens> window;
  std::optional<Tokens> max_tokens;
  std::optional<Tokens> budget;
  double temperature = 0;
  bool memory = false;    // include stored memories
  bool generate = false;  // a small embedded model writes the answer, too
};

void add_ask_options(CLI::App& command, AskOptions& options);

// Returns the options for a command line: " manual --memory", or "".
std::string as_arguments(const AskOptions& options);

// Loads the settings, overridden by the options.
Result<config::Settings> settings_for(Globals globals, const AskOptions& options);

// Returns the request without messages. `small`: the model needs a repeat penalty.
nlohmann::ordered_json request_for(const AskOptions& options, bool small);
// Returns the system message, if there is one.
nlohmann::ordered_json opening_messages(const AskOptions& options);

// Shown below an answer that reached its length limit.
inline constexpr std::string_view cut_off_note = "(cut off at its length; --max-tokens allows more)\n";

// Returns a warning if an index was named but the answer has no passage from it, or none near the question;
// else "".
std::string documents_note(const Spoken& spoken);

// "[1] docs/budget.md > Margin", one per line; "" if there are none.
std::string sources_text(const std::vector<Source>& sources);

}  // namespace plimsoll
