#include "commands/serve_command.hpp"

#include <csignal>
#include <ctime>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <optional>
#include <thread>

#include "base/log.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "commands/tokenizers_command.hpp"
#include "index/stores.hpp"
#include "serve/model_watch.hpp"
#include "serve/served_gateway.hpp"
#include "serve/startup_code.hpp"
#include "terminal/browser.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

constexpr const char* serve_examples =
    "Any client of OpenAI's API works with the base URL http://127.0.0.1:8000/v1. Each request is\n"
    "counted and planned before it is sent to its model; nothing is cut silently.\n"
    "\n"
    "Examples:\n"
    "  plimsoll serve                                  a local Ollama, else the embedded model\n"
    "  plimsoll serve --upstream embedded --model-file qwen2.5-3b.gguf\n"
    "                                                  a model inside this process, without a server\n"
    "  plimsoll serve --upstream http://gpu:8000/v1    vLLM, llama.cpp or any OpenAI-compatible server\n"
    "  plimsoll serve --upstream local=http://localhost:11434 --upstream openai=https://api.openai.com/v1\n"
    "                                                  two servers; the key of the second is OPENAI_API_KEY\n"
    "  plimsoll keys add ann                           require API keys; then --listen may be an address\n"
    "                                                  that other machines can reach\n"
    "  curl http://127.0.0.1:8000/v1/models            all models with their windows\n"
    "  plimsoll serve --open-browser                   also opens the web console\n"
    "  plimsoll inspect --last                         plan and usage of the last request\n";

struct ServeOptions {
  std::string listen;
  std::vector<std::string> upstreams;
  std::string model_file;
  std::string store;
  std::string config;
  bool open = false;
  bool open_browser = false;
};

// `program`: the command line for the same settings and store, "plimsoll --set store_file=/x.db".
std::string greeting(ServedGateway& gateway, const config::Settings& settings, const std::string& address,
                     const std::string& program) {
  std::string text;
  const auto models = gateway.upstreams().models();
  const std::string key = gateway.has_keys() ? " -H 'Authorization: Bearer KEY'" : "";
  for (std::size_t i = 0; i < models->size(); ++i) {
    const models::ConfiguredUpstream& member = gateway.upstreams().members()[i];
    const models::UpstreamList& found = (*models)[i];
    const std::string answer = !found.problem.empty() ? "no answer: " + found.problem
                               : found.asked          ? several(found.models.size(), "model")
                                                      : "no answer yet";
    text += fmt::format("  upstream  {}  {}  {}\n", member.name, member.server.shown, answer);
  }
  if (models->empty())
    text +=
        "  upstream  none: no local Ollama answers, and there is no embedded model; give a server with "
        "--upstream URL\n";
  text += fmt::format("  store     {}\n", shown_store(settings));
  if (settings.console) text += fmt::format("  console   {}/\n", address);
  text += '\n';
  std::string model = "MODEL";
  for (const models::UpstreamList& member : *models)
    if (!member.models.empty() && model == "MODEL") model = member.models.front().name;
  text += fmt::format(
      "Try, from another terminal:\n"
      "  curl {0}/v1/chat/completions -H 'Content-Type: application/json'{2} \\\n"
      "    -d '{{\"model\": \"{1}\", \"messages\": [{{\"role\": \"user\", \"content\": \"Hello!\"}}]}}'\n"
      "  {3} inspect --last\n",
      address, printable(model), key, program);
  return text;
}

// Returns the command line for the same settings and store, from any folder.
std::string program_for_hints(Globals globals) {
  std::error_code error;
  if (!globals.config_file.empty())
    globals.config_file = std::filesystem::absolute(globals.config_file, error).string();
  constexpr std::string_view store = "store_file=", model = "embedded_model_file=";
  std::string file;
  for (const std::string& one : globals.set)
    if (one.starts_with(store)) file = one.substr(store.size());  // the last one wins
  std::erase_if(globals.set,
                [&](const std::string& one) { return one.starts_with(store) || one.starts_with(model); });
  if (!file.empty())
    globals.set.push_back(std::string(store) + std::filesystem::absolute(file, error).string());
  return "plimsoll" + as_arguments(globals);
}

// A gateway with its settings.
struct Watch {
  std::unique_ptr<const config::Settings> settings;
  std::unique_ptr<ServedGateway> gateway;
  std::unique_ptr<ModelWatch> models{};
};

// Starts a gateway with the current settings. `before`: the gateway to replace, or null; a replacement knows
// its models before it accepts requests, from servers that do not answer now as well.
Result<Watch> begin(const Globals& globals, const ServeOptions& options, const ListenAddress& listen,
                    ServedGateway* before, std::shared_ptr<const void>& lock) {
  Watch watch;
  TRY(config::Settings settings, load_settings(globals));
  watch.settings = std::make_unique<const config::Settings>(std::move(settings));
  TRY(auto members, gateway_upstreams(*watch.settings, options.upstreams));
  TRY(watch.gateway, ServedGateway::open(*watch.settings, std::move(members), before));
  TRY_VOID(check_listening(listen, watch.gateway->has_keys(), options.open || watch.settings->open_to_all,
                           program_for_hints(globals)));
  if (!lock) {
    TRY(lock, take_store(*watch.settings, *watch.gateway->chat().context().sessions));
  }
  if (before != nullptr) {
    watch.gateway->upstreams().copy_lists(before->upstreams());
    watch.models = std::make_unique<ModelWatch>(*watch.gateway);
    watch.models->wait_for_first_lists();
  }
  TRY_VOID(watch.gateway->listen(listen, before != nullptr ? &before->server() : nullptr));
  return watch;
}

