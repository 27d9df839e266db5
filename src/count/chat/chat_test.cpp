#include "plimsoll/chat.hpp"

#include <numeric>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/sha256.hpp"
#include "base/source_dir.hpp"
#include "count/chat/chat_content.hpp"
#include "count/chat/openai_overhead.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

using Json = nlohmann::ordered_json;

const TokenizerLibrary& library() {
  static const std::filesystem::path cache = base::cache_folder(base::current_environment());
  static const TokenizerLibrary made(cache / "assets", cache / "tokenizers");
  return made;
}

// None if the definition is not installed.
std::optional<Tokenizer> opened(std::string_view name) {
  for (const TokenizerSource& source : library().sources()) {
    if (source.name != name) continue;
    if (!std::filesystem::exists(source.definition)) return std::nullopt;
    auto tokenizer = library().open(name);
    EXPECT_TRUE(tokenizer) << tokenizer.error().what;
    return tokenizer ? std::optional(*std::move(tokenizer)) : std::nullopt;
  }
  ADD_FAILURE() << "unknown tokenizer " << name;
  return std::nullopt;
}

#define OPEN_OR_SKIP(variable, name)  \
  const auto variable = opened(name); \
  if (!variable) GTEST_SKIP() << "the tokenizer " << (name) << " was not fetched: run tools/setup assets"

Tokens sum_of(const ChatCount& counted) {
  return std::accumulate(counted.messages.begin(), counted.messages.end(),
                         counted.template_tokens + counted.tools + counted.images);
}

std::string chat(const Json& messages, const Json& more = Json::object()) {
  Json body = more;
  body["messages"] = messages;
  return body.dump();
}

// ---- Against Python's jinja2 and the reference tokenizers ----

void check_case(const Tokenizer& tokenizer, const Json& vector, const std::string& request,
                const std::string& date) {
  ChatOptions options;
  options.chat_template = vector["template"].get<std::string>();
  options.date = date;
  options.keep_rendered = true;
  options.server_adds_bos = false;
  const auto counted = count_chat(tokenizer, request, options);
  if (vector.contains("refused")) {
    EXPECT_FALSE(counted) << vector << '\n' << request << '\n' << counted->rendered;
    return;
  }
  ASSERT_TRUE(counted) << vector << '\n' << request << '\n' << counted.error().what;
  const std::string sha = base::sha256_hex(counted->rendered).substr(0, 16);
  EXPECT_EQ(sha, vector.value("sha", sha)) << vector << '\n' << request << '\n' << counted->rendered;
  EXPECT_EQ(counted->total, vector.value("tokens", counted->total)) << vector << '\n'
                                                                    << request << '\n'
                                                                    << counted->rendered;
  EXPECT_EQ(counted->total, sum_of(*counted)) << vector;
}

TEST(CountChat, EqualsTheReferencesOverEveryTemplate) {
  const auto text = base::read_file(base::source_dir() / "tests/vectors/chat.json", 10'000'000);
  ASSERT_TRUE(text) << text.error().what;
  const Json vectors = Json::parse(*text);
  std::map<std::string, std::optional<Tokenizer>> tokenizers;
  int checked = 0;
  std::string missing;
  for (const Json& vector : vectors["cases"]) {
    const std::string name = vector["tokenizer"].get<std::string>();
    if (!tokenizers.contains(name)) {
      tokenizers[name] = opened(name);
      if (!tokenizers[name]) missing += ' ' + name;
    }
    if (!tokenizers[name]) continue;
    check_case(*tokenizers[name], vector, vectors["chats"][vector["chat"].get<std::size_t>()].dump(),
               vectors["date"].get<std::string>());
    ++checked;
  }
  if (!missing.empty())
    GTEST_SKIP() << checked << " cases hold; not fetched, see tools/setup assets:" << missing;
  EXPECT_GT(checked, 700);
}

// ---- Parts ----

