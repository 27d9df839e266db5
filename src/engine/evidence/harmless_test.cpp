// Data that spells special tokens or marks must not be read as structure.
#include "engine/evidence/harmless.hpp"

#include "base/json/json_text.hpp"
#include "engine/testing_engine.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

class Harmless : public testing::Test {
 protected:
  PlanModel model(const char* name) const {
    auto opened = CatalogueModels(test_.catalogue, test_.tokenizers).open(name);
    EXPECT_TRUE(opened) << opened.error().what;
    return *opened;
  }
  static Request read(const std::string& body) {
    Request request;
    request.chat = *chat::read_chat(body);
    return request;
  }

  ScriptedServer server_;
  TestEngine test_{{&server_}};
};

TEST_F(Harmless, MarksAreTakenApartInEveryText) {
  const PlanModel gpt = model("gpt-4o");
  std::string text = "ends </passage> here, opens <summary> there";
  EXPECT_EQ(make_harmless(gpt, text), 2U);
  EXPECT_EQ(text.find("</passage>"), std::string::npos);
  EXPECT_EQ(text.find("<summary>"), std::string::npos);
  std::string plain = "a passage of 24 < 25 metres";
  EXPECT_EQ(make_harmless(gpt, plain), 0U);
  EXPECT_EQ(plain, "a passage of 24 < 25 metres");
}

TEST_F(Harmless, ResultsOfToolsAreEscapedAndCounted) {
  const Json messages = Json::array(
      {{{"role", "user"}, {"content", "How deep? <|eot_id|>"}},
       {{"role", "assistant"},
        {"content", nullptr},
        {"tool_calls",
         Json::array(
             {{{"id", "c"}, {"type", "function"}, {"function", {{"name", "f"}, {"arguments", "{}"}}}}})}},
       {{"role", "tool"}, {"tool_call_id", "c"}, {"content", "ten <|eot_id|> fathoms"}}});
  const std::string body = Json{{"messages", messages}}.dump();
  const Request before = read(body);
  const Request after = escape_data(model("llama3.1:8b"), before);
  EXPECT_EQ(base::json_text(after.chat.messages()[2]).find("<|eot_id|>"), std::string::npos);
  EXPECT_NE(base::json_text(after.chat.messages()[0]).find("<|eot_id|>"),
            std::string::npos);  // the user's own
  EXPECT_TRUE(after.chat.altered);
  ASSERT_EQ(after.notes.warnings.size(), 1U);
  EXPECT_TRUE(after.notes.warnings[0].starts_with("1 special-token strings in tool results"));
  EXPECT_NE(base::json_text(before.chat.messages()[2]).find("<|eot_id|>"), std::string::npos);
}

TEST_F(Harmless, NamesOfToolsAndAllThatIsInDocumentsIsEscaped) {
  const Request after = escape_data(model("llama3.1:8b"), read(R"({"messages":[{"role":"user","content":"x"},
    {"role":"tool","name":"a<|eot_id|>","content":"ten"}],
    "documents":[{"t<|eot_id|>":["b<|eot_id|>"]}],
    "chat_template_kwargs":{"enable_thinking":false,"documents":[{"text":"c<|eot_id|>"}]}})"));
  const std::string sent = base::json_text(after.chat.body);
  EXPECT_EQ(sent.find("<|eot_id|>"), std::string::npos) << sent;
  EXPECT_NE(sent.find(R"("enable_thinking":false)"), std::string::npos) << sent;
  EXPECT_TRUE(after.chat.altered);
}

TEST_F(Harmless, AModelOfAnUnknownServerIsNotTakenForOpenAis) {
  std::string text = "ends <|im_end|>", same = text;
  PlanModel gpt = model("gpt-4o");
  EXPECT_EQ(make_harmless(gpt, text), 0U);
  gpt.any_server = true;
  EXPECT_EQ(make_harmless(gpt, same), 1U);
  EXPECT_EQ(same.find("<|im_end|>"), std::string::npos);
}

TEST_F(Harmless, WhatHasNoSpecialTokensStaysAsItIs) {
  const std::string body =
      R"({"messages":[{"role":"user","content":"x"}],"plimsoll":{"passages":[{"id":"p","text":"ten fathoms"}]}})";
  const Request after = escape_data(model("llama3.1:8b"), read(body));
  EXPECT_FALSE(after.chat.altered);
  EXPECT_TRUE(after.notes.warnings.empty());
  EXPECT_EQ(after.chat.additions.passages[0].text, "ten fathoms");
  EXPECT_TRUE(holds_data(after.chat));
  EXPECT_FALSE(holds_data(read(R"({"messages":[{"role":"user","content":"x"}]})").chat));
}

}  // namespace
}  // namespace plimsoll::engine
