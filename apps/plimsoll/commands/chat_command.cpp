#include "commands/chat_command.hpp"

#include <memory>

#include "ask/answer_check.hpp"
#include "ask/ask_options.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "commands/memory_command.hpp"
#include "index/documents.hpp"
#include "index/stores.hpp"
#include "reports/inspect_report.hpp"
#include "reports/plan_report.hpp"
#include "terminal/line_reader.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

struct ChatCommand {
  AskOptions options;
  std::string session;
};

constexpr const char* commands =
    "  /context   draw the current window\n"
    "  /why       plan, usage and passages of the last request\n"
    "  /sources   list the sources of the last answer\n"
    "  /remember  store the fact that follows; conversations with --memory use it\n"
    "  /help      list these commands\n"
    "  /quit      end the conversation; Ctrl-D does the same\n";

// One conversation. Each turn is stored before the next prompt.
class Chat {
 public:
  Chat(ChatCommand& command, Conversation& conversation, SessionStore& sessions, SessionLimits limits)
      : command_(command), conversation_(conversation), sessions_(sessions), limits_(limits) {}

  Result<void> begin() {
    messages_ = opening_messages(command_.options);
    TRY(const auto turns, sessions_.turns(local_owner, command_.session));
    for (const Turn& turn : turns) messages_.push_back({{"role", turn.role}, {"content", turn.text}});
    const std::string model = conversation_.model_named(command_.options.model);
    return print_out(
        fmt::format("Session {}{}. {}{}. /help lists the commands, /quit ends.\n", command_.session,
                    turns.empty() ? "" : ", " + several(turns.size(), "message") + " so far",
                    model.empty() ? "No model found" : "Model " + printable(model),
                    command_.options.index.empty() ? "" : ", index " + printable(command_.options.index)));
  }

  // Handles a line. False: end the conversation.
  Result<bool> take(const std::string& line) {
    if (line == "/quit" || line == "/exit") return false;
    if (line == "/help") {
      TRY_VOID(print_out(commands));
    } else if (line == "/context") {
      TRY_VOID(show_context());
    } else if (line == "/why" || line == "/sources") {
      if (!last_) {
        TRY_VOID(print_out("No question yet.\n"));
      } else {
        TRY_VOID(print_out(line == "/why" ? trace_report(last_->trace, {}, terminal_of_stdout())
                                          : sources_text(last_->sources)));
      }
    } else if (line.starts_with("/remember ")) {
      TRY_VOID(remember(line.substr(line.find(' ') + 1)));
    } else if (line == "/remember") {
      TRY_VOID(print_out("A fact is missing. Example: /remember Ann likes tea\n"));
    } else if (line.starts_with('/')) {
      TRY_VOID(print_out(fmt::format("Unknown command {}.\n{}", printable(line, 40), commands)));
    } else if (!line.empty()) {
      TRY_VOID(ask(line));
    }
    return true;
  }

  bool has_turns() const { return !messages_.empty(); }
  // The code of the last failure if no question was answered, else 0.
  int exit_code() const { return last_ ? 0 : failed_; }

 private:
  Json request(const std::string& question) const {
    Json body = request_for(command_.options, conversation_.is_embedded());
    body["messages"] = messages_;
    body["messages"].push_back({{"role", "user"}, {"content", question}});
    body["plimsoll"]["session"] = command_.session;
    return body;
  }

  Result<void> show_context() {
    // Its passages are those of the question, so none are looked for.
    Json next = request("(your next question)");
    next.erase("index_name");
    TRY(const Plan plan, conversation_.plan(next));
    return print_out(plan_report(plan, terminal_of_stdout()));
  }

  Result<void> remember(const std::string& fact) {
    const auto added = conversation_.remember(fact);
    if (!added) {
      (void)complain(added.error());
      return {};
    }
    TRY_VOID(tell_added(*added));
    return command_.options.memory ? Result<void>() : print_out("Start with --memory to use it.\n");
  }

  // Prints the answer and returns it.
  Result<Spoken> answer_to(const std::string& question) {
    const auto step = [](std::string_view what) { (void)print_out(fmt::format("({}...)\n", what)); };
    if (quotes(command_.options, conversation_)) {
      TRY(Spoken spoken, conversation_.quote(request(question), question, step));
      TRY_VOID(print_out(quoted_text(spoken)));
      return spoken;
    }
    bool heard = true;
    return conversation_.say(
        request(question),
        [&](std::string_view words) {
          if (heard) heard = print_out(words).has_value();
        },
        step);
  }