TEST(CountChat, RecordingsAndFilesAreEstimatedByTheirBytes) {
  OPEN_OR_SKIP(tokenizer, "o200k_base");
  ChatOptions options;
  options.chat_template = "openai";
  const auto counted = [&](const Json& part) {
    const Json body{{"messages", {{{"role", "user"}, {"content", Json::array({part})}}}}};
    const auto count = count_chat(*tokenizer, body.dump(), options);
    EXPECT_TRUE(count) << count.error().what;
    return count.value_or(ChatCount{});
  };
  const std::string second(std::size_t{32'000} / 3 * 4 + 4, 'A');
  const Json wav{{"data", second}, {"format", "wav"}};
  const ChatCount sound = counted({{"type", "input_audio"}, {"input_audio", wav}});
  EXPECT_EQ(sound.images, 26);
  EXPECT_EQ(sound.message_images, std::vector<Tokens>{26});
  EXPECT_EQ(sound.exactness, Exactness::estimated);
  const Json mp3{{"url", "data:audio/mpeg;base64," + second}};
  EXPECT_EQ(counted({{"type", "audio_url"}, {"audio_url", mp3}}).images, 101);
  const Json pdf{{"filename", "a.PDF"}, {"file_data", second}};
  EXPECT_EQ(counted({{"type", "file"}, {"file", pdf}}).images, 801);
  const ChatCount elsewhere = counted({{"type", "file"}, {"file", {{"file_id", "file-1"}}}});
  EXPECT_NE(elsewhere.why.find("1 of them are not in the request"), std::string::npos) << elsewhere.why;
}

TEST(CountChat, GivesEachMessageItsOwnTokens) {
  OPEN_OR_SKIP(tokenizer, "qwen2.5");
  const auto counted = count_chat(*tokenizer, chat({{{"role", "system"}, {"content", "Be brief."}},
                                                    {{"role", "user"}, {"content", "one two three"}},
                                                    {{"role", "assistant"}, {"content", "four"}}}));
  ASSERT_TRUE(counted) << counted.error().what;
  EXPECT_EQ(counted->messages, (std::vector<Tokens>{3, 3, 1}));
  EXPECT_EQ(counted->template_tokens, 3 * 5 + 3);
  EXPECT_EQ(counted->total, 25);
  EXPECT_EQ(counted->exactness, Exactness::exact) << counted->why;
  EXPECT_EQ(counted->template_used, "tokenizer's own");
}

TEST(CountChat, SaysWhatLeavingAMessageOutWouldSave) {
  const Json turns = {{{"role", "system"}, {"content", "Be brief."}},
                      {{"role", "user"}, {"content", "one two three"}},
                      {{"role", "assistant"}, {"content", "four"}},
                      {{"role", "user"}, {"content", "and five?"}}};
  for (const auto& [name, format] : {std::pair{"qwen2.5", ""}, {"o200k_base", "openai"}, {"llama3", ""}}) {
    OPEN_OR_SKIP(tokenizer, name);
    ChatOptions options;
    options.chat_template = format;
    const auto whole = count_chat(*tokenizer, chat(turns), options);
    ASSERT_TRUE(whole) << whole.error().what;
    ASSERT_EQ(whole->frames.size(), turns.size());
    for (std::size_t i = 1; i < turns.size(); ++i) {
      Json fewer = turns;
      fewer.erase(i);
      const auto without = count_chat(*tokenizer, chat(fewer), options);
      ASSERT_TRUE(without) << without.error().what;
      EXPECT_EQ(whole->total - without->total, whole->messages[i] + whole->frames[i]) << name << ' ' << i;
    }
  }
}

TEST(CountChat, GivesToolsTheirShare) {
  OPEN_OR_SKIP(tokenizer, "qwen2.5");
  const Json tools = {
      {{"type", "function"}, {"function", {{"name", "ping"}, {"parameters", {{"type", "object"}}}}}}};
  const auto counted =
      count_chat(*tokenizer, chat({{{"role", "user"}, {"content", "hi"}}}, {{"tools", tools}}));
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->tools,
            tokenizer->count(
                R"({"type": "function", "function": {"name": "ping", "parameters": {"type": "object"}}})"));
  EXPECT_EQ(counted->messages, std::vector<Tokens>{1});
}

TEST(CountChat, CountsASchemaAndDocumentsAsTheyCame) {
  OPEN_OR_SKIP(tokenizer, "o200k_base");
  ChatOptions options;
  options.chat_template = "openai";
  Json body{{"messages", {{{"role", "user"}, {"content", "Ahoy"}}}}};
  const auto bare = count_chat(tokenizer.value(), body.dump(), options);
  body["response_format"] = {{"type", "json_object"}};
  EXPECT_EQ(count_chat(tokenizer.value(), body.dump(), options)->total, bare->total);
  Json properties = Json::object();
  for (int i = 0; i < 500; ++i) properties["field" + std::to_string(i)] = {{"type", "string"}};
  const Json schema{{"type", "json_schema"},
                    {"json_schema", {{"name", "s"}, {"schema", {{"properties", properties}}}}}};
  body["response_format"] = schema;
  body["documents"] = {{{"text", "The load line."}}};
  const auto counted = count_chat(tokenizer.value(), body.dump(), options);
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->total - bare->total,
            tokenizer->count(schema.dump()) + tokenizer->count(body["documents"].dump()));
  EXPECT_EQ(counted->tools, counted->total - bare->total);
  EXPECT_EQ(counted->exactness, Exactness::estimated);
  EXPECT_NE(counted->why.find("response_format"), std::string::npos);
}