// Waits for a signal to stop or to reload the settings, and returns it.
int wait_for_a_signal(ServedGateway& gateway, const sigset_t& signals) {
  while (true) {
    const timespec second{1, 0};
    if (const int signal = sigtimedwait(&signals, nullptr, &second); signal > 0) return signal;
    gateway.obey_forget_orders();
  }
}

// Replaced gateways. Each lives until it has finished its open requests, uploads and evaluations.
class Retired {
 public:
  Retired() = default;
  Retired(const Retired&) = delete;
  Retired& operator=(const Retired&) = delete;
  ~Retired() {
    ending_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  // Returns when the gateway accepts no more connections.
  void add(Watch watch) {
    auto held = std::make_shared<Watch>(std::move(watch));
    const gateway::HttpServer& server = held->gateway->server();
    const std::shared_ptr<Watch> stays = held;  // keeps it alive for the use below
    threads_.emplace_back([this, held]() mutable {
      (void)held->gateway->drain();
      const auto end = std::chrono::steady_clock::now() + longest;
      while (!ending_ && held->gateway->chat().is_busy() && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      held.reset();
    });
    for (int tries = 0; tries < most_tries && !server.is_draining(); ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  static constexpr std::chrono::hours longest{1};
  static constexpr int most_tries = 2'000;
  std::atomic<bool> ending_ = false;
  std::vector<std::thread> threads_;
};

// Starts a second gateway on the same port with the current settings; the first finishes its open requests.
// If the new settings are invalid, the first one stays.
void take_over(Watch& watch, Retired& retired, std::shared_ptr<const void>& lock, const Globals& globals,
               const ServeOptions& options, const ListenAddress& listen) {
  auto next = begin(globals, options, listen, watch.gateway.get(), lock);
  if (!next) {
    log::error("settings not reloaded; the old ones stay in use", {{"why", next.error().what}});
    return;
  }
  std::swap(watch, *next);
  retired.add(*std::move(next));
  log::info("settings read again", {{"upstreams", watch.gateway->upstreams().members().size()}});
}

// Ends the process after `time` even if something blocks; acknowledged data is on disk.
void end_within(std::chrono::seconds time) {
  std::thread([time] {
    std::this_thread::sleep_for(time);
    log::warning("stopped while work was running; unsaved work is lost");
    std::_Exit(0);
  }).detach();
}

Result<void> run(const Globals& globals, const ServeOptions& options) {
  Globals with_store = globals;
  if (!options.config.empty()) with_store.config_file = options.config;
  if (!options.store.empty())
    for (std::string& one : store_assignments(options.store)) with_store.set.push_back(std::move(one));
  if (!options.model_file.empty()) with_store.set.push_back("embedded_model_file=" + options.model_file);
  TRY(const config::Settings settings, load_settings(with_store));
  if (options.open_browser && !settings.console)
    return fail(Errc::bad_input, "--open-browser: the web console is off (console = false)");
  TRY(const ListenAddress listen, listen_address(options.listen.empty() ? settings.listen : options.listen));

  (void)std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // before any thread starts: they inherit it

  std::shared_ptr<const void> lock;
  TRY(Watch watch, begin(with_store, options, listen, nullptr, lock));
  const bool six = listen.host.find(':') != std::string::npos;
  const std::string address =
      fmt::format("{}://{}{}{}:{}", settings.tls_certificate_file.empty() ? "http" : "https", six ? "[" : "",
                  listen.host, six ? "]" : "", watch.gateway->server().port());
  TRY_VOID(print_out(fmt::format("plimsoll {} listens on {}\n", PLIMSOLL_VERSION, address)));
  watch.models = std::make_unique<ModelWatch>(*watch.gateway);
  watch.models->wait_for_first_lists();
  TRY_VOID(print_out(greeting(*watch.gateway, settings, address, program_for_hints(with_store))));
  if (options.open_browser)
    if (const auto shown = show_in_browser(address + "/"); !shown) log::warning(shown.error().what);
  let_go_of_startup_code();
  Retired retired;
  while (wait_for_a_signal(*watch.gateway, signals) == SIGHUP)
    take_over(watch, retired, lock, with_store, options, listen);
  log::info("shutting down", {{"connections", watch.gateway->server().connections()}});
  constexpr std::chrono::seconds with_drain{40}, after_drain{5};
  end_within(with_drain);
  (void)watch.gateway->drain();
  watch.gateway->obey_forget_orders();
  if (watch.gateway->engine().traces != nullptr) watch.gateway->engine().traces->flush();
  end_within(after_drain);
  return {};
}

}  // namespace

void add_serve_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Run the gateway between clients and model servers");
  command->footer(serve_examples);
  command->add_option("--listen", options->listen, "Address and port to listen on (default: 127.0.0.1:8000)")
      ->type_name("HOST:PORT");
  command
      ->add_option_function<std::uint16_t>(
          "--port", [options](std::uint16_t port) { options->listen = std::to_string(port); },
          "Port to listen on, on loopback only")
      ->type_name("PORT")
      ->excludes("--listen");
  command->add_option("--upstream", options->upstreams, "Model server; may be repeated")
      ->type_name("[NAME=]URL|embedded")
      ->allow_extra_args(false);
  command
      ->add_option("--model-file", options->model_file,
                   "Weights of the embedded model (default: SmolLM2 135M)")
      ->type_name("FILE.gguf");
  command->add_flag("--open", options->open, "Listen on other addresses than loopback even without API keys");
  command->add_flag("--open-browser", options->open_browser, "Open the web console in the default browser");
  command->add_option("--config", options->config, "Settings file")->type_name("FILE");
  command->add_option("--store", options->store, "Database file (default: the setting store or store_file)")
      ->type_name("PATH");
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
