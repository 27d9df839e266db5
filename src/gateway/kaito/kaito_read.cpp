#include "gateway/kaito/kaito_read.hpp"

#include <algorithm>
#include <charconv>

#include "base/json/json_shape.hpp"
#include "base/json/json_text.hpp"
#include "base/json/parse_json.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"
#include "gateway/http/target.hpp"

namespace plimsoll::gateway {
namespace {

Json with(Json location, Json further) {
  location.push_back(std::move(further));
  return location;
}

bool is_text(const Json& value, const Json& location, Complaints& complaints) {
  if (value.is_string()) return true;
  complaints.add("string_type", location, "Input should be a valid string", value);
  return false;
}

const Json* list_in(const Json& object, const char* key, Complaints& complaints) {
  const auto list = object.find(key);
  if (list == object.end()) {
    complaints.missing({"body", key}, object);
    return nullptr;
  }
  if (list->is_array()) return &*list;
  complaints.add("list_type", {"body", key}, "Input should be a valid list", *list);
  return nullptr;
}

// Null counts as missing.
Json object_in(const Json& object, const char* key, const Json& location, Complaints& complaints) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return Json::object();
  if (found->is_object()) return *found;
  complaints.add("dict_type", with(location, key), "Input should be a valid dictionary", *found);
  return Json::object();
}

void check_range(std::int64_t value, std::int64_t least, std::optional<std::int64_t> most,
                 const Json& location, const Json& input, Complaints& complaints) {
  if (value < least)
    complaints.add("greater_than_equal", location,
                   fmt::format("Input should be greater than or equal to {}", least), input, {{"ge", least}});
  else if (most && value > *most)
    complaints.add("less_than_equal", location,
                   fmt::format("Input should be less than or equal to {}", *most), input, {{"le", *most}});
}

}  // namespace

void Complaints::add(std::string_view type, Json location, std::string message, const Json& input,
                     Json context) {
  constexpr std::size_t most_told = 20, longest_input = 1'000;
  if (list_.size() >= most_told) return;
  Json one{{"type", type}, {"loc", std::move(location)}, {"msg", std::move(message)}};
  const bool shown = !input.is_structured() || base::json_text(input).size() <= longest_input;
  one["input"] = shown ? input : Json();
  if (one["input"].is_string() && one["input"].get_ref<const std::string&>().size() > longest_input)
    one["input"] = nullptr;
  if (!context.is_null()) one["ctx"] = std::move(context);
  list_.push_back(std::move(one));
}

void Complaints::missing(Json location, const Json& around) {
  add("missing", std::move(location), "Field required", around);
}

Error ragengine_failure(std::string_view said) {
  return {Errc::io_failed,
          fmt::format("Chat completion failed: 500: An unexpected error occurred: {}", said)};
}

Result<Json> read_object(const std::string& body, Complaints& complaints) {
  if (body.empty()) {
    complaints.missing(Json::array({"body"}), nullptr);
    return Json::object();
  }
  TRY_VOID(base::check_json_shape(body, "the request"));
  Json json;
  try {
    json = Json::parse(body);
  } catch (const Json::parse_error& error) {
    complaints.add("json_invalid", {"body", error.byte > 0 ? error.byte - 1 : 0}, "JSON decode error",
                   Json::object(), {{"error", "not JSON from this byte on"}});
    return Json::object();
  } catch (const Json::out_of_range&) {
    return fail(Errc::bad_input, "the request body has a number that is too large");
  }
  if (json.is_object()) return json;
  complaints.add("model_attributes_type", Json::array({"body"}),
                 "Input should be a valid dictionary or object to extract fields from", json);
  return Json::object();
}

std::string read_text(const Json& object, const char* key, Complaints& complaints) {
  const auto text = object.find(key);
  if (text == object.end()) {
    complaints.missing({"body", key}, object);
    return {};
  }
  return is_text(*text, {"body", key}, complaints) ? text->get<std::string>() : std::string();
}

