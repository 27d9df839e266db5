#include "commands/keys_command.hpp"

#include <ctime>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "adapters/sqlite/keys.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view secret_prefix = "plk_";
constexpr std::size_t secret_bytes = 32, id_bytes = 9;
constexpr std::int64_t most = 1'000'000'000'000;

struct KeysOptions {
  std::string name;
  std::string store;
  std::optional<std::int64_t> requests_per_minute, tokens_per_minute, tokens_per_day;
  bool private_indexes = false;
  bool json = false;
};

Result<std::unique_ptr<KeyStore>> open_store(const Globals& globals, const KeysOptions& options,
                                             bool create) {
  TRY(const base::Settings settings, load_settings(globals));
  return sqlite::open_keys(store_of(settings, options.store), {.create = create});
}

// As it stands in logs, reports and shells.
Result<void> check_name(const std::string& name) {
  constexpr std::size_t longest = 64;
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@";
  if (!name.empty() && name.size() <= longest && name.front() != '-' &&
      name.find_first_not_of(allowed) == std::string::npos)
    return {};
  return fail(Errc::bad_input,
              "'{}' is no name for a key: up to {} letters, digits, '-', '_', '.' and '@', and no '-' first",
              printable(name, longest), longest);
}

KeyLimits limits_from(const KeysOptions& options, KeyLimits limits) {
  limits.requests_per_minute = options.requests_per_minute.value_or(limits.requests_per_minute);
  limits.tokens_per_minute = options.tokens_per_minute.value_or(limits.tokens_per_minute);
  limits.tokens_per_day = options.tokens_per_day.value_or(limits.tokens_per_day);
  return limits;
}

std::string limit_cell(std::int64_t limit) {
  return limit > 0 ? base::with_thousands(limit) : "-";
}

