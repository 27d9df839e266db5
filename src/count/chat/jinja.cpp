#include "count/chat/jinja.hpp"

#include <charconv>
#include <ctime>
#include <exception>
#include <limits>

#include "count/chat/jinja_hooks.hpp"  // before the engine's headers, which call into it

#include "jinja/lexer.h"
#include "jinja/parser.h"
#include "jinja/runtime.h"
#include "jinja/value.h"

#include "base/json/json_text.hpp"
#include "base/try.hpp"

namespace plimsoll::count {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t longest_template = std::size_t{256} << 10;  // the longest known has 20 KB
constexpr int deepest_json = 128;
constexpr std::int64_t longest_range = 100'000;

// ---- From JSON to the engine's values ----

jinja::value text_value(const std::string& text, int origin) {
  auto value = jinja::mk_val<jinja::value_string>(text);
  jinja::set_origin(value, origin);
  return value;
}

jinja::value value_of(const Json& json, int origin, int depth = 0) {
  if (depth > deepest_json) throw std::runtime_error("the request is nested too deeply");
  switch (json.type()) {
    case Json::value_t::boolean: return jinja::mk_val<jinja::value_bool>(json.get<bool>());
    case Json::value_t::number_integer: return jinja::mk_val<jinja::value_int>(json.get<std::int64_t>());
    case Json::value_t::number_unsigned:
      if (json.get<std::uint64_t>() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return jinja::mk_val<jinja::value_int>(json.get<std::int64_t>());
      return jinja::mk_val<jinja::value_float>(json.get<double>());
    case Json::value_t::number_float: return jinja::mk_val<jinja::value_float>(json.get<double>());
    case Json::value_t::string: return text_value(json.get_ref<const std::string&>(), origin);
    case Json::value_t::array: {
      auto array = jinja::mk_val<jinja::value_array>();
      for (const Json& item : json) array->push_back(value_of(item, origin, depth + 1));
      return array;
    }
    case Json::value_t::object: {
      auto object = jinja::mk_val<jinja::value_object>();
      for (const auto& [key, item] : json.items())
        object->insert(text_value(key, origin), value_of(item, origin, depth + 1));
      return object;
    }
    default: return jinja::mk_val<jinja::value_none>();
  }
}

jinja::value messages_value(const Json& messages) {
  auto array = jinja::mk_val<jinja::value_array>();
  int index = 0;
  for (const Json& message : messages) {
    jinja::value value = value_of(message, index++);
    if (message.is_object() && message.contains("role") && message["role"].is_string())
      value->insert(jinja::mk_val<jinja::value_string>("role"),
                    jinja::mk_val<jinja::value_string>(message["role"].get<std::string>()));
    array->push_back(value);
  }
  return array;
}

// ---- Replacements for engine functions that are not pure or not bounded ----

Result<std::tm> parse_date(std::string_view date) {
  std::tm day{};
  if (date.empty()) date = "2025-01-01";
  const auto number = [&](std::size_t at, std::size_t length, int& into) {
    return at + length <= date.size() &&
           std::from_chars(date.data() + at, date.data() + at + length, into).ptr ==
               date.data() + at + length;
  };
  if (date.size() != 10 || date[4] != '-' || date[7] != '-' || !number(0, 4, day.tm_year) ||
      !number(5, 2, day.tm_mon) || !number(8, 2, day.tm_mday) || day.tm_year < 1 || day.tm_mon < 1 ||
      day.tm_mon > 12 || day.tm_mday < 1 || day.tm_mday > 31)
    return fail(Errc::bad_input, "'{}' is not a date such as 2026-11-15", date);
  day.tm_year -= 1900;
  day.tm_mon -= 1;
  // Zeller's congruence, for %A and %a.
  const int year = day.tm_year + 1900 - (day.tm_mon < 2 ? 1 : 0);
  const int month = day.tm_mon < 2 ? day.tm_mon + 13 : day.tm_mon + 1;
  day.tm_wday = (day.tm_mday + 13 * (month + 1) / 5 + year + year / 4 - year / 100 + year / 400 + 6) % 7;
  return day;
}

jinja::value function(const char* name, const jinja::func_handler& handler) {
  return jinja::mk_val<jinja::value_func>(name, handler);
}

jinja::value strftime_of(const std::tm& day, const jinja::func_args& args) {
  const std::string format = args.get_pos(0)->as_string().str();
  char text[256];
  const std::size_t length = std::strftime(text, sizeof text, format.c_str(), &day);
  if (length == 0 && !format.empty()) throw std::runtime_error("strftime_now: the date is too long");
  return jinja::mk_val<jinja::value_string>(std::string(text, length));
}

jinja::value range_of(const jinja::func_args& args) {
  std::int64_t bounds[3] = {0, 0, 1};
  const std::size_t given = args.count();
  if (given < 1 || given > 3) throw std::runtime_error("range() takes one to three numbers");
  for (std::size_t i = 0; i < given; ++i) bounds[given == 1 ? 1 : i] = args.get_pos(i)->as_int();
  const auto [begin, end, step] = bounds;
  if (step == 0) throw std::runtime_error("range() by a step of 0");
  auto numbers = jinja::mk_val<jinja::value_array>();
  for (std::int64_t i = begin; step > 0 ? i < end : i > end; i += step) {
    if (static_cast<std::int64_t>(numbers->as_array().size()) == longest_range)
      throw std::runtime_error("range() over more than 100000 numbers");
    hooks::step();
    numbers->push_back(jinja::mk_val<jinja::value_int>(i));
  }
  return numbers;
}

// ---- Rendering ----

// The parser and the destructors handle chains of operators and of elif recursively.
void check_shape(const std::vector<jinja::token>& tokens) {
  std::size_t in_one = 0, branches = 0;
  for (const jinja::token& token : tokens) {
    in_one = token.t == jinja::token::text ? 0 : in_one + 1;
    if (token.t == jinja::token::close_expression || token.t == jinja::token::close_statement) in_one = 0;
    if (token.t == jinja::token::identifier && token.value == "elif") ++branches;
    if (in_one > 4000 || branches > 1000) throw std::runtime_error("it has an expression that is too long");
  }
}

void add_piece(const jinja::string& text, Rendered& rendered) {
  for (const jinja::string_part& part : text.parts) {
    if (part.val.empty()) continue;
    rendered.text += part.val;
    const int origin = part.is_input ? part.origin : RenderedPart::of_template;
    if (!rendered.parts.empty() && rendered.parts.back().origin == origin) {
      rendered.parts.back().end = rendered.text.size();
    } else {
      rendered.parts.push_back({rendered.text.size(), origin});
    }
  }
}

Rendered render(const std::string& text, const TemplateInput& input, const std::tm& day) {
  Rendered rendered;
  jinja::lexer lexer;
  const jinja::lexer_result tokens = lexer.tokenize(text);
  check_shape(tokens.tokens);
  const jinja::program program = jinja::parse_from_tokens(tokens);

  jinja::context context(text);
  context.set_val("messages", messages_value(*input.messages));
  // Hugging Face always passes both, so that "is defined" is true.
  context.set_val("tools", input.tools != nullptr
                               ? value_of(*input.tools, static_cast<int>(input.messages->size()))
                               : value_of(Json(), RenderedPart::of_template));
  context.set_val("documents", value_of(Json(), RenderedPart::of_template));
  for (const auto& [name, value] : input.variables.items())
    context.set_val(name, value_of(value, RenderedPart::of_template));
  context.set_val("range", function("range", range_of));
  context.set_val("strftime_now", function("strftime_now", [&](const jinja::func_args& args) {
                    rendered.used_date = true;
                    return strftime_of(day, args);
                  }));
  jinja::runtime runtime(context);
  const jinja::value_array pieces = runtime.execute(program);
  for (const jinja::value& piece : pieces->as_array()) {
    auto parts = jinja::mk_val<jinja::value_string>();
    jinja::gather_string_parts_recursive(piece, parts);
    add_piece(parts->val_str, rendered);
  }
  return rendered;
}

// Normalises line ends like the engine's lexer, which takes quadratic time.
std::string with_plain_line_ends(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n') continue;
    plain += text[i] == '\r' ? '\n' : text[i];
  }
  return plain;
}

// The last line of the engine's message has the reason; earlier lines show the template.
std::string reason_of(std::string_view what) {
  constexpr std::string_view marks[] = {"Error: ", "Jinja Exception: "};
  for (const std::string_view mark : marks)
    if (const std::size_t at = what.rfind(mark); at != std::string_view::npos)
      what.remove_prefix(at + mark.size());
  return std::string(what.substr(0, 300));
}

}  // namespace

Result<Rendered> render_template(std::string_view template_text, const TemplateInput& input) {
  if (template_text.size() > longest_template)
    return fail(Errc::bad_input, "the chat template has {} bytes; at most {} are allowed",
                template_text.size(), longest_template);
  if (input.messages == nullptr || !input.messages->is_array())
    return fail(Errc::bad_input, "messages must be an array");
  TRY(const std::tm day, parse_date(input.date));
  try {
    std::uint64_t bytes = 0;
    for (const Json* part : {input.messages, input.tools})
      if (part != nullptr) bytes += base::json_text(*part).size();
    const hooks::Budget budget(bytes);
    return render(with_plain_line_ends(template_text), input, day);
  } catch (const std::bad_alloc&) {
    return fail(Errc::bad_input, "the chat template needs too much memory");
  } catch (const std::exception& error) {
    return fail(Errc::bad_input, "the chat template cannot be rendered: {}", reason_of(error.what()));
  }
}

}  // namespace plimsoll::count
