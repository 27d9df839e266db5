// An OpenAI chat request, checked and brought into the shapes that templates take.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "plimsoll/result.hpp"

namespace plimsoll::count {

struct ChatImage {
  std::size_t message = 0;  // the one that it stands in
  std::string url;          // http(s), or data:
  std::string detail;       // "low", "high", "auto", or empty
};

// A recording or a file that came along. What a server makes of it is its own affair.
struct ChatAttachment {
  std::size_t message = 0;
  std::string kind;       // "audio" or "file"
  std::string format;     // "wav", "mp3"; of a file its name's end, "pdf"; or empty
  std::size_t bytes = 0;  // of the data itself; 0: it is elsewhere
};

struct ChatRequest {
  // As given, each an object with a role; of the body that was read, which lives longer than this.
  const nlohmann::ordered_json* given_messages = nullptr;
  const nlohmann::ordered_json& messages() const { return *given_messages; }
  nlohmann::ordered_json tools;                                         // an array, or null
  nlohmann::ordered_json tool_choice;                                   // as given, or null
  nlohmann::ordered_json variables = nlohmann::ordered_json::object();  // chat_template_kwargs and the like
  std::vector<ChatImage> images;
  // Beside messages and tools, what a server may show the model in a form of its own: a schema, documents.
  std::vector<std::pair<std::string, nlohmann::ordered_json>> shown;
  std::vector<ChatAttachment> attachments;
  std::vector<std::string> unknown_parts;  // types of content that nobody can count here: "video_url"
};

// JSON that is not nested too deep to be walked by recursion.
Result<nlohmann::ordered_json> parse_request(std::string_view text);

// `body`: an object with messages, or their array alone.
Result<ChatRequest> read_chat_request(const nlohmann::ordered_json& body);

// Servers differ in how they hand a request to a template; these are the choices they make.
struct MessageShape {
  bool content_as_list = false;    // else the texts of a list, joined by line ends
  bool arguments_as_text = false;  // else the JSON in a tool call's arguments becomes an object
  bool null_as_empty = false;      // content that is null or missing becomes ""
  bool developer_as_system = false;
};

nlohmann::ordered_json shaped_messages(const ChatRequest& request, const MessageShape& shape);

bool has_listed_content(const ChatRequest& request);

// All text of a message's content.
std::string joined_text(const nlohmann::ordered_json& content);

}  // namespace plimsoll::count
