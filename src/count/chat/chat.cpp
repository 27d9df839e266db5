#include "plimsoll/chat.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/json/json_member.hpp"
#include "base/json/json_text.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "count/chat/chat_body.hpp"
#include "count/chat/chat_content.hpp"
#include "count/chat/chat_segments.hpp"
#include "count/chat/chat_templates.hpp"
#include "count/chat/images.hpp"
#include "count/chat/jinja.hpp"
#include "count/chat/openai_overhead.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;
using count::ChatContent;
using count::MessageShape;
using count::NamedTemplate;
using count::Rendered;

// ---- Which format ----

struct Format {
  std::string text;                      // Jinja, or empty for OpenAI's
  const NamedTemplate* named = nullptr;  // if it is one of ours
  std::string_view origin;               // for the result: its name or source
  bool guessed = false;                  // from the tokenizer's name
};

Format format_of(const NamedTemplate& named) {
  return {std::string(named.text), &named, named.name, false};
}

Result<Format> choose_format(const Tokenizer& tokenizer, const ChatOptions& options) {
  const std::string& wanted = options.chat_template;
  const bool is_jinja = wanted.find("{{") != std::string::npos || wanted.find("{%") != std::string::npos;
  if (is_jinja) return Format{wanted, nullptr, "given", false};
  if (!wanted.empty()) {
    if (const NamedTemplate* named = count::find_template(wanted)) return format_of(*named);
    return fail(Errc::not_found, "unknown chat template '{}'; use one of {}", wanted,
                fmt::join(chat_templates(), ", "));
  }
  if (!tokenizer.info().chat_template.empty())
    return Format{tokenizer.info().chat_template, nullptr, "tokenizer's own", false};
  const NamedTemplate* named = count::template_for_tokenizer(tokenizer.info().name);
  Format format = format_of(named != nullptr ? *named : *count::find_template("chatml"));
  format.guessed = named == nullptr;
  return format;
}

void weaken(ChatCount& counted, Exactness exactness, std::string_view why) {
  counted.exactness = worse(counted.exactness, exactness);
  if (!counted.why.empty()) counted.why += "; ";
  counted.why += why;
}

// ---- Rendering ----

count::TemplateInput input_of(const Tokenizer& tokenizer, const Format& format, const ChatContent& request,
                              const ChatOptions& options) {
  const TokenizerInfo& info = tokenizer.info();
  count::TemplateInput input;
  if (format.named != nullptr) {
    if (!format.named->bos.empty()) input.variables["bos_token"] = format.named->bos;
    if (!format.named->eos.empty()) input.variables["eos_token"] = format.named->eos;
  }
  if (request.tools.is_array()) input.tools = &request.tools;
  input.variables.update(request.variables);
  input.variables["add_generation_prompt"] = true;
  if (!info.bos.empty()) input.variables["bos_token"] = info.bos;
  if (!info.eos.empty()) input.variables["eos_token"] = info.eos;
  input.date = options.date;
  return input;
}

// Tests whether the template handles a list of content parts.
bool takes_lists(const std::string& text, count::TemplateInput input) {
  constexpr std::string_view probe = "plimsoll-probe";
  const Json messages = {{{"role", "user"}, {"content", {{{"type", "text"}, {"text", probe}}}}}};
  input.messages = &messages;
  input.tools = nullptr;
  const auto rendered = render_template(text, input);
  return rendered && rendered->text.find(probe) != std::string::npos &&
         rendered->text.find("'text'") == std::string::npos;
}

