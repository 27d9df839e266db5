#include "ask/ask_options.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {

using Json = nlohmann::ordered_json;

void add_ask_options(CLI::App& command, AskOptions& options) {
  command.add_option("--model", options.model, "Model (default: the first available)")->type_name("M");
  command.add_option("--upstream", options.upstreams, "Model server, as for `plimsoll serve`")
      ->type_name("[NAME=]URL|embedded")
      ->allow_extra_args(false);
  command
      .add_option("--model-file", options.model_file, "Weights of the embedded model (default: SmolLM2 135M)")
      ->type_name("FILE.gguf");
  command.add_option("--system", options.system, "System prompt")->type_name("TEXT");
  command
      .add_option("--window", options.window,
                  "Window of the embedded model in tokens (default: at most 8,192)")
      ->type_name("TOKENS")
      ->check(CLI::Range(Tokens{1'024}, Tokens{100'000'000}));
  command.add_option("--max-tokens", options.max_tokens, "Most tokens of the answer")
      ->type_name("TOKENS")
      ->check(CLI::Range(Tokens{1}, Tokens{1'000'000}));
  command
      .add_option("--budget", options.budget,
                  "Most tokens of passages (default: what is relevant, for an embedded model at most 500)")
      ->type_name("TOKENS")
      ->check(CLI::Range(Tokens{0}, Tokens{100'000'000}));
  command.add_flag("--memory", options.memory,
                   "Include stored memories (`plimsoll memory`) as far as they fit");
  command.add_flag("--generate", options.generate,
                   "Let a small embedded model write about documents; the default is to quote them");
  command.add_option("--temperature", options.temperature, "Sampling temperature from 0 (default) to 2")
      ->check(CLI::Range(0.0, 2.0));
}

std::string as_arguments(const AskOptions& options) {
  std::string out;
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) out += fmt::format(" {} {}", name, as_argument(value));
  };
  if (!options.index.empty()) out += " " + as_argument(options.index);
  add("--model", options.model);
  for (const std::string& upstream : options.upstreams) add("--upstream", upstream);
  add("--model-file", options.model_file);
  add("--system", options.system);
  if (options.window) add("--window", std::to_string(*options.window));
  if (options.max_tokens) add("--max-tokens", std::to_string(*options.max_tokens));
  if (options.budget) add("--budget", std::to_string(*options.budget));
  if (options.temperature > 0) add("--temperature", fmt::format("{}", options.temperature));
  if (options.memory) out += " --memory";
  if (options.generate) out += " --generate";
  return out;
}

Result<config::Settings> settings_for(Globals globals, const AskOptions& options) {
  if (!options.model_file.empty()) globals.set.push_back("embedded_model_file=" + options.model_file);
  if (options.window) globals.set.push_back(fmt::format("embedded_window={}", *options.window));
  globals.set.emplace_back("embedded_slots=1");
  return load_settings(globals);
}

Json request_for(const AskOptions& options, bool small) {
  Json request{{"model", options.model}, {"messages", Json::array()}, {"temperature", options.temperature}};
  if (!options.index.empty()) request["index_name"] = options.index;
  if (options.max_tokens) request["max_tokens"] = *options.max_tokens;
  if (options.memory) request["plimsoll"]["memory"] = true;
  if (small) request["repeat_penalty"] = 1.1;  // small models repeat themselves without it
  if (options.budget) request["plimsoll"]["budget"] = *options.budget;
  return request;
}

Json opening_messages(const AskOptions& options) {
  Json messages = Json::array();
  if (!options.system.empty()) messages.push_back({{"role", "system"}, {"content", options.system}});
  return messages;
}

std::string documents_note(const Spoken& spoken) {
  if (!spoken.nothing_near.empty())
    return fmt::format("\nWARNING: {}\n", printable(spoken.nothing_near, 500));
  if (spoken.without_documents.empty()) return {};
  return fmt::format("\nWARNING: this answer does not use your documents. {}\n",
                     printable(spoken.without_documents));
}

namespace {

// ", page 3", ", lines 10-14" or nothing.
std::string place_of(const Source& source) {
  if (source.page > 0) return pages_text(source.page, source.last_page);
  if (source.first_line == 0) return {};
  if (source.first_line == source.last_line) return fmt::format(", line {}", source.first_line);
  return fmt::format(", lines {}-{}", source.first_line, source.last_line);
}

}  // namespace

std::string sources_text(const std::vector<Source>& sources) {
  std::string text;
  for (const Source& source : sources)
    text += fmt::format("  [{}] {}{}{}{}\n", source.number, printable(source.document), place_of(source),
                        source.path.empty() ? "" : " > ", printable(source.path));
  return text;
}

}  // namespace plimsoll
