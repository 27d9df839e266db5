#include "commands/ask_command.hpp"

#include <memory>

#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask/answer_check.hpp"
#include "ask/ask_options.hpp"
#include "base/files.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"
#include "ingest/read/media_type.hpp"
#include "ingest/read/read.hpp"
#include "reports/inspect_report.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

struct AskCommand {
  std::vector<std::string> words;  // [NAME] QUESTION
  AskOptions options;
  bool explain = false;
  bool brief = false;  // the default; accepted for scripts
  bool json = false;
  bool reads_input = false;  // one of the words is -
};

constexpr std::string_view standard_input = "-";

Json answer_json(const Spoken& spoken, const CheckedAnswer& check) {
  Json sources = Json::array();
  const auto known = [](std::uint64_t number) { return number > 0 ? Json(number) : Json(); };
  for (const Source& source : spoken.sources)
    sources.push_back({{"number", source.number},
                       {"document", source.document},
                       {"path", source.path},
                       {"page", known(source.page)},
                       {"last_page", known(source.last_page)},
                       {"first_line", known(source.first_line)},
                       {"last_line", known(source.last_line)},
                       {"text", source.text}});
  return {{"answer", spoken.text},
          {"written_by", spoken.is_quoted ? "quotation" : "model"},
          {"check", check_json(spoken, check)},
          {"model", spoken.trace.model},
          {"upstream", spoken.trace.upstream},
          {"finish_reason", spoken.finish_reason},
          {"without_documents", spoken.without_documents.empty() ? Json() : Json(spoken.without_documents)},
          {"nothing_near", spoken.nothing_near.empty() ? Json() : Json(spoken.nothing_near)},
          {"sources", std::move(sources)},
          {"trace", base::parse_json(trace_json(spoken.trace))}};
}

// Removes the index name from the words. The first of several words is the index if one of that name exists;
// the first of two words must be an index.
Result<void> take_index(AskCommand& command, Conversation& conversation) {
  std::vector<std::string>& words = command.words;
  if (words.front() == standard_input) return {};
  const auto known = conversation.check_index(words.front());
  if (known && words.size() == 1)
    return fail(Errc::bad_input, "'{0}' is an index; ask it something: plimsoll ask {0} QUESTION",
                words.front());
  if (known) {
    command.options.index = words.front();
    words.erase(words.begin());
  } else if (words.size() == 2) {
    const std::string hint =
        words.back() == standard_input
            ? fmt::format("If '{0}' is the question, put it last: plimsoll ask - {0}", words.front())
            : fmt::format("If '{0} {1}' is the question, put it in quotes: plimsoll ask \"{0} {1}\"",
                          words.front(), words.back());
    return fail(known.error().code, "{}. {}", known.error().what, hint);
  }
  return {};
}

// Returns the question. `-` before or after it adds the text of standard input; `-` alone reads the question
// from there.
Result<std::string> question_of(AskCommand& command, Conversation& conversation) {
  TRY_VOID(take_index(command, conversation));
  std::vector<std::string>& words = command.words;
  std::string text;
  command.reads_input = words.front() == standard_input || words.back() == standard_input;
  if (command.reads_input) {
    constexpr std::uint64_t most_bytes = 10'000'000;
    TRY(text, base::read_file("/dev/stdin", most_bytes));
    if (ingest::packed_type(text)) {  // PDF, .docx: the model gets the text in it
      TRY(auto document, ingest::read_document(text, "standard input", {}));
      text = std::move(document.text);
    }
    words.erase(words.front() == standard_input ? words.begin() : words.end() - 1);
  }
  std::string question = fmt::format("{}", fmt::join(words, " "));
  if (base::trim(question).empty()) std::swap(question, text);
  if (base::trim(question).empty()) return fail(Errc::bad_input, "the question is empty");
  // The text comes first: models follow the last instruction they read.
  return base::trim(text).empty() ? question : text + (text.ends_with('\n') ? "\n" : "\n\n") + question;
}

// Returns whether a pipe or file on standard input has unread data. Does not block.
bool has_unread_input() {
  struct stat status {};
  if (::fstat(STDIN_FILENO, &status) != 0) return false;
  if (S_ISREG(status.st_mode)) return ::lseek(STDIN_FILENO, 0, SEEK_CUR) < status.st_size;
  int bytes = 0;
  return S_ISFIFO(status.st_mode) && ::ioctl(STDIN_FILENO, FIONREAD, &bytes) == 0 && bytes > 0;
}