// Templates expect different input shapes, and servers adapt: uses the first shape that renders.
Result<Rendered> render(const std::string& text, const ChatContent& request, count::TemplateInput input) {
  const bool lists = has_listed_content(request) && takes_lists(text, input);
  const bool no_developer = text.find("developer") == std::string::npos;
  Result<Rendered> first = fail(Errc::bad_input, "nothing to render");
  for (int attempt = 0; attempt < 4; ++attempt) {
    const MessageShape shape{.content_as_list = lists,
                             .arguments_as_text = (attempt & 1) != 0,
                             .null_as_empty = (attempt & 2) != 0,
                             .developer_as_system = no_developer};
    const Json messages = shaped_messages(request, shape);
    input.messages = &messages;
    auto rendered = render_template(text, input);
    if (rendered) return rendered;
    if (attempt == 0) first = std::move(rendered);
  }
  return first;
}

// Lowers the exactness for one of our templates. Those compared with the vendor's give the same text
// for chats without tools; the format of tools may differ.
void weaken_by_format(const Format& format, const ChatContent& request, ChatCount& counted) {
  if (format.named == nullptr) return;
  if (format.guessed)
    weaken(counted, Exactness::estimated,
           "the tokenizer has no template and its name is not known; ChatML was used");
  const bool tools =
      request.tools.is_array() || std::ranges::any_of(request.messages(), [](const Json& message) {
        return message.contains("tool_calls") || message["role"] == "tool" || message["role"] == "function";
      });
  if (format.named->name == "anthropic")
    weaken(counted, Exactness::estimated, "Anthropic does not publish its format");
  else if (!format.named->compared)
    weaken(counted, Exactness::calibrated, "the template was not compared with the model's own");
  else if (tools)
    weaken(counted, Exactness::calibrated,
           "a server may render tools differently than the template of the family");
}

Result<void> count_rendered(const Tokenizer& tokenizer, const Format& format, const ChatContent& request,
                            const ChatOptions& options, ChatCount& counted) {
  TRY(Rendered rendered, render(format.text, request, input_of(tokenizer, format, request, options)));
  const std::size_t messages = request.messages().size();
  count::PartCounts parts = count_parts(tokenizer, rendered, messages + 1, options.specials);
  const std::vector<Tokens>& tokens = parts.by_origin;
  counted.template_tokens = tokens[0];
  counted.messages.assign(tokens.begin() + 1, tokens.begin() + 1 + static_cast<std::ptrdiff_t>(messages));
  counted.tools = tokens[messages + 1];
  counted.frames = std::move(parts.before_origin);
  counted.frames.resize(messages);  // the frame of the tools belongs to no message
  const TokenizerInfo& info = tokenizer.info();
  if (options.server_adds_bos && info.adds_bos && !info.bos.empty() && !rendered.text.starts_with(info.bos))
    ++counted.template_tokens;
  if (request.tools.is_array() && counted.tools == 0)
    weaken(counted, Exactness::calibrated,
           "the template does not render tools; a server may add them in its own format");
  if (rendered.used_date && options.date.empty())
    weaken(counted, Exactness::calibrated, "the template contains the date; 2025-01-01 was used");
  weaken_by_format(format, request, counted);
  if (options.keep_rendered) counted.rendered = std::move(rendered.text);
  return {};
}

// ---- OpenAI's rules ----

void count_by_rule(const Tokenizer& tokenizer, const Format& format, const ChatContent& request,
                   ChatCount& counted) {
  const bool old = format.named->name == "openai-0301";
  count::OpenaiCount parts =
      count_openai(tokenizer, request, old ? count::openai_0301_rule : count::openai_rule);
  counted.template_tokens = parts.format;
  counted.messages = std::move(parts.messages);
  counted.frames = std::move(parts.frames);
  counted.tools = parts.tools;
  if (!parts.certain)
    weaken(counted, Exactness::calibrated,
           "OpenAI does not publish its format of tools; the format that matches its reports was "
           "counted");
}

// ---- Fields that a server may render in its own format ----

