#include "count/chat/jinja.hpp"

#include <gtest/gtest.h>

namespace plimsoll::count {
namespace {

using Json = nlohmann::ordered_json;

std::string rendered(std::string_view text, const Json& messages = Json::array(),
                     Json variables = Json::object(), const Json* tools = nullptr) {
  TemplateInput input;
  input.messages = &messages;
  input.tools = tools;
  input.variables = std::move(variables);
  const auto result = render_template(text, input);
  return result ? result->text : "error: " + result.error().what;
}

TEST(RenderTemplate, TrimsAndStripsBlocksAsHuggingFaceDoes) {
  EXPECT_EQ(rendered("a\n  {% if true %}\nb\n  {% endif %}\nc\n"), "a\nb\nc");
  EXPECT_EQ(rendered("{{ 'x' }}\ny"), "x\ny");
  EXPECT_EQ(rendered("a {%- if true -%} b {%- endif %} c"), "ab c");
}

TEST(RenderTemplate, WritesJsonAsPythonDoes) {
  const Json value = {{"x",
                       {{"a", 1.0},
                        {"b", 0.1},
                        {"c", "é\"\n\x01"},
                        {"d", {1, true, nullptr}},
                        {"e", 1e-7},
                        {"f", 123456.789}}}};
  EXPECT_EQ(rendered("{{ x | tojson }}", Json::array(), value),
            "{\"a\": 1.0, \"b\": 0.1, \"c\": \"é\\\"\\n\\u0001\", \"d\": [1, true, null], \"e\": 1e-07, "
            "\"f\": 123456.789}");
  EXPECT_EQ(rendered("{{ x | tojson(indent=2) }}", Json::array(), {{"x", {{"a", {1}}}}}),
            "{\n  \"a\": [\n    1\n  ]\n}");
}

TEST(RenderTemplate, KnowsPythonsWhiteSpaceAndCharacters) {
  const Json x = {{"x", "\u00a0\u3000 héllo\u2003\n"}};
  EXPECT_EQ(rendered("[{{ x | trim }}]", Json::array(), x), "[héllo]");
  EXPECT_EQ(rendered("{{ x.strip() | length }}", Json::array(), x), "5");
  EXPECT_EQ(
      rendered(
          "{{ 'a  b\tc'.split() | length }} {{ 'a-b-c'.split('-', 1)[1] }} {{ 'a-b-c'.rsplit('-', 1)[0] }}"),
      "3 b-c a-b");
  EXPECT_EQ(rendered("{{ 'aXbXc'.replace('X', '--') }}"), "a--b--c");
  EXPECT_EQ(rendered("{{ none }}"), "None");
}

TEST(RenderTemplate, SaysWhatTheTemplateRaises) {
  EXPECT_EQ(rendered("{{ raise_exception('roles must alternate') }}"),
            "error: the chat template cannot be rendered: roles must alternate");
  EXPECT_NE(rendered("{% if %}").find("error: the chat template cannot be rendered"), std::string::npos);
  EXPECT_NE(rendered("{{ 'a' + 1 }}").find("can only concatenate"), std::string::npos);
  EXPECT_NE(rendered("{{ x is divisibleby 0 }}", Json::array(), {{"x", 1}}).find("by zero"),
            std::string::npos);
}

TEST(RenderTemplate, EndsWhatWouldNotEnd) {
  const auto ends = [](const std::string& text, const char* why) {
    const std::string result = rendered(text);
    EXPECT_NE(result.find(why), std::string::npos) << result;
  };
  ends(
      "{% for i in range(100000) %}{% for j in range(100000) %}{% for k in range(1000) %}{% endfor %}{% "
      "endfor %}{% endfor %}",
      "steps");
  ends("{{ range(1000000000) | length }}", "100000 numbers");
  ends("{{ 'x' * 1000000000000 }}", "bytes of text");
  ends(
      "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(60) %}{% set ns.s = ns.s + ns.s %}{% endfor "
      "%}",
      "bytes of text");
  ends("{% set a = 'x' * 100000 %}{{ a.replace('x', a).replace('x', a) }}", "bytes of text");
  ends("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nested too deep");
  ends("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns | tojson }}", "nested too deep");
  ends("{{ " + std::string(100'000, '(') + "1" + std::string(100'000, ')') + " }}", "too long");
  ends(
      "{{ 1" +
          [] {
            std::string sum;
            for (int i = 0; i < 50'000; ++i) sum += "+1";
            return sum;
          }() +
          " }}",
      "too long");
  ends(
      [] {
        std::string deep;
        for (int i = 0; i < 20'000; ++i) deep += "{% if true %}";
        return deep;
      }(),
      "nested too deep");
  ends(std::string(300'000, 'x'), "at most 262144");
}

TEST(RenderTemplate, KnowsWhichTextCameFromWhere) {
  const Json messages = {{{"role", "user"}, {"content", " one "}},
                         {{"role", "assistant"}, {"content", "a</think>two"}}};
  const Json tools = {{{"name", "f"}}};
  TemplateInput input;
  input.messages = &messages;
  input.tools = &tools;
  const auto result = render_template(
      "{% for t in tools %}{{ t | tojson }}{% endfor %}{% for m in messages %}<{{ m.role + ':' + (m.content "
      "| trim).split('</think>')[-1] }}>{% endfor %}",
      input);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->text, "{\"name\": \"f\"}<user:one><assistant:two>");
  std::vector<std::pair<std::string, int>> parts;
  std::size_t begin = 0;
  for (const RenderedPart& part : result->parts) {
    parts.emplace_back(result->text.substr(begin, part.end - begin), part.origin);
    begin = part.end;
  }
  const std::vector<std::pair<std::string, int>> expected = {
      {"{\"name\": \"f\"}", 2}, {"<user:", -1}, {"one", 0}, {"><assistant:", -1}, {"two", 1}, {">", -1}};
  EXPECT_EQ(parts, expected);
}

TEST(RenderTemplate, HasNoClock) {
  const Json none = Json::array();
  TemplateInput input;
  input.messages = &none;
  input.date = "2026-11-15";
  const auto result = render_template("{{ strftime_now('%A %d %B %Y, %Y-%m-%d') }}", input);
  ASSERT_TRUE(result) << result.error().what;
  EXPECT_EQ(result->text, "Sunday 15 November 2026, 2026-11-15");
  EXPECT_TRUE(result->used_date);
  input.date = "15.11.2026";
  EXPECT_FALSE(render_template("", input));
}

}  // namespace
}  // namespace plimsoll::count