  // A failed question is reported and not added to the conversation.
  Result<void> ask(const std::string& question) {
    const auto now = base::utc_ms();
    auto spoken = answer_to(question);
    if (!spoken) {
      failed_ = complain(spoken.error());
      return {};
    }
    Turn asked{"user", question, now, spoken->trace.id, command_.options.index, spoken->trace.model};
    Turn answered = asked;
    answered.role = "assistant";
    answered.text = spoken->is_quoted && spoken->text.empty() ? no_quotation(*spoken) : spoken->text;
    const Turn both[] = {asked, answered};
    TRY_VOID(sessions_.append(local_owner, command_.session, both, limits_));
    messages_.push_back({{"role", "user"}, {"content", question}});
    messages_.push_back({{"role", "assistant"}, {"content", answered.text}});
    last_ = *std::move(spoken);
    const std::string check =
        check_text(*last_, checked(*last_, question, command_.options, conversation_), terminal_of_stdout());
    const Trace& trace = last_->trace;
    const bool cut = last_->finish_reason == "length";
    return print_out(
        fmt::format("\n{}{}{}[{} of {} tokens{}]\n\n", cut ? cut_off_note : "", check, documents_note(*last_),
                    base::with_thousands(trace.input + last_answer()), base::with_thousands(trace.window),
                    last_->is_compressed ? "; older turns are sent as a summary, see /why" : ""));
  }

  Tokens last_answer() const { return last_->trace.usage.answer.value_or(0); }

  ChatCommand& command_;
  Conversation& conversation_;
  SessionStore& sessions_;
  SessionLimits limits_;
  Json messages_ = Json::array();
  std::optional<Spoken> last_;
  int failed_ = 0;
};

// "plimsoll chat manual --session manual-1 --store x.db".
std::string command_to_go_on(Globals globals, const ChatCommand& command) {
  constexpr std::string_view set_store = "store_file=";
  std::string store;
  for (const std::string& one : globals.set)
    if (one.starts_with(set_store)) store = " --store " + as_argument(one.substr(set_store.size()));
  std::erase_if(globals.set, [&](const std::string& one) { return one.starts_with(set_store); });
  return fmt::format("plimsoll{} chat{} --session {}{}", as_arguments(globals), as_arguments(command.options),
                     as_argument(command.session), store);
}

Result<int> run(const Globals& globals, ChatCommand& command) {
  TRY(const config::Settings settings, settings_for(globals, command.options));
  TRY_VOID(check_named_store(globals, settings));
  TRY(const auto conversation, Conversation::open(settings, command.options.upstreams));
  TRY(const auto sessions, open_sessions(settings, /*create=*/true));
  TRY_VOID(conversation->check_model(command.options.model));
  if (!command.options.index.empty()) TRY_VOID(conversation->check_index(command.options.index));
  if (command.session.empty()) command.session = base::random_text(6);
  Chat chat(command, *conversation, *sessions,
            {settings.max_session_turns, settings.max_session_bytes, settings.max_sessions});
  TRY_VOID(chat.begin());
  LineReader lines(settings.store_file.parent_path() / "chat-history");
  while (const auto line = lines.next("> ")) {
    TRY(const bool goes_on, chat.take(std::string(base::trim(*line))));
    if (!goes_on) break;
  }
  if (chat.has_turns())
    TRY_VOID(print_out(fmt::format("\nContinue with: {}\n", command_to_go_on(globals, command))));
  return chat.exit_code();
}

constexpr const char* chat_examples =
    "The conversation is stored under the name of its session and can be continued later. Old turns are\n"
    "compressed before the window is full, so a conversation can go on indefinitely.\n"
    "\n"
    "Examples:\n"
    "  plimsoll chat                              with a local Ollama, else the embedded model\n"
    "  plimsoll chat manual --session manual-1    about your documents, in a named session\n"
    "  plimsoll chat --window 2048                in a small window, to see compression\n"
    "  plimsoll chat --memory                     with stored memories\n"
    "\n"
    "Commands during a conversation:\n";

}  // namespace

void add_chat_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto command = std::make_shared<ChatCommand>();
  CLI::App* sub = app.add_subcommand("chat", "Chat with a model, about your documents if an index is named");
  sub->footer(std::string(chat_examples) + commands);
  sub->add_option("NAME", command->options.index, "The index to search");
  sub->add_option("--session", command->session, "Continue this session, or start it (default: a new one)")
      ->type_name("S");
  add_ask_options(*sub, command->options);
  sub->callback([command, &globals, &exit_code] {
    const auto done = run(globals, *command);
    exit_code = done ? *done : complain(done.error());
  });
}

}  // namespace plimsoll
