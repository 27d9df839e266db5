#include "commands/count_command.hpp"

#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "commands/tokenizers_command.hpp"
#include "input/count_choice.hpp"
#include "input/count_input.hpp"
#include "input/count_request.hpp"
#include "plimsoll/tokenizers.hpp"
#include "reports/show_tokens.hpp"
#include "terminal/terminal.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;
using base::with_thousands;

struct Counted {
  std::string path;
  CountedInput input;
};

// Returns a remark on a file for the report, or "".
std::string remark(const CountedInput& input, const Tokenizer& tokenizer) {
  if (!input.document.empty())
    return fmt::format("read as a {} document; tokens and bytes are those of its text", input.document);
  if (input.invalid_bytes == 0) return input.binary ? "has NUL bytes" : "";
  const std::string how = tokenizer.info().takes_any_bytes ? "counted by their bytes" : "counted as U+FFFD";
  return fmt::format("{} of {} bytes are not UTF-8, {}",
                     with_thousands(static_cast<std::int64_t>(input.invalid_bytes)),
                     with_thousands(static_cast<std::int64_t>(input.bytes)), how);
}

std::string as_table(const std::vector<Counted>& files, const CountChoice& chosen) {
  Table table{{"FILE", "TOKENS", "BYTES", "BYTES/TOKEN"}, {false, true, true, true}, {}, files.size() > 1};
  if (chosen.window > 0) {
    table.header.push_back(fmt::format("OF {}", with_thousands(chosen.window)));
    table.right.push_back(false);
  }
  Counted sum{"total", {}};
  std::string remarks;
  const auto row = [&](const Counted& file) {
    std::vector<std::string> cells{file.path, with_thousands(file.input.tokens),
                                   with_thousands(static_cast<std::int64_t>(file.input.bytes)),
                                   file.input.tokens == 0
                                       ? "-"
                                       : fmt::format("{:.2f}", static_cast<double>(file.input.bytes) /
                                                                   static_cast<double>(file.input.tokens))};
    if (chosen.window > 0) cells.push_back(share_cell(file.input.tokens, chosen.window));
    table.rows.push_back(std::move(cells));
  };
  for (const Counted& file : files) {
    row(file);
    sum.input.tokens += file.input.tokens;
    sum.input.bytes += file.input.bytes;
    if (const std::string note = remark(file.input, chosen.tokenizer); !note.empty())
      remarks += fmt::format("{}: {}\n", file.path, note);
  }
  if (files.size() > 1) row(sum);
  return draw(table, terminal_of_stdout()) + counted_with(chosen, chosen.exactness, chosen.why) + remarks;
}

std::string as_json(const std::vector<Counted>& files, const CountChoice& chosen) {
  Json list = Json::array();
  Tokens total = 0;
  for (const Counted& file : files) {
    Json entry{{"file", file.path},
               {"tokens", file.input.tokens},
               {"bytes", file.input.bytes},
               {"characters", file.input.characters}};
    if (!file.input.document.empty()) entry["read_as"] = file.input.document;
    if (file.input.invalid_bytes > 0) entry["invalid_bytes"] = file.input.invalid_bytes;
    if (const std::string note = remark(file.input, chosen.tokenizer); !note.empty()) entry["remark"] = note;
    total += file.input.tokens;
    list.push_back(std::move(entry));
  }
  Json all{{"tokenizer", chosen.tokenizer.info().name},
           {"exactness", name_of(chosen.exactness)},
           {"tokens", total}};
  if (!chosen.model.empty()) all["model"] = chosen.model;
  if (!chosen.why.empty()) all["why"] = chosen.why;
  if (chosen.window > 0) {
    all["window"] = chosen.window;
    all["share"] = static_cast<double>(total) / static_cast<double>(chosen.window);
  }
  all["files"] = std::move(list);
  return base::readable_json(all);
}

