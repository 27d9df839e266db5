#include "serve_command.hpp"

#include <csignal>
#include <ctime>

#include "base/log.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "served_gateway.hpp"
#include "startup_code.hpp"
#include "terminal.hpp"
#include "tokenizers_command.hpp"

namespace plimsoll {
namespace {

constexpr const char* examples =
    "Any client of OpenAI's API works by changing its base URL to http://127.0.0.1:8000/v1. Each request is\n"
    "counted and planned before it goes to its model; nothing is cut without a word.\n"
    "\n"
    "Examples:\n"
    "  plimsoll serve                                  an Ollama on this machine, else the embedded model\n"
    "  plimsoll serve --upstream embedded --model-file qwen2.5-3b.gguf\n"
    "                                                  a model inside this process, with no server beside "
    "it\n"
    "  plimsoll serve --upstream http://gpu:8000/v1    a vLLM, llama.cpp or any OpenAI-style server\n"
    "  plimsoll serve --upstream local=http://localhost:11434 --upstream openai=https://api.openai.com/v1\n"
    "                                                  several; the second one's key is OPENAI_API_KEY\n"
    "  plimsoll keys add ann                           from then on requests need a key; then --listen may "
    "be\n"
    "                                                  an address that others reach\n"
    "  curl http://127.0.0.1:8000/v1/models            what they serve, with real windows\n"
    "  plimsoll inspect --last                         what became of the last request\n";

struct Options {
  std::string listen;
  std::vector<std::string> upstreams;
  std::string model_file;
  std::string store;
  std::string config;
  bool open = false;
};

// `program`: how other commands find the same settings and store, "plimsoll --set store_file=/x.db".
std::string greeting(ServedGateway& gateway, const base::Settings& settings, const std::string& address,
                     const std::string& program) {
  std::string text;
  const auto models = gateway.fleet().models();
  const std::string key = gateway.has_keys() ? " -H 'Authorization: Bearer KEY'" : "";
  for (std::size_t i = 0; i < models->size(); ++i) {
    const engine::FleetMember& member = gateway.fleet().members()[i];
    const engine::MemberModels& found = (*models)[i];
    text += fmt::format(
        "  upstream  {}  {}  {}\n", member.name, member.server.shown,
        found.problem.empty() ? several(found.models.size(), "model") : "no answer: " + found.problem);
  }
  if (models->empty())
    text +=
        "  upstream  none: no Ollama answers here, and there is no embedded model; name a server with "
        "--upstream URL\n";
  text += fmt::format("  store     {}\n\n", settings.store_file.string());
  std::string model = "MODEL";
  for (const engine::MemberModels& member : *models)
    if (!member.models.empty() && model == "MODEL") model = member.models.front().name;
  text += fmt::format(
      "Try, from another terminal:\n"
      "  curl {0}/v1/chat/completions -H 'Content-Type: application/json'{2} \\\n"
      "    -d '{{\"model\": \"{1}\", \"messages\": [{{\"role\": \"user\", \"content\": \"Ahoy!\"}}]}}'\n"
      "  {3} inspect --last\n",
      address, printable(model), key, program);
  return text;
}

// How another terminal, in any folder, calls the program for the same settings and store.
std::string program_for_hints(Globals globals) {
  std::error_code error;
  if (!globals.config_file.empty())
    globals.config_file = std::filesystem::absolute(globals.config_file, error).string();
  constexpr std::string_view store = "store_file=", model = "embedded_model_file=";
  std::string file;
  for (const std::string& one : globals.set)
    if (one.starts_with(store)) file = one.substr(store.size());  // the last one counts
  std::erase_if(globals.set,
                [&](const std::string& one) { return one.starts_with(store) || one.starts_with(model); });
  if (!file.empty())
    globals.set.push_back(std::string(store) + std::filesystem::absolute(file, error).string());
  return "plimsoll" + as_arguments(globals);
}

// A gateway with the settings it was made by.
struct Watch {
  std::unique_ptr<const base::Settings> settings;
  std::unique_ptr<ServedGateway> gateway;
};

// By the settings as they are now. `before`: the gateway that listens until now, or null; who follows one
// knows all models before it is asked for any.
Result<Watch> begin(const Globals& globals, const Options& options, const ListenAddress& listen,
                    ServedGateway* before) {
  Watch watch;
  TRY(base::Settings settings, load_settings(globals));
  watch.settings = std::make_unique<const base::Settings>(std::move(settings));
  TRY(auto members, gateway_upstreams(*watch.settings, options.upstreams));
  TRY(watch.gateway, ServedGateway::open(*watch.settings, std::move(members), before));
  if (before != nullptr) watch.gateway->fleet().refresh(watch.gateway->for_a_list());
  TRY_VOID(check_listening(listen, watch.gateway->has_keys(), options.open || watch.settings->open_to_all,
                           program_for_hints(globals)));
  TRY_VOID(watch.gateway->listen(listen, before != nullptr ? before->server().listening() : -1));
  return watch;
}

// Until somebody wants an end, or other settings: the signal that said so. Servers that did not answer are
// asked again meanwhile.
int wait_for_a_signal(ServedGateway& gateway, const sigset_t& signals) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::seconds for_the_silent{2}, for_all{300};
  auto asked = Clock::now(), asked_all = asked;
  while (true) {
    const timespec second{1, 0};
    if (const int signal = sigtimedwait(&signals, nullptr, &second); signal > 0) return signal;
    gateway.obey_forget_orders();
    const auto models = gateway.fleet().models();
    const bool silent =
        std::ranges::any_of(*models, [](const auto& member) { return !member.problem.empty(); });
    if (Clock::now() - asked_all >= for_all) {
      gateway.fleet().refresh(gateway.for_a_list());
      asked_all = asked = Clock::now();
    } else if (silent && Clock::now() - asked >= for_the_silent) {
      gateway.fleet().refresh_silent(gateway.for_a_list());
      asked = Clock::now();
    }
  }
}

// A second gateway on the same port, made by the settings as they are now; the first answers what it has
// begun and ends. Where the new settings will not do, the first stays as it is.
void take_over(Watch& watch, const Globals& globals, const Options& options, const ListenAddress& listen) {
  auto next = begin(globals, options, listen, watch.gateway.get());
  if (!next) {
    log::error("settings were not read again: all stays as it was", {{"why", next.error().what}});
    return;
  }
  std::swap(watch, *next);
  log::info("settings read again", {{"upstreams", watch.gateway->fleet().members().size()}});
  next->gateway->server().drain();
}

Result<void> run(const Globals& globals, const Options& options) {
  Globals with_store = globals;
  if (!options.config.empty()) with_store.config_file = options.config;
  if (!options.store.empty()) with_store.set.push_back("store_file=" + options.store);
  if (!options.model_file.empty()) with_store.set.push_back("embedded_model_file=" + options.model_file);
  TRY(const base::Settings settings, load_settings(with_store));
  TRY(const ListenAddress listen, listen_address(options.listen.empty() ? settings.listen : options.listen));

  (void)std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before any thread starts: they inherit it

  TRY(Watch watch, begin(with_store, options, listen, nullptr));
  const bool six = listen.host.find(':') != std::string::npos;
  const std::string address =
      fmt::format("{}://{}{}{}:{}", settings.tls_certificate_file.empty() ? "http" : "https", six ? "[" : "",
                  listen.host, six ? "]" : "", watch.gateway->server().port());
  TRY_VOID(print_out(fmt::format("plimsoll {} listens on {}\n", PLIMSOLL_VERSION, address)));
  watch.gateway->fleet().refresh(watch.gateway->for_a_list());
  TRY_VOID(print_out(greeting(*watch.gateway, settings, address, program_for_hints(with_store))));
  let_go_of_startup_code();
  while (wait_for_a_signal(*watch.gateway, signals) == SIGHUP) take_over(watch, with_store, options, listen);
  log::info("ending", {{"connections", watch.gateway->server().connections()}});
  watch.gateway->server().drain();
  return {};
}

}  // namespace

void add_serve_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("serve", "Run the gateway between any OpenAI client and its models");
  command->footer(examples);
  command->add_option("--listen", options->listen, "Where to listen (default: 127.0.0.1:8000)")
      ->type_name("HOST:PORT");
  command
      ->add_option_function<std::uint16_t>(
          "--port", [options](std::uint16_t port) { options->listen = std::to_string(port); },
          "Port to listen on, on this machine alone")
      ->type_name("PORT")
      ->excludes("--listen");
  command->add_option("--upstream", options->upstreams, "Model server; may be repeated")
      ->type_name("[NAME=]URL|embedded")
      ->allow_extra_args(false);
  command
      ->add_option("--model-file", options->model_file,
                   "Weights of the embedded model (default: SmolLM2 135M)")
      ->type_name("FILE.gguf");
  command->add_flag("--open", options->open, "Listen beyond this machine also where there are no keys");
  command->add_option("--config", options->config, "Settings file, as before the command")->type_name("FILE");
  command->add_option("--store", options->store, "File that holds documents and traces")->type_name("PATH");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
