#include "base/json/parse_json.hpp"

#include <simdjson.h>

namespace plimsoll::base {
namespace {

using Json = nlohmann::ordered_json;
namespace dom = simdjson::dom;

Json converted(const dom::element& element) {
  switch (element.type()) {
    case dom::element_type::ARRAY: {
      Json list = Json::array();
      auto& items = list.get_ref<Json::array_t&>();
      const dom::array given(element);
      items.reserve(given.size());
      for (const dom::element& item : given) items.push_back(converted(item));
      return list;
    }
    case dom::element_type::OBJECT: {
      Json object = Json::object();
      for (const dom::key_value_pair& field : dom::object(element))
        object[std::string(field.key)] = converted(field.value);  // of duplicate keys, the last
      return object;
    }
    case dom::element_type::STRING: return Json(std::string(std::string_view(element)));
    case dom::element_type::INT64:
      return std::int64_t(element) < 0 ? Json(std::int64_t(element))
                                       : Json(std::uint64_t(std::int64_t(element)));
    case dom::element_type::UINT64: return Json(std::uint64_t(element));
    case dom::element_type::DOUBLE: return Json(double(element));
    case dom::element_type::BOOL: return Json(bool(element));
    case dom::element_type::NULL_VALUE: return Json(nullptr);
  }
  return Json(nullptr);
}

}  // namespace

std::optional<Json> parse_quickly(std::string_view text) {
  // One parser per thread, which keeps its memory. After a large text it is freed.
  constexpr std::size_t largest_kept = std::size_t{1} << 20;
  thread_local dom::parser kept;
  dom::parser single;
  dom::parser& parser = text.size() > largest_kept ? single : kept;
  dom::element root;
  if (parser.parse(text.data(), text.size(), true).get(root) != simdjson::SUCCESS) return std::nullopt;
  return converted(root);
}

Json parse_json(std::string_view text) {
  if (auto quickly = parse_quickly(text)) return *std::move(quickly);
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace plimsoll::base
