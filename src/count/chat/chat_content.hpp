// An OpenAI chat request, checked and converted to the input of templates.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::count {

struct ChatImage {
  std::size_t message = 0;  // index of its message
  std::string url;          // http(s), or data:
  std::string detail;       // "low", "high", "auto", or empty
};

// An attached audio recording or file. Servers handle it differently.
struct ChatAttachment {
  std::size_t message = 0;
  std::string kind;       // "audio" or "file"
  std::string format;     // "wav", "mp3"; for a file its extension, "pdf"; or empty
  std::size_t bytes = 0;  // of the data; 0: not in the request
};

struct ChatContent {
  // As given, each an object with a role; points into the parsed body, which must outlive this.
  const nlohmann::ordered_json* given_messages = nullptr;
  const nlohmann::ordered_json& messages() const { return *given_messages; }
  nlohmann::ordered_json tools;                                         // an array, or null
  nlohmann::ordered_json tool_choice;                                   // as given, or null
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();  // chat_template_kwargs and similar
  std::vector<ChatImage> images;
  // Other fields that a server may render in its own format: a schema, documents.
  std::vector<std::pair<std::string, nlohmann::ordered_json>> shown;
  std::vector<ChatAttachment> attachments;
  std::vector<std::string> unknown_parts;  // content types that cannot be counted: "video_url"
};

// Parses JSON; refuses text that is nested too deep for recursion.
Result<nlohmann::ordered_json> parse_request(std::string_view text);

// `body`: an object with messages, or only their array.
Result<ChatContent> read_chat_content(const nlohmann::ordered_json& body);

// Servers differ in how they pass a request to a template; these are the variants.
struct MessageShape {
  bool content_as_list = false;    // else the texts of a list, joined with newlines
  bool arguments_as_text = false;  // else the arguments of a tool call are parsed to an object
  bool null_as_empty = false;      // content that is null or missing becomes ""
  bool developer_as_system = false;
};

nlohmann::ordered_json shaped_messages(const ChatContent& request, const MessageShape& shape);

bool has_listed_content(const ChatContent& request);

// Returns all text of a message's content.
std::string joined_text(const nlohmann::ordered_json& content);

}  // namespace plimsoll::count
