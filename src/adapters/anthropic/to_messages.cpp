#include "adapters/anthropic/to_messages.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/json/json_member.hpp"
#include "base/json/json_shape.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::anthropic {
namespace {

using base::is_among;
using base::list_in;
using base::member;
using base::text_in;
using Json = nlohmann::ordered_json;

// Fields of a message that are read by name, or that the model does not see.
constexpr std::array<std::string_view, 5> of_all{"role", "content", "cache_control", "refusal",
                                                 "annotations"};
// Thoughts without a signature are not sent: the server only takes those that it signed.
constexpr std::array<std::string_view, 5> of_assistants{"tool_calls", "thinking_blocks", "reasoning_content",
                                                        "reasoning", "thinking"};
constexpr std::array<std::string_view, 4> of_tools{"tool_call_id", "name", "tool_name", "is_error"};

bool is_text_type(std::string_view type) {
  return type == "text" || type == "input_text" || type == "output_text" || type == "refusal";
}

bool is_result(const Json& block) {
  return member(block, "type") == "tool_result";
}

void keep_cache_control(const Json& from, Json& block) {
  if (const Json& cache = member(from, "cache_control"); cache.is_object()) block["cache_control"] = cache;
}

// Null for a blank text.
Json text_block(std::string text) {
  if (base::trim(text).empty()) return nullptr;
  return {{"type", "text"}, {"text", std::move(text)}};
}

// {"type": "base64", ...} of "data:image/png;base64,...", or null.
Json base64_source(std::string_view url) {
  constexpr std::string_view scheme = "data:", coding = ";base64";
  const std::size_t comma = url.find(',');
  if (base::to_lower_ascii(url.substr(0, scheme.size())) != scheme || comma == std::string_view::npos)
    return nullptr;
  const std::string about = base::to_lower_ascii(url.substr(scheme.size(), comma - scheme.size()));
  const std::string type = about.substr(0, about.find(';'));
  if (!about.ends_with(coding) || type.empty()) return nullptr;
  return {{"type", "base64"}, {"media_type", type}, {"data", url.substr(comma + 1)}};
}

// Ids that other servers made up may have characters that the API refuses.
std::string allowed_id(std::string id) {
  for (char& c : id) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter && !(c >= '0' && c <= '9') && c != '_' && c != '-') c = '_';
  }
  return id;
}

class Conversion {
 public:
  explicit Conversion(LeftOut& left_out) : left_out_(left_out) {}

  Result<Conversation> make(const Json& given) {
    for (std::size_t i = 0; i < given.size(); ++i) TRY_VOID(take(given[i], i));
    if (messages_.empty())
      return fail(Errc::bad_input,
                  "messages has nothing that Anthropic's API could answer: it needs a message of the user's "
                  "that is not blank");
    return Conversation{system(), std::move(messages_)};
  }

 private:
  Result<void> take(const Json& message, std::size_t index) {
    const std::string role = text_in(message, "role");
    if (role.empty()) return fail(Errc::bad_input, "messages[{}] must be an object with a role", index);
    name_unknown_fields(message, role);
    if (role == "system" || role == "developer") return add_system(message, index);
    if (role == "user") return add_user(message, index);
    if (role == "assistant") return add_assistant(message, index);
    if (role == "tool") return add_result(message, index);
    left_out_.add("messages.role." + role.substr(0, 60));
    return {};
  }

  void name_unknown_fields(const Json& message, std::string_view role) {
    for (const auto& [name, value] : message.items()) {
      const bool known = is_among(of_all, name) || (role == "assistant" && is_among(of_assistants, name)) ||
                         (role == "tool" && is_among(of_tools, name));
      if (!known && !value.is_null()) left_out_.add("messages." + name);
    }
  }

  // ---- Roles ----

  Result<void> add_system(const Json& message, std::size_t index) {
    TRY(Json blocks, blocks_of(member(message, "content"), index));
    for (Json& block : blocks) {
      if (block["type"] != "text") {
        left_out_.add("messages.system." + text_in(block, "type"));
        continue;
      }
      // Parts of one message are joined by line ends, as they are counted.
      joined_system_ += joined_system_.empty() ? "" : &block == &blocks.front() ? "\n\n" : "\n";
      joined_system_ += text_in(block, "text");
      system_.push_back(std::move(block));
    }
    if (!system_.empty()) keep_cache_control(message, system_.back());
    return {};
  }

  Json system() const {
    if (system_.empty()) return nullptr;
    const bool is_cached =
        std::ranges::any_of(system_, [](const Json& block) { return block.contains("cache_control"); });
    return is_cached ? system_ : Json(joined_system_);
  }

  Result<void> add_user(const Json& message, std::size_t index) {
    TRY(Json blocks, blocks_of(member(message, "content"), index));
    if (!blocks.empty()) keep_cache_control(message, blocks.back());
    add("user", std::move(blocks));
    return {};
  }

  Result<void> add_assistant(const Json& message, std::size_t index) {
    Json blocks = Json::array();
    for (const Json& thought : list_in(member(message, "thinking_blocks"))) {
      const std::string type = text_in(thought, "type");
      if (type == "redacted_thinking")
        blocks.push_back({{"type", type}, {"data", text_in(thought, "data")}});
      else if (const std::string signature = text_in(thought, "signature"); !signature.empty())
        blocks.push_back(
            {{"type", "thinking"}, {"thinking", text_in(thought, "thinking")}, {"signature", signature}});
    }
    TRY(const Json said, blocks_of(member(message, "content"), index));
    for (const Json& block : said) blocks.push_back(block);
    TRY_VOID(add_calls(member(message, "tool_calls"), index, blocks));
    if (!blocks.empty()) keep_cache_control(message, blocks.back());
    add("assistant", std::move(blocks));
    return {};
  }