TEST(CountChat, CountsAForcedToolAndDocumentsOfTheTemplateOnce) {
  OPEN_OR_SKIP(tokenizer, "o200k_base");
  const Json messages = Json::parse(R"([{"role": "user", "content": "Ahoy"}])");
  const auto count = [&](const char* format, Json fields) {
    fields["messages"] = messages;
    ChatOptions options;
    options.chat_template = format;
    return *count_chat(*tokenizer, fields.dump(), options);
  };
  const Json forced{{"type", "function"}, {"function", {{"name", "depth_of_the_harbour"}}}};
  const Json documents = Json::parse(R"([{"text": "The load line."}])");
  const ChatCount bare = count("chatml", {});
  EXPECT_EQ(count("chatml", {{"tool_choice", "required"}}).total, bare.total);
  const ChatCount named = count("chatml", {{"tool_choice", forced}});
  EXPECT_EQ(named.total - bare.total, tokenizer->count(forced.dump()));
  EXPECT_EQ(named.exactness, Exactness::estimated);
  const ChatCount told = count("chatml", {{"chat_template_kwargs", {{"documents", documents}}}});
  EXPECT_EQ(told.total - bare.total, tokenizer->count(documents.dump()));
  EXPECT_NE(told.why.find("chat_template_kwargs.documents"), std::string::npos);

  EXPECT_LT(count("openai", {{"tool_choice", forced}}).total - count("openai", {}).total,
            tokenizer->count(forced.dump()));  // by its rule alone
  constexpr const char* with_documents =
      "{% for one in messages %}{{ one['content'] }}{% endfor %}"
      "{% for one in documents %}{{ one['text'] }}{% endfor %}";
  EXPECT_EQ(count(with_documents, {{"chat_template_kwargs", {{"documents", documents}}}}).total,
            tokenizer->count("AhoyThe load line."));
}

TEST(CountChat, TakesLiteralsInMessagesAsThePolicySays) {
  OPEN_OR_SKIP(tokenizer, "qwen2.5");
  const std::string request = chat({{{"role", "user"}, {"content", "a <|im_end|> b"}}});
  ChatOptions options;
  options.keep_rendered = true;
  const auto parsed = count_chat(*tokenizer, request, options);
  options.specials = Specials::plain;
  const auto plain = count_chat(*tokenizer, request, options);
  ASSERT_TRUE(parsed && plain);
  EXPECT_EQ(parsed->rendered, plain->rendered);
  EXPECT_EQ(parsed->total, tokenizer->count(parsed->rendered, Specials::parsed));
  EXPECT_EQ(parsed->messages[0], 4);
  EXPECT_EQ(plain->messages[0], tokenizer->count("a <|im_end|> b", Specials::plain));
  EXPECT_EQ(plain->template_tokens, parsed->template_tokens);
}

// A literal may span two messages, or a message and the template; only the policy "parsed" joins
// it.
TEST(CountChat, FindsNoTokenAcrossTheBorderUnderPlain) {
  OPEN_OR_SKIP(tokenizer, "qwen2.5");
  ChatOptions options;
  options.chat_template = "{% for m in messages %}{{ m.content }}{% endfor %}|>";
  const std::string request =
      chat({{{"role", "user"}, {"content", "<|im_"}}, {{"role", "user"}, {"content", "end"}}});
  EXPECT_EQ(count_chat(*tokenizer, request, options)->total, 1);
  options.specials = Specials::plain;
  EXPECT_EQ(count_chat(*tokenizer, request, options)->total, tokenizer->count("<|im_end|>", Specials::plain));
}

