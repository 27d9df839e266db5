#include "commands/keys_command.hpp"

#include <ctime>
#include <memory>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "base/sha256.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "index/stores.hpp"
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
  TRY(const config::Settings settings, load_settings(globals));
  return open_keys(with_store(settings, options.store), create);
}

// Checks that a name is safe in logs, reports and shells.
Result<void> check_name(const std::string& name) {
  constexpr std::size_t longest = 64;
  constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@";
  if (!name.empty() && name.size() <= longest && name.front() != '-' &&
      name.find_first_not_of(allowed) == std::string::npos)
    return {};
  return fail(Errc::bad_input,
              "'{}' is not a valid key name; use up to {} letters, digits, '-', '_', '.' and '@', not "
              "starting with '-'",
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
  add(limits.requests_per_minute, "requests per minute");
  add(limits.tokens_per_minute, "tokens per minute");
  add(limits.tokens_per_day, "tokens per day");
  return out.empty() ? "none" : out;
}

// Prints only the secret on standard output, for scripts.
Result<void> print_secret(const ApiKey& key, const std::string& secret, const KeysOptions& options) {
  if (options.json)
    return print_out(Json{{"name", key.name}, {"id", key.id}, {"secret", secret}}.dump() + "\n");
  fmt::print(
      stderr,
      "Key '{}'. It is shown only once; only its hash is stored. Limits: {}.\n"
      "Clients send it as `Authorization: Bearer KEY`. A running gateway accepts it within a second.\n",
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
  TRY_VOID(store->add(key));  // stored before the secret is printed
  return print_secret(key, secret, options);
}

Result<void> renew(const Globals& globals, const KeysOptions& options) {
  TRY(const auto store, open_store(globals, options, /*create=*/false));
  const std::string secret = std::string(secret_prefix) + base::random_text(secret_bytes);
  TRY(const ApiKey key, store->set_hash(options.name, base::sha256_hex(secret)));
  return print_secret(key, secret, options);
}

// Returns all keys; none if there is no store yet. A store named by the user must exist.
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
    return print_out("no keys: every client may use the gateway; `plimsoll keys add NAME` adds one\n");
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
    return fail(Errc::bad_input,
                "no limit given; use --requests-per-minute, --tokens-per-minute or --tokens-per-day; 0 "
                "removes a limit");
  TRY(const auto store, open_store(globals, options, /*create=*/false));
  TRY(const auto keys, store->keys());
  KeyLimits limits;
  for (const ApiKey& key : keys)
    if (key.name == options.name) limits = key.limits;
  TRY(const ApiKey key, store->set_limits(options.name, limits_from(options, limits)));
  return print_out(fmt::format("Limits of '{}': {}\n", key.name,
                               key.limits == KeyLimits{} ? "none" : told_limits(key.limits)));
}

Result<void> revoke(const Globals& globals, const KeysOptions& options) {
  TRY(const auto store, open_store(globals, options, /*create=*/false));
  TRY(const ApiKey key, store->revoke(options.name));
  return print_out(fmt::format("'{}' is revoked; a running gateway refuses it within a second\n", key.name));
}

constexpr const char* keys_examples =
    "Examples:\n"
    "  plimsoll keys add ann --tokens-per-day 200000   prints the secret, once\n"
    "  plimsoll keys add team-b --private-indexes      sees only its own indexes\n"
    "  plimsoll keys limit ann --requests-per-minute 60\n"
    "  plimsoll keys renew ann                         new secret; indexes, traces and usage stay\n"
    "  plimsoll keys revoke ann\n"
    "\n"
    "As soon as the store has a key, every request needs one: `Authorization: Bearer KEY`.\n";

using KeysWork = Result<void> (*)(const Globals&, const KeysOptions&);

}  // namespace

void add_keys_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<KeysOptions>();
  CLI::App* keys = app.add_subcommand("keys", "Manage API keys and their limits");
  keys->footer(keys_examples);
  keys->require_subcommand(1);
  const auto sub = [&](const char* name, const char* about, KeysWork work) {
    CLI::App* command = keys->add_subcommand(name, about);
    command->add_option("--store", options->store, "Database file (default: the setting store or store_file)")
        ->type_name("PATH");
    command->callback([options, work, &globals, &exit_code] {
      if (const auto done = work(globals, *options); !done) exit_code = complain(done.error());
    });
    return command;
  };
  const auto named = [&](CLI::App* command) {
    command->add_option("NAME", options->name, "Name of the key in lists, logs and reports")->required();
    return command;
  };
  const auto limited = [&](CLI::App* command) {
    const auto one = [&](const char* flag, std::optional<std::int64_t>& value, const char* what) {
      command->add_option(flag, value, what)->type_name("N")->check(CLI::Range(std::int64_t{0}, most));
    };
    one("--requests-per-minute", options->requests_per_minute, "Most requests per minute; 0: no limit");
    one("--tokens-per-minute", options->tokens_per_minute,
        "Most tokens per minute, input and output; 0: no limit");
    one("--tokens-per-day", options->tokens_per_day,
        "Most tokens per day (UTC), input and output; 0: no limit");
  };
  CLI::App* adding = named(sub("add", "Add a key and print its secret once", add));
  limited(adding);
  adding->add_flag("--private-indexes", options->private_indexes,
                   "The key sees only its own indexes, and no other key sees them");
  adding->add_flag("--json", options->json, "Print name, id and secret as JSON");
  sub("list", "List all keys", list)->add_flag("--json", options->json, "Print JSON");
  limited(named(sub("limit", "Change the limits of a key", limit)));
  named(sub("renew", "Give a key a new secret; the old one stops working", renew))
      ->add_flag("--json", options->json, "Print name, id and secret as JSON");
  named(sub("revoke", "Revoke a key", revoke));
}

}  // namespace plimsoll