  Result<void> add_calls(const Json& calls, std::size_t index, Json& blocks) {
    if (calls.is_null()) return {};
    if (!calls.is_array()) return fail(Errc::bad_input, "messages[{}].tool_calls must be a list", index);
    for (const Json& call : calls) {
      const Json& function = member(call, "function");
      const std::string name = text_in(function, "name");
      if (name.empty())
        return fail(Errc::bad_input, "messages[{}].tool_calls must hold calls of functions", index);
      TRY(Json input, input_of(member(function, "arguments"), name, index));
      std::string id = allowed_id(text_in(call, "id"));
      if (id.empty()) {
        id = fmt::format("call_{}_{}", index, blocks.size());
        unnamed_.push_back(id);
      }
      Json block{{"type", "tool_use"}, {"id", std::move(id)}, {"name", name}, {"input", std::move(input)}};
      keep_cache_control(call, block);
      blocks.push_back(std::move(block));
    }
    return {};
  }

  static Result<Json> input_of(const Json& arguments, const std::string& name, std::size_t index) {
    if (arguments.is_object()) return arguments;
    Json input = Json::object();
    const std::string text = arguments.is_string() ? arguments.get<std::string>() : std::string();
    if (!base::trim(text).empty()) {
      TRY_VOID(base::check_json_shape(text, "a tool call's arguments"));
      input = base::parse_json(text);
    }
    if (!input.is_object())
      return fail(Errc::bad_input, "messages[{}].tool_calls: the arguments of '{}' are not a JSON object",
                  index, name);
    return input;
  }

  Result<void> add_result(const Json& message, std::size_t index) {
    std::string id = allowed_id(text_in(message, "tool_call_id"));
    if (id.empty() && !unnamed_.empty()) {
      id = std::move(unnamed_.front());
      unnamed_.pop_front();
    }
    TRY(Json blocks, blocks_of(member(message, "content"), index));
    Json result{{"type", "tool_result"}, {"tool_use_id", std::move(id)}};
    if (!blocks.empty()) result["content"] = std::move(blocks);
    if (member(message, "is_error") == true) result["is_error"] = true;
    keep_cache_control(message, result);
    Json results = Json::array();
    results.push_back(std::move(result));
    add("user", std::move(results));
    return {};
  }

  void add(std::string_view role, Json blocks) {
    if (blocks.empty()) return;
    if (messages_.empty() || messages_.back()["role"] != role)
      messages_.push_back({{"role", role}, {"content", Json::array()}});
    Json& content = messages_.back()["content"];
    for (Json& block : blocks) {
      const auto place =
          is_result(block) ? std::find_if_not(content.begin(), content.end(), is_result) : content.end();
      content.insert(place, std::move(block));
    }
  }

  // ---- Parts ----

  Result<Json> blocks_of(const Json& content, std::size_t index) {
    Json blocks = Json::array();
    const auto add_block = [&](Json block) {
      if (!block.is_null()) blocks.push_back(std::move(block));
    };
    if (content.is_string()) add_block(text_block(content.get<std::string>()));
    if (content.is_string() || content.is_null()) return blocks;
    if (!content.is_array())
      return fail(Errc::bad_input, "messages[{}].content must be text or a list of parts", index);
    for (const Json& part : content) {
      Json block = block_of(part);
      if (!block.is_null()) keep_cache_control(part, block);
      add_block(std::move(block));
    }
    return blocks;
  }

  // Null where there is nothing to send.
  Json block_of(const Json& part) {
    const std::string type = text_in(part, "type");
    if (is_text_type(type)) return text_block(text_in(part, type == "refusal" ? "refusal" : "text"));
    Json block;
    if (type == "image_url" || type == "input_image") block = image_block(part);
    if (type == "file" || type == "input_file") block = document_block(part, type);
    if (block.is_null()) left_out_.add("messages.content." + (type.empty() ? "?" : type.substr(0, 60)));
    return block;
  }

  static Json image_block(const Json& part) {
    const Json& image = member(part, "image_url");
    const std::string url = image.is_string() ? image.get<std::string>() : text_in(image, "url");
    Json source = base64_source(url);
    const std::string scheme = base::to_lower_ascii(std::string_view(url).substr(0, 8));
    if (scheme.starts_with("http://") || scheme == "https://") source = {{"type", "url"}, {"url", url}};
    if (source.is_null()) return nullptr;
    return {{"type", "image"}, {"source", std::move(source)}};
  }

  static Json document_block(const Json& part, const std::string& type) {
    const Json& within = member(part, type.c_str());
    const Json& file = within.is_object() ? within : part;
    Json source = base64_source(text_in(file, "file_data"));
    if (member(source, "media_type") != "application/pdf") return nullptr;
    Json block{{"type", "document"}, {"source", std::move(source)}};
    if (const std::string title = text_in(file, "filename"); !title.empty()) block["title"] = title;
    return block;
  }

  LeftOut& left_out_;
  Json system_ = Json::array();  // blocks
  std::string joined_system_;    // the same as one text
  Json messages_ = Json::array();
  std::deque<std::string> unnamed_;  // calls that came without an id, and have no result yet
};

}  // namespace

void LeftOut::add(std::string name) {
  if (std::ranges::find(names_, name) == names_.end()) names_.push_back(std::move(name));
}

Result<Conversation> to_messages(const Json& messages, LeftOut& left_out) {
  return Conversion(left_out).make(messages);
}

}  // namespace plimsoll::anthropic