TEST(CountChat, AddsTheOpeningTokenOnce) {
  OPEN_OR_SKIP(tokenizer, "gemma3");
  const std::string request = chat({{{"role", "user"}, {"content", "hi"}}});
  ChatOptions without;
  without.chat_template = "{{ messages[0].content }}";
  ChatOptions with = without;
  with.chat_template = "{{ bos_token }}{{ messages[0].content }}";
  EXPECT_EQ(count_chat(*tokenizer, request, with)->total, 2);
  EXPECT_EQ(count_chat(*tokenizer, request, without)->total, 2);
  without.server_adds_bos = false;
  EXPECT_EQ(count_chat(*tokenizer, request, without)->total, 1);
}

TEST(CountChat, CallsATemplateOfOursExactOnlyWhereItWasCompared) {
  OPEN_OR_SKIP(tokenizer, "gemma2");
  const Json plain = {{{"role", "user"}, {"content", "hi"}}};
  const Json tools = {{{"type", "function"}, {"function", {{"name", "ping"}}}}};
  EXPECT_EQ(count_chat(*tokenizer, chat(plain))->exactness, Exactness::exact);
  EXPECT_EQ(count_chat(*tokenizer, chat(plain))->template_used, "gemma");
  EXPECT_EQ(count_chat(*tokenizer, chat(plain, {{"tools", tools}}))->exactness, Exactness::calibrated);
  ChatOptions options;
  options.chat_template = "chatml";
  EXPECT_EQ(count_chat(*tokenizer, chat(plain), options)->exactness, Exactness::calibrated);
  options.chat_template = "anthropic";
  EXPECT_EQ(count_chat(*tokenizer, chat(plain), options)->exactness, Exactness::estimated);
}

// ---- OpenAI's rules ----

TEST(CountChat, FollowsOpenaisCookbook) {
  OPEN_OR_SKIP(tokenizer, "cl100k_base");
  const Json messages = {
      {{"role", "system"},
       {"content",
        "You are a helpful, pattern-following assistant that translates corporate jargon into plain "
        "English."}},
      {{"role", "system"},
       {"name", "example_user"},
       {"content", "New synergies will help drive top-line growth."}},
      {{"role", "system"},
       {"name", "example_assistant"},
       {"content", "Things working well together will increase revenue."}},
      {{"role", "system"},
       {"name", "example_user"},
       {"content",
        "Let's circle back when we have more bandwidth to touch base on opportunities for increased "
        "leverage."}},
      {{"role", "system"},
       {"name", "example_assistant"},
       {"content", "Let's talk later when we're less busy about how to do better."}},
      {{"role", "user"},
       {"content",
        "This late pivot means we don't have time to boil the ocean for the client deliverable."}}};
  const auto counted = count_chat(*tokenizer, chat(messages));
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->total, 129);  // the figures of the cookbook's example
  EXPECT_EQ(counted->exactness, Exactness::exact);
  EXPECT_EQ(counted->template_used, "openai");
  ChatOptions old;
  old.chat_template = "openai-0301";
  EXPECT_EQ(count_chat(*tokenizer, chat(messages), old)->total, 127);
}

TEST(OpenaiTools, AreWrittenAsTypescript) {
  const Json tools = Json::parse(
      R"([{"type":"function","function":{"name":"get_weather","description":"Weather","parameters":{"type":"object","properties":
    {"place":{"type":"string","description":"Where"},"unit":{"type":"string","enum":["c","f"]},"at":{"type":"object","properties":{"hour":{"type":"integer","description":"unseen"}},"required":["hour"]},
     "tags":{"type":"array","items":{"type":"string"}}},"required":["place"]}}},{"type":"function","function":{"name":"ping"}}])");
  EXPECT_EQ(count::openai_tools_text(tools),
            "namespace functions {\n\n// Weather\ntype get_weather = (_: {\n// Where\nplace: string,\nunit?: "
            "\"c\" | \"f\",\nat?: {\n  hour: number,\n},\ntags?: string[],\n}) => any;\n\n"
            "type ping = () => any;\n\n} // namespace functions");
}

