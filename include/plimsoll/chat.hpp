// Counts a whole chat request: its messages, tools and images, in the format that the model sees.
//
//   auto tokenizer = library.open("qwen2.5");
//   auto counted = count_chat(*tokenizer, R"({"messages":[{"role":"user","content":"Hello"}]})");
//   counted->total;  // what the server will report as prompt_tokens
//
// Renders the chat template, the tokenizer's own if it has one. Pure and thread-safe.
// docs/chat-templates.md says what is exact and what is not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plimsoll/count.hpp"
#include "plimsoll/result.hpp"
#include "plimsoll/tokens.hpp"

namespace plimsoll {

// What a client asks for.
enum class RequestKind : std::uint8_t { chat, completion, response, embedding, ollama_embedding };

// OpenAI's route for it, or Ollama's.
constexpr std::string_view route_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::chat: return "/v1/chat/completions";
    case RequestKind::completion: return "/v1/completions";
    case RequestKind::response: return "/v1/responses";
    case RequestKind::embedding: return "/v1/embeddings";
    case RequestKind::ollama_embedding: return "/api/embed";
  }
  return "";
}

struct ChatOptions {
  // "": the tokenizer's own template, else the one for its name. Or a name of chat_templates(), or a
  // Jinja text, recognised by "{{" or "{%".
  std::string chat_template;
  // How special-token literals in messages and tools are counted. Literals of the template itself are always
  // parsed.
  Specials specials = Specials::parsed;
  // A name of image_rules(); "": the rule for the template.
  std::string images;
  // Whether the server adds the BOS token to a text that does not start with it. Applies only to
  // tokenizers with TokenizerInfo::adds_bos.
  bool server_adds_bos = true;
  // The server's date, as 2026-11-15, for templates that contain it. "": 2025-01-01, and the count says so.
  std::string date;
  bool keep_rendered = false;
};

// total = template_tokens + sum of messages + tools + images.
struct ChatCount {
  Tokens total = 0;
  Tokens template_tokens = 0;    // of the template
  std::vector<Tokens> messages;  // by message, without its images
  Tokens tools = 0;              // with other content outside the messages: a schema, documents
  Tokens images = 0;
  // For choosing what to leave out: the part of template_tokens that would go away with message i, and the
  // images of message i. Tokens that belong to no message (BOS, the header of the answer) are in no
  // frame.
  std::vector<Tokens> frames;
  std::vector<Tokens> message_images;
  Exactness exactness = Exactness::exact;
  std::string why;            // reason for the exactness
  std::string template_used;  // a name of chat_templates(), "tokenizer's own" or "given"
  std::string rendered;       // if requested; empty for OpenAI's format, which is not public
};

// `request`: the body of an OpenAI chat completion, or only its array of messages.
Result<ChatCount> count_chat(const Tokenizer& tokenizer, std::string_view request,
                             const ChatOptions& options = {});

// Returns the tokens that count_chat counts, for running the model: as a server reads them that parses
// special tokens. unsupported: a format that is not public, Specials::plain, or content that is not text.
Result<std::vector<TokenId>> encode_chat(const Tokenizer& tokenizer, std::string_view request,
                                         const ChatOptions& options = {});

// Names for ChatOptions: "chatml", "llama3", ..., "openai".
std::vector<std::string_view> chat_templates();
// "openai-gpt-4o", "anthropic", "gemini", ...
std::vector<std::string_view> image_rules();

}  // namespace plimsoll
