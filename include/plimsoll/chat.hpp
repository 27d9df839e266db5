// Counting a whole chat request: its messages, tools and images, in the format that the model sees.
//
//   auto tokenizer = library.open("qwen2.5");
//   auto counted = count_chat(*tokenizer, R"({"messages":[{"role":"user","content":"Ahoy"}]})");
//   counted->total;  // what the server will report as prompt_tokens
//
// The format is really rendered, from the tokenizer's own template where it carries one. Pure, and safe
// from many threads. docs/chat-templates.md says what is exact and what is not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/count.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

struct ChatOptions {
  // "": the tokenizer's own template, else the one that fits its name; a name of chat_templates(); or a
  // Jinja text, known by its "{{" or "{%".
  std::string chat_template;
  // What special-token literals are that stand in messages and tools. The template's own are always the
  // tokens they name.
  Specials specials = Specials::parsed;
  // A name of image_rules(); "": the one that fits the template.
  std::string images;
  // Whether the server puts the tokenizer's opening token before a text that does not begin with it. It
  // is done only for tokenizers that ask for it (TokenizerInfo::adds_bos).
  bool server_adds_bos = true;
  // The server's day, as 2026-11-15, for templates that write it. "": 2025-01-01, and the count says so.
  std::string date;
  bool keep_rendered = false;
};

// total = template_tokens + sum of messages + tools + images.
struct ChatCount {
  Tokens total = 0;
  Tokens template_tokens = 0;    // the format's own
  std::vector<Tokens> messages;  // by message, without its images
  Tokens tools = 0;              // and what a server may show beside them: a schema, documents
  Tokens images = 0;
  // For choosing what to leave out: of template_tokens those that stand before message i and would leave
  // with it, and of images those of message i. What no message brings (the opening token, the header of the
  // answer) is in no frame.
  std::vector<Tokens> frames;
  std::vector<Tokens> message_images;
  Exactness exactness = Exactness::exact;
  std::string why;            // what the exactness rests on, or what spoils it
  std::string template_used;  // a name of chat_templates(), "tokenizer's own" or "given"
  std::string rendered;       // where asked for; empty for OpenAI's format, which nobody has seen
};

// `request`: the body of an OpenAI chat completion, or its array of messages alone.
Result<ChatCount> count_chat(const Tokenizer& tokenizer, std::string_view request,
                             const ChatOptions& options = {});

// The tokens themselves that count_chat counts, for who runs the model: what a server that parses special
// tokens reads. unsupported: a format that nobody has seen, Specials::plain, or what is no text.
Result<std::vector<TokenId>> encode_chat(const Tokenizer& tokenizer, std::string_view request,
                                         const ChatOptions& options = {});

// Names that ChatOptions takes: "chatml", "llama3", ..., "openai".
std::vector<std::string_view> chat_templates();
// "openai-gpt-4o", "anthropic", "gemini", ...
std::vector<std::string_view> image_rules();

}  // namespace plimsoll