TEST(CountChat, CallsToolsByOpenaiCalibrated) {
  OPEN_OR_SKIP(tokenizer, "o200k_base");
  const auto counted =
      count_chat(*tokenizer, chat({{{"role", "user"}, {"content", "hi"}}},
                                  {{"tools", {{{"type", "function"}, {"function", {{"name", "ping"}}}}}}}));
  ASSERT_TRUE(counted);
  EXPECT_EQ(counted->exactness, Exactness::calibrated);
  EXPECT_NE(counted->why.find("OpenAI"), std::string::npos);
  EXPECT_EQ(
      counted->tools,
      tokenizer->count("namespace functions {\n\ntype ping = () => any;\n\n} // namespace functions") + 9);
}

// ---- Images ----

TEST(CountChat, CountsImagesByTheirSizeOrTheMost) {
  OPEN_OR_SKIP(tokenizer, "o200k_base");
  const auto with = [](const char* url) {
    return chat({{{"role", "user"},
                  {"content",
                   {{{"type", "text"}, {"text", "what?"}},
                    {{"type", "image_url"}, {"image_url", {{"url", url}}}}}}}});
  };
  const auto seen =
      count_chat(*tokenizer, with("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAQAAAABACAYAAAA="));
  ASSERT_TRUE(seen) << seen.error().what;
  EXPECT_EQ(seen->images, 85 + 170);
  EXPECT_EQ(seen->exactness, Exactness::exact);
  const auto unseen = count_chat(*tokenizer, with("https://example.org/hull.png"));
  EXPECT_EQ(unseen->images, 85 + 8 * 170);
  EXPECT_EQ(unseen->exactness, Exactness::estimated);
  EXPECT_NE(unseen->why.find("is not known"), std::string::npos);
}

// The server may read it; the rule's maximum would fill many windows.
TEST(CountChat, CountsAnImageThatItCannotDecodeAsAUsualOne) {
  OPEN_OR_SKIP(tokenizer, "qwen2.5");
  ChatOptions options;
  options.images = "qwen2-vl";
  const auto counted =
      count_chat(*tokenizer,
                 chat({{{"role", "user"},
                        {"content",
                         {{{"type", "image_url"},
                           {"image_url", {{"url", "data:image/heic;base64,AAAAGGZ0eXBoZWlj"}}}}}}}}),
                 options);
  ASSERT_TRUE(counted) << counted.error().what;
  EXPECT_EQ(counted->images, 37 * 37 + 2);
  EXPECT_EQ(counted->exactness, Exactness::estimated);
  EXPECT_NE(counted->why.find("cannot be decoded"), std::string::npos) << counted->why;
}

// ---- Errors ----

TEST(CountChat, SaysWhatIsWrongWithARequest) {
  OPEN_OR_SKIP(tokenizer, "cl100k_base");
  const auto error = [&](std::string_view request, const ChatOptions& options = {}) {
    const auto counted = count_chat(*tokenizer, request, options);
    return counted ? "none" : counted.error().what;
  };
  EXPECT_EQ(error("{"), "the request is not JSON: it ends too early");
  EXPECT_EQ(error("[\"a\xff\"]"), "the request is not JSON: byte 4 is not UTF-8");
  EXPECT_EQ(error("[1e999]"), "the request is not JSON: it has a number that is too large");
  EXPECT_EQ(error("{}"), "the request has no list of messages");
  EXPECT_EQ(error(R"([{"role":"pirate","content":"arr"}])"),
            "messages[0].role is 'pirate', not one of system, developer, user, assistant, tool");
  EXPECT_EQ(error(R"([{"role":"user","content":7}])"), "messages[0].content is neither a string nor a list");
  EXPECT_EQ(error(std::string(100'000, '[')), "the request is nested more than 100 deep");
  ChatOptions options;
  options.chat_template = "chatlm";
  EXPECT_NE(error("[]", options).find("unknown chat template 'chatlm'; use one of chatml"),
            std::string::npos);
}

}  // namespace
}  // namespace plimsoll
