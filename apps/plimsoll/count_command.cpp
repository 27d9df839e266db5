#include "count_command.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/text.hpp"
#include "base/try.hpp"
#include "count_input.hpp"
#include "plimsoll/chat.hpp"
#include "plimsoll/models.hpp"
#include "plimsoll/tokenizers.hpp"
#include "show_tokens.hpp"
#include "terminal.hpp"
#include "tokenizers_command.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;
using base::with_thousands;

struct Options {
  std::vector<std::string> files;
  std::string tokenizer;
  std::string tokenizer_file;
  std::string model;
  std::string chat;
  std::string chat_template;
  std::string date;
  std::string specials;
  Tokens window = 0;
  bool json = false, jsonl = false, show = false;
};

// The tokenizer to count with and what is known around it.
struct Chosen {
  Tokenizer tokenizer;
  Specials specials = Specials::plain;
  Tokens window = 0;  // 0: not known
  std::string model;  // the catalogue's name, where one was asked for
  ChatOptions chat;
  Exactness exactness = Exactness::exact;
  std::string why;  // where it is not exact
};

Result<Chosen> choose_by_model(const TokenizerLibrary& library, const base::Settings& settings,
                               const Options& options) {
  TRY(ModelCatalogue catalogue, ModelCatalogue::built_in());
  if (!settings.models_file.empty()) {
    TRY(const std::string own, base::read_file(settings.models_file, 16U << 20));
    TRY_VOID(catalogue.extend(own, settings.models_file.string()));
  }
  const auto match = catalogue.find(options.model);
  if (!match)
    return fail(Errc::unknown_model,
                "no tokenizer is known for the model '{}'; name one with --tokenizer, or add the model to a "
                "models_file",
                options.model);
  const ModelCard& card = *match->card;
  TRY(auto tokenizer, library.open(card.tokenizer));
  Chosen chosen{std::move(tokenizer), card.specials, card.window, card.name, {}, card.exactness, card.why};
  chosen.chat = {.chat_template = card.chat_template,
                 .specials = card.specials,
                 .images = card.images,
                 .server_adds_bos = true,
                 .date = {},
                 .keep_rendered = false};
  if (match->kind == MatchKind::partial) {
    chosen.exactness = worse(chosen.exactness, Exactness::estimated);
    chosen.why = fmt::format("'{}' is not in the catalogue; counted as its nearest relative {}",
                             options.model, card.name);
  }
  return chosen;
}

Result<Chosen> choose(const TokenizerLibrary& library, const base::Settings& settings,
                      const Options& options) {
  if (!options.model.empty()) return choose_by_model(library, settings, options);
  if (options.tokenizer.empty() && options.tokenizer_file.empty())
    return fail(Errc::bad_input,
                "say what to count with: --model gpt-4o, --tokenizer o200k_base (`plimsoll tokenizers` lists "
                "them) or --tokenizer-file FILE");
  TRY(auto tokenizer, options.tokenizer.empty() ? library.open_file(options.tokenizer_file)
                                                : library.open(options.tokenizer));
  return Chosen{std::move(tokenizer), Specials::plain, 0, {}, {}, Exactness::exact, {}};
}

struct Counted {
  std::string path;
  CountedInput input;
};

// What people should know of a file besides its count.
std::string remark(const CountedInput& input, const Tokenizer& tokenizer) {
  if (input.invalid_bytes == 0) return input.binary ? "has NUL bytes" : "";
  const std::string how = tokenizer.info().takes_any_bytes ? "counted by their bytes" : "counted as U+FFFD";
  return fmt::format("{} of {} bytes are not UTF-8, {}",
                     with_thousands(static_cast<std::int64_t>(input.invalid_bytes)),
                     with_thousands(static_cast<std::int64_t>(input.bytes)), how);
}

std::string share_cell(Tokens tokens, Tokens window) {
  const double share = static_cast<double>(tokens) / static_cast<double>(window);
  return fmt::format("{} {:.1f}%", bar(share, 16), share * 100);
}

// "gpt-4o (o200k_base), exact", or why it is not.
std::string counted_with(const Chosen& chosen, Exactness exactness, std::string_view why) {
  const std::string& tokenizer = chosen.tokenizer.info().name;
  const std::string by = chosen.model.empty() ? tokenizer : fmt::format("{} ({})", chosen.model, tokenizer);
  return why.empty() ? fmt::format("{}, {}\n", by, name_of(exactness))
                     : fmt::format("{}, {}: {}\n", by, name_of(exactness), why);
}