// Some servers add these fields to the prompt, in unpublished formats. They are counted as given, which is
// about the size that most servers use.
void count_shown(const Tokenizer& tokenizer, const Format& format, const ChatContent& request,
                 ChatCount& counted) {
  const auto add = [&](std::string_view field, const Json& value) {
    counted.tools += tokenizer.count(base::json_text(value), Specials::plain);
    weaken(counted, Exactness::estimated,
           fmt::format("a server may or may not send {} to the model; its JSON was counted", field));
  };
  for (const auto& [field, value] : request.shown) add(field, value);
  // OpenAI's rule has counted a forced tool; a word such as "auto" adds nothing.
  if (!format.text.empty() && request.tool_choice.is_object()) add("tool_choice", request.tool_choice);
  // A template that reads them has rendered them.
  const Json& documents = base::member(request.variables, "documents");
  if (!documents.empty() && format.text.find("documents") == std::string::npos)
    add("chat_template_kwargs.documents", documents);
}

// ---- Images ----

count::Detail detail_of(std::string_view text) {
  return text == "low" ? count::Detail::low : text == "high" ? count::Detail::high : count::Detail::automatic;
}

// Servers use 10 (OpenAI) to 25 (Qwen2-Audio) tokens per second of audio, and for a PDF page its text and an
// image. The length is not known without decoding, so it is estimated from the
// bytes.
Tokens attachment_tokens(const count::ChatAttachment& attachment) {
  constexpr std::size_t tokens_a_second = 25, wav_a_second = 32'000, packed_a_second = 8'000;
  constexpr std::size_t bytes_a_token_of_text = 4, bytes_a_token_of_others = 40;
  const std::string& format = attachment.format;
  if (attachment.kind == "audio") {
    const bool is_raw = format == "wav" || format == "pcm16" || format == "pcm";
    return static_cast<Tokens>(
        attachment.bytes * tokens_a_second / (is_raw ? wav_a_second : packed_a_second) + 1);
  }
  const bool is_text = format == "txt" || format == "md" || format == "csv" || format == "json";
  return static_cast<Tokens>(attachment.bytes / (is_text ? bytes_a_token_of_text : bytes_a_token_of_others) +
                             1);
}

// Counted with the images.
void count_attachments(const ChatContent& request, ChatCount& counted) {
  std::size_t elsewhere = 0;
  for (const count::ChatAttachment& attachment : request.attachments) {
    const Tokens tokens = attachment_tokens(attachment);
    counted.images += tokens;
    counted.message_images[attachment.message] += tokens;
    elsewhere += attachment.bytes == 0 ? 1 : 0;
  }
  if (!request.attachments.empty())
    weaken(counted, Exactness::estimated,
           fmt::format("{} audio recordings and files were estimated from their bytes",
                       request.attachments.size()));
  if (elsewhere > 0)
    weaken(counted, Exactness::estimated,
           fmt::format("{} of them are not in the request and were not counted", elsewhere));
}

Result<void> count_images(const Format& format, const ChatContent& request, const ChatOptions& options,
                          ChatCount& counted) {
  std::map<std::string, std::size_t> unknown;
  for (const std::string& type : request.unknown_parts) ++unknown[type.substr(0, 40)];
  constexpr std::size_t named = 20;
  if (unknown.size() > named)
    weaken(counted, Exactness::estimated, fmt::format("content of {} types was not counted", unknown.size()));
  else
    for (const auto& [type, times] : unknown)
      weaken(counted, Exactness::estimated,
             fmt::format("content of type '{}' was not counted ({} of them)", type, times));
  if (request.images.empty()) return {};
  std::string_view name = options.images;
  if (name.empty() && format.named != nullptr) name = format.named->images;
  const bool guessed = name.empty();
  const count::ImageRule* rule = count::find_image_rule(guessed ? "ollama" : name);
  if (rule == nullptr)
    return fail(Errc::not_found, "unknown image rule '{}'; use one of {}", name,
                fmt::join(image_rules(), ", "));
  // The server may read formats that we cannot; using the maximum would refuse requests unnecessarily.
  constexpr count::ImageSize usual{1024, 1024};
  std::size_t unseen = 0, undecoded = 0;
  for (const count::ChatImage& image : request.images) {
    auto size = count::data_url_image_size(image.url);
    const count::Detail detail = detail_of(image.detail);
    const bool flat = rule->method == count::ImageMethod::flat;
    if (!size && image.url.starts_with("data:")) {
      size = usual;
      undecoded += flat ? 0 : 1;
    }
    unseen += size || flat ? 0 : 1;
    const Tokens tokens =
        rule->wrapper + (size ? image_tokens(*rule, *size, detail) : most_image_tokens(*rule, detail));
    counted.images += tokens;
    counted.message_images[image.message] += tokens;
  }
  if (guessed)
    weaken(counted, Exactness::estimated,
           "no image rule is known for this format; 768 tokens per image were used");
  else
    weaken(counted, rule->exactness, "images counted by the rule " + std::string(rule->name));
  if (undecoded > 0)
    weaken(counted, Exactness::estimated,
           fmt::format("{} of {} images cannot be decoded here; each was counted as {} x {} pixels",
                       undecoded, request.images.size(), usual.width, usual.height));
  if (unseen > 0)
    weaken(counted, Exactness::estimated,
           fmt::format("the size of {} of {} images is not known; the maximum was used", unseen,
                       request.images.size()));
  return {};
}

}  // namespace

