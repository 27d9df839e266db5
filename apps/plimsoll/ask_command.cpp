#include "ask_command.hpp"

#include <memory>

#include <fmt/ranges.h>

#include "ask_options.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "inspect_report.hpp"
#include "terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

struct AskCommand {
  std::vector<std::string> words;  // [NAME] QUESTION
  AskOptions options;
  bool explain = false;
  bool brief = false;  // the default; scripts may say it
  bool json = false;
};

Json answer_json(const Spoken& spoken) {
  Json sources = Json::array();
  const auto known = [](std::uint64_t number) { return number > 0 ? Json(number) : Json(); };
  for (const Source& source : spoken.sources)
    sources.push_back({{"number", source.number},
                       {"document", source.document},
                       {"path", source.path},
                       {"page", known(source.page)},
                       {"first_line", known(source.first_line)},
                       {"last_line", known(source.last_line)},
                       {"text", source.text}});
  return {{"answer", spoken.text},
          {"model", spoken.trace.model},
          {"upstream", spoken.trace.upstream},
          {"finish_reason", spoken.finish_reason},
          {"without_documents", spoken.without_documents.empty() ? Json() : Json(spoken.without_documents)},
          {"nothing_near", spoken.nothing_near.empty() ? Json() : Json(spoken.nothing_near)},
          {"sources", std::move(sources)},
          {"trace", Json::parse(trace_json(spoken.trace), nullptr, false)}};
}

// The first of several words is an index if there is one of that name. The first of two must be one.
Result<std::string> question_of(AskCommand& command, Conversation& conversation) {
  std::vector<std::string>& words = command.words;
  if (words.size() > 1) {
    const auto known = conversation.check_index(words.front());
    if (!known && words.size() == 2) return tl::unexpected(known.error());
    if (known) {
      command.options.index = words.front();
      words.erase(words.begin());
    }
  }
  std::string question = fmt::format("{}", fmt::join(words, " "));
  if (question == "-") {
    constexpr std::uint64_t most_bytes = 10'000'000;
    TRY(question, base::read_file("/dev/stdin", most_bytes));
  }
  if (base::trim(question).empty()) return fail(Errc::bad_input, "the question is empty");
  return question;
}

Result<void> run(const Globals& globals, AskCommand& command) {
  TRY(const base::Settings settings, settings_for(globals, command.options));
  TRY(const auto conversation, Conversation::open(settings, command.options.upstreams));
  TRY(const std::string question, question_of(command, *conversation));
  Json request = request_for(command.options, conversation->is_embedded());
  request["messages"] = opening_messages(command.options);
  request["messages"].push_back({{"role", "user"}, {"content", question}});
  bool heard = true;
  TRY(const Spoken spoken, conversation->say(std::move(request), [&](std::string_view words) {
    if (!command.json && heard) heard = print_out(words).has_value();
  }));
  if (command.json)
    return print_out(answer_json(spoken).dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  std::string rest = "\n";
  if (spoken.finish_reason == "length") rest += cut_off_note;
  rest += documents_note(spoken);
  if (!spoken.sources.empty()) rest += "\nSources\n" + sources_text(spoken.sources);
  if (command.explain)
    rest += "\n" + trace_report(spoken.trace, {}, terminal_of_stdout(),
                                spoken.without_documents + spoken.nothing_near);
  return print_out(rest);
}

constexpr const char* examples =
    "Prints the answer while the model writes it, then its sources. --explain draws the window as well.\n"
    "Without a model server, the embedded model answers. QUESTION may be several words, or - to read it\n"
    "from standard input.\n"
    "\n"
    "Examples:\n"
    "  plimsoll ask \"What is a Plimsoll line?\"\n"
    "  plimsoll index add manual docs && plimsoll ask manual \"How is the margin chosen?\"\n"
    "  plimsoll ask manual \"How is the margin chosen?\" --upstream http://gpu:8000/v1 --model qwen2.5:7b\n"
    "  plimsoll ask manual \"How is the margin chosen?\" --explain\n"
    "  plimsoll ask --model-file llama-3.2-3b.gguf Why is the sky blue\n"
    "  git diff | plimsoll ask -\n"
    "  plimsoll ask manual \"Which port?\" --json | jq .sources\n"
    "  plimsoll memory add \"The ship is called Aurora\" && plimsoll ask \"What is my ship called?\" "
    "--memory\n";

}  // namespace

void add_ask_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto command = std::make_shared<AskCommand>();
  CLI::App* sub = app.add_subcommand("ask", "Answer a question, from your documents if an index is named");
  sub->footer(examples);
  sub->add_option("NAME QUESTION", command->words,
                  "The index to look into, which may be left out; and the question, or - for standard input")
      ->required();
  add_ask_options(*sub, command->options);
  sub->add_flag("--explain", command->explain, "Also draw the window and list what went in, and why");
  sub->add_flag("--brief", command->brief, "The answer and its sources alone (default)")
      ->excludes("--explain");
  sub->add_flag("--json", command->json, "As JSON, when all is said")->excludes("--brief");
  sub->callback([command, &globals, &exit_code] {
    if (const auto done = run(globals, *command); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