std::string as_table(const std::vector<Counted>& files, const Chosen& chosen) {
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

std::string as_json(const std::vector<Counted>& files, const Chosen& chosen) {
  Json list = Json::array();
  Tokens total = 0;
  for (const Counted& file : files) {
    Json entry{{"file", file.path},
               {"tokens", file.input.tokens},
               {"bytes", file.input.bytes},
               {"characters", file.input.characters}};
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
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// A running figure on stderr while a large input is read; nothing for what is done at once.
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

// One count a line, flushed where the reader waits for it.
Result<void> count_json_lines(const Chosen& chosen) {
  constexpr std::size_t line_limit = std::size_t{1} << 30;
  return each_line(line_limit, [&](std::string_view line, std::uint64_t number) -> Result<void> {
    if (base::trim(line).empty()) return {};
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("text") || !json["text"].is_string())
      return fail(Errc::bad_input, "line {} is not an object with a \"text\"", number);
    return print_out(fmt::format(
        "{}\n", chosen.tokenizer.count(json["text"].get_ref<const std::string&>(), chosen.specials)));
  });
}

// What a request costs, part by part.
struct ChatPart {
  std::string name, text;
  Tokens tokens;
};

std::vector<ChatPart> parts_of(const Json& request, const ChatCount& counted) {
  constexpr std::size_t shown_bytes = 48;
  std::vector<ChatPart> parts{{"format", counted.template_used, counted.template_tokens}};
  const Json& messages = request.is_array() ? request : request["messages"];
  for (std::size_t i = 0; i < counted.messages.size(); ++i) {
    const Json& message = messages[i];
    std::string text = message.contains("content") && message["content"].is_string()
                           ? message["content"].get<std::string>()
                           : "";
    std::ranges::replace_if(
        text, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
    if (text.size() > shown_bytes) {
      text.resize(shown_bytes);
      while (!base::is_valid_utf8(text)) text.pop_back();
      text += "…";
    }
    parts.push_back({fmt::format("{} {}", i + 1, message.value("role", "?")), text, counted.messages[i]});
  }
  if (counted.tools > 0) parts.push_back({"tools", "", counted.tools});
  if (counted.images > 0) parts.push_back({"images", "", counted.images});
  return parts;
}

Result<void> count_request(const Chosen& chosen, const Options& options) {
  TRY(const std::string body,
      base::read_file(options.chat == "-" ? "/dev/stdin" : options.chat, std::uint64_t{256} << 20));
  ChatOptions chat = chosen.chat;
  if (!options.chat_template.empty()) chat.chat_template = options.chat_template;
  if (!options.specials.empty()) chat.specials = chosen.specials;
  chat.date = options.date;
  TRY(const ChatCount counted, count_chat(chosen.tokenizer, body, chat));
  const Exactness exactness = worse(counted.exactness, chosen.exactness);
  const std::string& why = chosen.exactness > counted.exactness ? chosen.why : counted.why;
  const auto parts = parts_of(Json::parse(body, nullptr, false), counted);

  if (options.json) {
    Json all{{"tokenizer", chosen.tokenizer.info().name},
             {"exactness", name_of(exactness)},
             {"why", why},
             {"template", counted.template_used},
             {"tokens", counted.total},
             {"template_tokens", counted.template_tokens},
             {"messages", counted.messages},
             {"tools", counted.tools},
             {"images", counted.images}};
    if (!chosen.model.empty()) all["model"] = chosen.model;
    if (chosen.window > 0) all["window"] = chosen.window;
    return print_out(all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }
  Table table{{"PART", "TOKENS", ""}, {false, true, false}, {}, true};
  for (const ChatPart& part : parts)
    table.rows.push_back({part.name, with_thousands(part.tokens), part.text});
  table.rows.push_back({"total", with_thousands(counted.total),
                        chosen.window > 0 ? fmt::format("{} of {}", share_cell(counted.total, chosen.window),
                                                        with_thousands(chosen.window))
                                          : ""});
  return print_out(draw(table, terminal_of_stdout()) + counted_with(chosen, exactness, why));
}

Result<void> run(const Globals& globals, const Options& options) {
  TRY(const base::Settings settings, load_settings(globals));
  const TokenizerLibrary library = library_of(settings);
  TRY(Chosen chosen, choose(library, settings, options));
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
    // One unreadable file does not stop the others; it is named at the end.
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
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("count", "Count tokens of files or standard input, exactly");
  command->add_option("FILE", options->files, "Files to count; - or none: standard input");
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
      ->check(CLI::PositiveNumber);
  command
      ->add_option("--specials", options->specials,
                   "What <|endoftext|> and its like are in the text: plain text, or parsed into one token")
      ->check(CLI::IsMember({"plain", "parsed"}));
  auto* chat =
      command
          ->add_option("--chat", options->chat,
                       "Count the body of an OpenAI chat request, as the model's chat format renders it")
          ->type_name("FILE");
  command
      ->add_option("--template", options->chat_template, "Chat format for --chat (default: the model's own)")
      ->type_name("NAME")
      ->needs(chat);
  command->add_option("--date", options->date, "Day that a chat format may write, as 2026-11-15")
      ->type_name("DAY")
      ->needs(chat);
  auto* json = command->add_flag("--json", options->json, "As JSON");
  auto* jsonl = command->add_flag("--jsonl", options->jsonl,
                                  "Read {\"text\": ...} lines on standard input, write one count a line");
  auto* show = command->add_flag("--show", options->show, "Show the text with its tokens in colours");
  json->excludes(show)->excludes(jsonl);
  jsonl->excludes(show);
  chat->excludes(show)->excludes(jsonl);
  command->callback([options, &globals, &exit_code] {
    if (const auto done = run(globals, *options); !done) exit_code = complain(done.error());
  });
}

}  // namespace plimsoll