std::string read_index_name(const Json& object, Complaints& complaints) {
  constexpr std::size_t longest = 200;
  const Json location{"body", "index_name"};
  std::string name = read_text(object, "index_name", complaints);
  const auto given = object.find("index_name");
  if (given == object.end() || !given->is_string()) return name;
  const bool control =
      std::ranges::any_of(name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
  if (name.empty())
    complaints.add("string_too_short", location, "String should have at least 1 character", name,
                   {{"min_length", 1}});
  else if (name.size() > longest)
    complaints.add("string_too_long", location, fmt::format("String should have at most {} bytes", longest),
                   name, {{"max_length", longest}});
  else if (control)
    complaints.add("value_error", location, "The name of an index must not have control characters", name);
  return name;
}

KaitoDocuments read_documents(const Json& object, Complaints& complaints) {
  KaitoDocuments read;
  const Json* list = list_in(object, "documents", complaints);
  if (list == nullptr) return read;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const Json& one = (*list)[i];
    const Json location{"body", "documents", i};
    if (!one.is_object()) {
      complaints.add("model_attributes_type", location,
                     "Input should be a valid dictionary or object to extract fields from", one);
      continue;
    }
    library::GivenDocument given;
    const auto text = one.find("text");
    if (text == one.end())
      complaints.missing(with(location, "text"), one);
    else if (is_text(*text, with(location, "text"), complaints))
      given.text = text->get<std::string>();
    if (const auto id = one.find("doc_id");
        id != one.end() && is_text(*id, with(location, "doc_id"), complaints))
      given.id = id->get<std::string>();
    Json metadata = object_in(one, "metadata", location, complaints);
    given.metadata = metadata_from(metadata);
    read.metadata.push_back(std::move(metadata));
    read.given.push_back(std::move(given));
  }
  return read;
}

std::vector<std::string> read_texts(const Json& object, const char* key, Complaints& complaints) {
  std::vector<std::string> texts;
  const Json* list = list_in(object, key, complaints);
  if (list == nullptr) return texts;
  for (std::size_t i = 0; i < list->size(); ++i)
    if (is_text((*list)[i], {"body", key, i}, complaints)) texts.push_back((*list)[i].get<std::string>());
  return texts;
}

RetrieveAsk read_retrieve(const Json& object, std::int64_t most_nodes, Complaints& complaints) {
  RetrieveAsk ask;
  ask.index = read_text(object, "index_name", complaints);
  ask.query = read_text(object, "query", complaints);
  const Json location{"body", "max_node_count"};
  if (const auto most = object.find("max_node_count"); most != object.end()) {
    if (!most->is_number_integer()) {
      complaints.add("int_type", location, "Input should be a valid integer", *most);
    } else {
      const double value = most->get<double>();  // an unsigned value may not fit a signed one
      ask.most = value > static_cast<double>(most_nodes) ? most_nodes + 1 : most->get<std::int64_t>();
      check_range(ask.most, 1, most_nodes, location, *most, complaints);
    }
  }
  ask.filter = metadata_from(object_in(object, "metadata_filter", Json::array({"body"}), complaints));
  return ask;
}

std::int64_t whole_parameter(std::string_view query, const char* name, std::int64_t otherwise,
                             std::int64_t least, std::optional<std::int64_t> most, Complaints& complaints) {
  const auto text = query_value(query, name);
  if (!text) return otherwise;
  std::int64_t value = 0;
  const char* const end = text->data() + text->size();
  const auto [stopped, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stopped != end) {
    complaints.add("int_parsing", {"query", name},
                   "Input should be a valid integer, unable to parse string as an integer", *text);
    return otherwise;
  }
  check_range(value, least, most, {"query", name}, *text, complaints);
  return value;
}

bool flag_parameter(std::string_view query, const char* name, Complaints& complaints) {
  const auto text = query_value(query, name);
  if (!text) return false;
  const std::string word = base::to_lower_ascii(*text);
  for (const char* yes : {"true", "1", "yes", "on", "y", "t"})
    if (word == yes) return true;
  for (const char* no : {"false", "0", "no", "off", "n", "f"})
    if (word == no) return false;
  complaints.add("bool_parsing", {"query", name},
                 "Input should be a valid boolean, unable to interpret input", *text);
  return false;
}

Metadata metadata_from(const Json& object) {
  Metadata metadata;
  for (const auto& [key, value] : object.items())  // with sorted keys, like in the store
    metadata[key] = base::json_text(nlohmann::json(value));
  return metadata;
}

Json json_from(const Metadata& metadata) {
  Json object = Json::object();
  for (const auto& [key, value] : metadata) object[key] = base::parse_json(value);
  return object;
}

}  // namespace plimsoll::gateway