std::string told_limits(const KeyLimits& limits) {
  std::string out;
  const auto add = [&](std::int64_t limit, std::string_view what) {
    if (limit > 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", base::with_thousands(limit), what);
  };
  add(limits.requests_per_minute, "requests a minute");
  add(limits.tokens_per_minute, "tokens a minute");
  add(limits.tokens_per_day, "tokens a day");
  return out.empty() ? "none" : out;
}

// The secret alone on standard output, so that a script can take it.
Result<void> print_secret(const ApiKey& key, const std::string& secret, const KeysOptions& options) {
  if (options.json)
    return print_out(Json{{"name", key.name}, {"id", key.id}, {"secret", secret}}.dump() + "\n");
  fmt::print(
      stderr,
      "The key '{}', which is shown this once; only its hash is kept. Limits: {}.\n"
      "Clients send it as `Authorization: Bearer KEY`. A gateway that runs knows it within a second.\n",
      key.name, told_limits(key.limits));
  return print_out(secret + "\n");
}

Result<void> add(const Globals& globals, const KeysOptions& options) {
  TRY_VOID(check_name(options.name));
  TRY(const auto store, open_store(globals, options, /*create=*/true));
  const std::string secret = std::string(secret_prefix) + base::random_text(secret_bytes);
  ApiKey key;
  key.id = "key_" + base::random_text(id_bytes);
  key.name = options.name;
  key.hash = base::sha256_hex(secret);
  key.created_ms = base::utc_ms();
  key.private_indexes = options.private_indexes;
  key.limits = limits_from(options, {});
  TRY_VOID(store->add(key));  // on disk before anybody sees the secret
  return print_secret(key, secret, options);
}

Result<void> renew(const Globals& globals, const KeysOptions& options) {
  TRY(const auto store, open_store(globals, options, /*create=*/false));
  const std::string secret = std::string(secret_prefix) + base::random_text(secret_bytes);
  TRY(const ApiKey key, store->set_hash(options.name, base::sha256_hex(secret)));
  return print_secret(key, secret, options);
}

// No store yet: no keys. A store that was named must be there.
Result<std::vector<ApiKey>> all_keys(const Globals& globals, const KeysOptions& options) {
  auto store = open_store(globals, options, /*create=*/false);
  if (store) return (*store)->keys();
  if (store.error().code == Errc::not_found && options.store.empty()) return std::vector<ApiKey>();
  return tl::unexpected<Error>(store.error());
}

Result<void> list(const Globals& globals, const KeysOptions& options) {
  TRY(const auto keys, all_keys(globals, options));
  if (options.json) {
    Json out = Json::array();
    for (const ApiKey& key : keys)
      out.push_back({{"name", key.name},
                     {"id", key.id},
                     {"created_ms", key.created_ms},
                     {"private_indexes", key.private_indexes},
                     {"requests_per_minute", key.limits.requests_per_minute},
                     {"tokens_per_minute", key.limits.tokens_per_minute},
                     {"tokens_per_day", key.limits.tokens_per_day},
                     {"revoked", key.revoked}});
    return print_out(out.dump(2) + "\n");
  }
  if (keys.empty())
    return print_out("no keys: whoever reaches the gateway may use it; `plimsoll keys add NAME` makes one\n");
  Table table{{"KEY", "REQUESTS/MIN", "TOKENS/MIN", "TOKENS/DAY", "INDEXES", "MADE", "STATE"},
              {false, true, true, true, false, false, false},
              {},
              false};
  for (const ApiKey& key : keys)
    table.rows.push_back(
        {printable(key.name), limit_cell(key.limits.requests_per_minute),
         limit_cell(key.limits.tokens_per_minute), limit_cell(key.limits.tokens_per_day),
         key.private_indexes ? "own" : "shared",
         fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(key.created_ms / 1'000))),
         key.revoked ? "revoked" : "good"});
  return print_out(draw(table, terminal_of_stdout()));
}

Result<void> limit(const Globals& globals, const KeysOptions& options) {
  if (!options.requests_per_minute && !options.tokens_per_minute && !options.tokens_per_day)
    return fail(
        Errc::bad_input,
        "which limit? --requests-per-minute, --tokens-per-minute or --tokens-per-day; 0 takes one away");
  TRY(const auto store, open_store(globals, options, /*create=*/false));
  TRY(const auto keys, store->keys());
  KeyLimits limits;
  for (const ApiKey& key : keys)
    if (key.name == options.name) limits = key.limits;
  TRY(const ApiKey key, store->set_limits(options.name, limits_from(options, limits)));
  return print_out(fmt::format("'{}' may use: {}\n", key.name,
                               key.limits == KeyLimits{} ? "all it wants" : told_limits(key.limits)));
}

Result<void> revoke(const Globals& globals, const KeysOptions& options) {
  TRY(const auto store, open_store(globals, options, /*create=*/false));
  TRY(const ApiKey key, store->revoke(options.name));
  return print_out(
      fmt::format("'{}' is revoked; a gateway that runs refuses it within a second\n", key.name));
}

constexpr const char* examples =
    "Examples:\n"
    "  plimsoll keys add ann --tokens-per-day 200000   prints the secret, once\n"
    "  plimsoll keys add team-b --private-indexes      sees no index but its own\n"
    "  plimsoll keys limit ann --requests-per-minute 60\n"
    "  plimsoll keys renew ann                         another secret; indexes, traces and usage stay\n"
    "  plimsoll keys revoke ann\n"
    "\n"
    "With one key in the store every request to the gateway needs one, as `Authorization: Bearer KEY`.\n";

using Work = Result<void> (*)(const Globals&, const KeysOptions&);

}  // namespace

void add_keys_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<KeysOptions>();
  CLI::App* keys = app.add_subcommand("keys", "Say who may use the gateway, and how much");
  keys->footer(examples);
  keys->require_subcommand(1);
  const auto sub = [&](const char* name, const char* about, Work work) {
    CLI::App* command = keys->add_subcommand(name, about);
    command->add_option("--store", options->store, "File that holds them (default: the setting store_file)")
        ->type_name("PATH");
    command->callback([options, work, &globals, &exit_code] {
      if (const auto done = work(globals, *options); !done) exit_code = complain(done.error());
    });
    return command;
  };
  const auto named = [&](CLI::App* command) {
    command->add_option("NAME", options->name, "What it is called in lists, logs and reports")->required();
    return command;
  };
  const auto limited = [&](CLI::App* command) {
    const auto one = [&](const char* flag, std::optional<std::int64_t>& value, const char* what) {
      command->add_option(flag, value, what)->type_name("N")->check(CLI::Range(std::int64_t{0}, most));
    };
    one("--requests-per-minute", options->requests_per_minute,
        "Requests that it may send in a minute; 0: any");
    one("--tokens-per-minute", options->tokens_per_minute,
        "Tokens that models may read and write for it; 0: any");
    one("--tokens-per-day", options->tokens_per_day, "Likewise in a day, by UTC; 0: any");
  };
  CLI::App* adding = named(sub("add", "Make a key, and print its secret this once", add));
  limited(adding);
  adding->add_flag("--private-indexes", options->private_indexes,
                   "It sees no index but its own, and nobody else does");
  adding->add_flag("--json", options->json, "Name, id and secret as JSON");
  sub("list", "List all keys", list)->add_flag("--json", options->json, "As JSON");
  limited(named(sub("limit", "Change what a key may use", limit)));
  named(sub("renew", "Give a key another secret; the old one is refused", renew))
      ->add_flag("--json", options->json, "Name, id and secret as JSON");
  named(sub("revoke", "Refuse a key from now on", revoke));
}

}  // namespace plimsoll