// Prints a notice, once, if standard input has data that was not read.
class InputNotice {
 public:
  explicit InputNotice(bool is_read) : done_(is_read) {}
  void look() {
    if (done_ || !has_unread_input()) return;
    done_ = true;
    fmt::print(stderr,
               "plimsoll: standard input was not read; use `plimsoll ask - QUESTION` to include it\n");
  }

 private:
  bool done_;
};

// Prints the answer, unless JSON is wanted, and returns it.
Result<Spoken> answer_of(const AskCommand& command, Conversation& conversation, Json request,
                         const std::string& question) {
  if (quotes(command.options, conversation)) {
    TRY(Spoken spoken, conversation.quote(std::move(request), question));
    if (!command.json) TRY_VOID(print_out(quoted_text(spoken)));
    return spoken;
  }
  bool heard = true;
  return conversation.say(std::move(request), [&](std::string_view words) {
    if (!command.json && heard) heard = print_out(words).has_value();
  });
}

Result<void> run(const Globals& globals, AskCommand& command) {
  TRY(const config::Settings settings, settings_for(globals, command.options));
  TRY_VOID(check_named_store(globals, settings));
  TRY(const auto conversation, Conversation::open(settings, command.options.upstreams));
  TRY_VOID(conversation->check_model(command.options.model));
  TRY(const std::string question, question_of(command, *conversation));
  InputNotice notice(command.reads_input);
  notice.look();
  Json request = request_for(command.options, conversation->is_embedded());
  request["messages"] = opening_messages(command.options);
  request["messages"].push_back({{"role", "user"}, {"content", question}});
  TRY(const Spoken spoken, answer_of(command, *conversation, std::move(request), question));
  notice.look();  // the writer of the pipe may be slow
  const CheckedAnswer check = checked(spoken, question, command.options, *conversation);
  if (command.json) return print_out(base::readable_json(answer_json(spoken, check)));
  std::string rest = "\n";
  if (spoken.finish_reason == "length") rest += cut_off_note;
  rest += check_text(spoken, check, terminal_of_stdout());
  rest += documents_note(spoken);
  if (!spoken.sources.empty()) rest += "\nSources\n" + sources_text(spoken.sources);
  if (command.explain)
    rest += "\n" + trace_report(spoken.trace, {}, terminal_of_stdout(),
                                spoken.without_documents + spoken.nothing_near);
  return print_out(rest);
}

constexpr const char* ask_examples =
    "Prints the answer as the model generates it, then its sources. --explain also draws the window.\n"
    "Without a model server, the embedded model answers. QUESTION may be several words. - reads standard\n"
    "input, as text in addition to the question or as the question itself.\n"
    "\n"
    "An answer about documents is compared with its sources, sentence by sentence. An embedded model with\n"
    "less than a billion parameters does not write it: the best sentences are quoted, unless --generate is\n"
    "given.\n"
    "\n"
    "Examples:\n"
    "  plimsoll ask \"What is a Plimsoll line?\"\n"
    "  plimsoll index add manual docs && plimsoll ask manual \"How is the margin chosen?\"\n"
    "  plimsoll ask manual \"How is the margin chosen?\" --upstream http://gpu:8000/v1 --model qwen2.5:7b\n"
    "  plimsoll ask manual \"How is the margin chosen?\" --explain\n"
    "  plimsoll ask manual \"How is the margin chosen?\" --generate      the small model writes\n"
    "  plimsoll ask --model-file llama-3.2-3b.gguf Why is the sky blue\n"
    "  git diff | plimsoll ask - \"What changed?\"\n"
    "  plimsoll ask manual \"Which port?\" --json | jq .sources\n"
    "  plimsoll memory add \"My dog is called Rex\" && plimsoll ask \"What is my dog called?\" "
    "--memory\n";

}  // namespace

void add_ask_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto command = std::make_shared<AskCommand>();
  CLI::App* sub = app.add_subcommand("ask", "Answer a question, from your documents if an index is named");
  sub->footer(ask_examples);
  sub->add_option("NAME QUESTION", command->words,
                  "The index to search (optional), the question, and - for standard input")
      ->required();
  add_ask_options(*sub, command->options);
  sub->add_flag("--explain", command->explain, "Also draw the window, and list what went in and why");
  sub->add_flag("--brief", command->brief, "Print only the answer and its sources (default)")
      ->excludes("--explain");
  sub->add_flag("--json", command->json, "Print JSON after the whole answer")->excludes("--brief");
  sub->callback([command, &globals, &exit_code] {
    if (const auto done = run(globals, *command); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
