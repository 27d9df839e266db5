// What `plimsoll ask` and `plimsoll chat` have in common: whom they ask, and how.
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
  std::string index;  // whose documents are looked into; empty: none
  std::string model;
  std::vector<std::string> upstreams;
  std::string model_file;
  std::string system;
  std::optional<Tokens> window;
  std::optional<Tokens> max_tokens;
  std::optional<Tokens> budget;
  double temperature = 0;
  bool memory = false;  // what is remembered comes along
};

void add_ask_options(CLI::App& command, AskOptions& options);

// What was said on the command line, to be said again: " manual --memory", or nothing.
std::string as_arguments(const AskOptions& options);

// The settings with what the options say above them.
Result<base::Settings> settings_for(Globals globals, const AskOptions& options);

// The request but for its messages. `small`: the model is, and repeats itself unless it is told not to.
nlohmann::ordered_json request_for(const AskOptions& options, bool small);
// What the model is told first.
nlohmann::ordered_json opening_messages(const AskOptions& options);

// Stands below an answer that ended for its length alone.
inline constexpr std::string_view cut_off_note = "(cut off at its length; --max-tokens allows more)\n";

// A line that says so where an index was named and the answer has no passage of it, or none that is near the
// question; else empty.
std::string documents_note(const Spoken& spoken);

// "[1] docs/budget.md > Margin", one a line; empty where there are none.
std::string sources_text(const std::vector<Source>& sources);

}  // namespace plimsoll