Result<ChatCount> count_chat(const Tokenizer& tokenizer, std::string_view text, const ChatOptions& options) {
  TRY(const Json body, count::parse_request(text));
  return count::count_chat_body(tokenizer, body, options);
}

Result<std::vector<TokenId>> encode_chat(const Tokenizer& tokenizer, std::string_view request,
                                         const ChatOptions& options) {
  ChatOptions kept = options;
  kept.keep_rendered = true;
  TRY(const ChatCount counted, count_chat(tokenizer, request, kept));
  if (counted.rendered.empty() || options.specials != Specials::parsed || counted.images > 0)
    return fail(Errc::unsupported, "the tokens of this chat are not known: {}",
                counted.images > 0 ? "it has images" : "its format is not rendered as on a server");
  std::vector<TokenId> tokens = tokenizer.encode(counted.rendered, Specials::parsed);
  const TokenizerInfo& info = tokenizer.info();
  if (options.server_adds_bos && info.adds_bos && !info.bos.empty() &&
      !counted.rendered.starts_with(info.bos)) {
    const std::vector<TokenId> bos = tokenizer.encode(info.bos, Specials::parsed);
    tokens.insert(tokens.begin(), bos.begin(), bos.end());
  }
  return tokens;
}

Result<ChatCount> count::count_chat_body(const Tokenizer& tokenizer, const Json& body,
                                         const ChatOptions& options) {
  TRY(const ChatContent request, read_chat_content(body));
  TRY(const Format format, choose_format(tokenizer, options));
  ChatCount counted;
  counted.template_used = format.origin;
  if (format.text.empty()) {
    count_by_rule(tokenizer, format, request, counted);
  } else {
    TRY_VOID(count_rendered(tokenizer, format, request, options, counted));
  }
  count_shown(tokenizer, format, request, counted);
  counted.message_images.assign(request.messages().size(), 0);
  count_attachments(request, counted);
  TRY_VOID(count_images(format, request, options, counted));
  counted.total = std::accumulate(counted.messages.begin(), counted.messages.end(),
                                  counted.template_tokens + counted.tools + counted.images);
  if (counted.why.empty())
    counted.why = format.text.empty() ? "OpenAI's published rule"
                                      : "rendered with the template and counted with the tokenizer";
  return counted;
}

std::vector<std::string_view> chat_templates() {
  std::vector<std::string_view> names;
  for (const NamedTemplate& named : count::named_templates()) names.push_back(named.name);
  return names;
}

std::vector<std::string_view> image_rules() {
  std::vector<std::string_view> names;
  for (const count::ImageRule& rule : count::all_image_rules()) names.push_back(rule.name);
  return names;
}

}  // namespace plimsoll