// Shows progress on stderr while a large input is read.
class Progress {
 public:
  explicit Progress(std::string path) : path_(std::move(path)), shown_(::isatty(STDERR_FILENO) != 0) {}
  void operator()(std::uint64_t bytes) {
    constexpr std::uint64_t step = std::uint64_t{64} << 20;
    if (!shown_ || bytes < next_) return;
    next_ = bytes + step;
    drew_ = true;
    fmt::print(stderr, "\r\033[K{}: {} read", path_, base::human_bytes(bytes));
  }
  ~Progress() {
    if (drew_) fmt::print(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  std::string path_;
  bool shown_;
  bool drew_ = false;
  std::uint64_t next_ = std::uint64_t{64} << 20;
};

// Prints one count per line, flushed when the reader waits for it.
Result<void> count_json_lines(const CountChoice& chosen) {
  constexpr std::size_t line_limit = std::size_t{1} << 30;
  return each_line(line_limit, [&](std::string_view line, std::uint64_t number) -> Result<void> {
    if (base::trim(line).empty()) return {};
    const Json json = base::parse_json(line);
    if (!json.is_object() || !json.contains("text") || !json["text"].is_string())
      return fail(Errc::bad_input, "line {} is not an object with a \"text\"", number);
    return print_out(fmt::format(
        "{}\n", chosen.tokenizer.count(json["text"].get_ref<const std::string&>(), chosen.specials)));
  });
}

Result<void> run(const Globals& globals, const CountOptions& options) {
  TRY(const config::Settings settings, load_settings(globals));
  const TokenizerLibrary library = library_of(settings);
  TRY(CountChoice chosen, choose_tokenizer(library, settings, options));
  if (!options.specials.empty())
    chosen.specials = options.specials == "parsed" ? Specials::parsed : Specials::plain;
  if (options.window > 0) chosen.window = options.window;
  if (!options.chat.empty()) return count_request(chosen, options);
  if (options.jsonl) return count_json_lines(chosen);

  const std::vector<std::string> paths =
      options.files.empty() ? std::vector<std::string>{"-"} : options.files;
  if (options.show) {
    for (const std::string& path : paths) TRY_VOID(show_tokens(path, chosen.tokenizer, chosen.specials));
    return {};
  }
  std::vector<Counted> counted;
  std::optional<Error> first_error;
  for (const std::string& path : paths) {
    Progress progress(path);
    auto input = count_input(path, chosen.tokenizer, chosen.specials, std::ref(progress));
    if (input) {
      counted.push_back({path, *input});
      continue;
    }
    // An unreadable file does not stop the others; it is reported at the end.
    if (first_error) fmt::print(stderr, "plimsoll: {}\n", first_error->what);
    first_error = input.error();
  }
  if (!counted.empty())
    TRY_VOID(print_out(options.json ? as_json(counted, chosen) : as_table(counted, chosen)));
  if (first_error) return tl::unexpected(*first_error);
  return {};
}

}  // namespace

void add_count_command(CLI::App& app, const Globals& globals, int& exit_code) {
  auto options = std::make_shared<CountOptions>();
  CLI::App* command = app.add_subcommand("count", "Count tokens of files or standard input, exactly");
  command->footer(
      "Without a model or a tokenizer, counts with o200k_base and says so.\n\n"
      "Examples:\n"
      "  plimsoll count README.md --model gpt-4o       with the share of the model's window\n"
      "  plimsoll count docs/*.md --tokenizer qwen3    a table with a total\n"
      "  plimsoll count report.pdf --window 8192       the text of a PDF\n"
      "  plimsoll count --chat request.json --model llama3.1:8b\n"
      "  git diff | plimsoll count --show\n");
  command->add_option("FILE", options->files, "Files to count; - or no file: standard input");
  auto* by_name =
      command->add_option("--tokenizer", options->tokenizer, "Tokenizer by name")->type_name("NAME");
  auto* by_file = command
                      ->add_option("--tokenizer-file", options->tokenizer_file,
                                   "A tokenizer.json, .tiktoken, .model, tekken.json or .gguf")
                      ->type_name("FILE");
  auto* by_model =
      command
          ->add_option("--model", options->model,
                       "Model by any of its names: gpt-4o, llama3.2:3b, Qwen/Qwen2.5-7B-Instruct")
          ->type_name("NAME");
  by_name->excludes(by_file)->excludes(by_model);
  by_file->excludes(by_model);
  command->add_option("--window", options->window, "Show each count's share of a window of this many tokens")
      ->type_name("TOKENS")
      ->check(CLI::Range(1, 1'000'000'000));
  command
      ->add_option(
          "--specials", options->specials,
          "Special tokens such as <|endoftext|> in the text: count as plain text, or parse as one token")
      ->check(CLI::IsMember({"plain", "parsed"}));
  auto* chat = command
                   ->add_option("--chat", options->chat,
                                "Count an OpenAI chat request as rendered by the model's chat template")
                   ->type_name("FILE");
  command->add_option("--template", options->chat_template, "Chat template for --chat (default: the model's)")
      ->type_name("NAME")
      ->needs(chat);
  command->add_option("--date", options->date, "Date for chat templates that contain one, as 2026-11-15")
      ->type_name("DAY")
      ->needs(chat);
  auto* json = command->add_flag("--json", options->json, "Print JSON");
  auto* jsonl = command->add_flag("--jsonl", options->jsonl,
                                  "Read {\"text\": ...} lines from standard input, print one count per line");
  auto* show = command->add_flag("--show", options->show, "Show the text with its tokens in colours");
  json->excludes(show)->excludes(jsonl);
  jsonl->excludes(show);
  chat->excludes(show)->excludes(jsonl);
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
