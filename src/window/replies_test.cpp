// Replies of servers, as recorded in tests/detect/recorded, and invalid ones.
#include <map>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/source_dir.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll {
namespace {

std::string recorded(const std::string& name) {
  const auto text =
      base::read_file(base::source_dir() / "tests/detect/recorded" / (name + ".json"), 1'000'000);
  if (!text) ADD_FAILURE() << text.error().what;
  return text.value_or("");
}

ReportedModel model_of(ServerKind kind, const std::string& reply) {
  const auto model = read_model(kind, reply);
  if (!model) ADD_FAILURE() << model.error().what;
  return model.value_or(ReportedModel{});
}

ReportedModel listed(ServerKind kind, const std::string& reply, std::string_view name) {
  const auto models = read_models(kind, reply);
  if (!models) ADD_FAILURE() << models.error().what;
  const ReportedModel* found = models ? find_served(*models, name) : nullptr;
  if (found == nullptr) ADD_FAILURE() << name << " is not listed";
  return found == nullptr ? ReportedModel{} : *found;
}

TEST(Replies, OllamaSaysNumCtxAsTextOrAsAList) {
  const ReportedModel text = model_of(ServerKind::ollama, recorded("ollama_show"));
  EXPECT_EQ(text.served, 8192);
  EXPECT_EQ(text.served_by, "num_ctx");
  EXPECT_EQ(text.confidence, Confidence::high);
  EXPECT_EQ(text.maximum, 131072);
  EXPECT_EQ(text.parameters, "3.2B");
  EXPECT_EQ(text.quantization, "Q4_K_M");
  EXPECT_EQ(text.family, "llama");
  const ReportedModel list = model_of(ServerKind::ollama, recorded("ollama_show_list"));
  EXPECT_EQ(list.served, 8192);
  EXPECT_EQ(list.maximum, 32768);
  EXPECT_EQ(list.family, "gemma3");
}

TEST(Replies, OllamasMaximumIsNeverWhatItServes) {
  const ReportedModel model = model_of(ServerKind::ollama, recorded("ollama_show_unset"));
  EXPECT_EQ(model.served, 0);
  EXPECT_EQ(model.problem, "");
  EXPECT_EQ(model.maximum, 131072);
}

TEST(Replies, OllamaLowersNumCtxToTheMaximum) {
  const ReportedModel model = model_of(
      ServerKind::ollama,
      R"({"parameters": "num_ctx 99999", "model_info": {"general.architecture": "x", "x.context_length": 2048}})");
  EXPECT_EQ(model.served, 2048);
  EXPECT_EQ(model.served_by, "num_ctx 99,999, lowered to the model's maximum");
}

TEST(Replies, OllamaSaysWhatALoadedModelHas) {
  const auto loaded = read_loaded(ServerKind::ollama, recorded("ollama_ps"));
  ASSERT_TRUE(loaded);
  const ReportedModel* model = find_served(*loaded, "llama3.2:3b");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->served, 16384);
  EXPECT_EQ(model->confidence, Confidence::medium);
  EXPECT_TRUE(read_loaded(ServerKind::ollama, recorded("ollama_ps_empty"))->empty());
  EXPECT_TRUE(read_loaded(ServerKind::ollama, R"({"models": null})")->empty());
  EXPECT_EQ(listed(ServerKind::ollama, recorded("ollama_tags"), "gemma3:1b").parameters, "999.89M");
}

TEST(Replies, LlamaCppSaysWhatASlotHas) {
  const ReportedModel props = model_of(ServerKind::llama_cpp, recorded("llama_props"));
  EXPECT_EQ(props.served, 4096);
  EXPECT_EQ(props.served_by, "n_ctx of each of 4 slots");
  EXPECT_EQ(props.name, "qwen2.5-7b-instruct-q4_k_m.gguf");
  const ReportedModel entry =
      listed(ServerKind::llama_cpp, recorded("llama_models"), "/models/qwen2.5-7b-instruct-q4_k_m.gguf");
  EXPECT_EQ(entry.served, 0);
  EXPECT_EQ(entry.maximum, 32768);
  EXPECT_EQ(entry.parameters, "7.6B");
}

TEST(Replies, VllmAndKaitoSayMaxModelLen) {
  const ReportedModel model = listed(ServerKind::vllm, recorded("vllm_models"), "Qwen/Qwen2.5-7B-Instruct");
  EXPECT_EQ(model.served, 24576);
  EXPECT_EQ(model.served_by, "max_model_len");
  EXPECT_EQ(model.confidence, Confidence::high);
  const ReportedModel adapter = listed(ServerKind::vllm, recorded("vllm_models"), "sql-adapter");
  EXPECT_EQ(adapter.served, 24576);
  EXPECT_EQ(adapter.served_by, "max_model_len of Qwen/Qwen2.5-7B-Instruct");
  EXPECT_EQ(listed(ServerKind::vllm, recorded("kaito_models"), "phi-4-mini-instruct").served, 65536);
}

TEST(Replies, OpenRouterLikeServersSayContextLength) {
  const ReportedModel two =
      listed(ServerKind::openrouter, recorded("openrouter_models"), "qwen/qwen3-235b-a22b");
  EXPECT_EQ(two.served, 40960);
  EXPECT_EQ(two.served_by, "top_provider.context_length");
  EXPECT_EQ(two.maximum, 131072);
  EXPECT_EQ(two.max_output, 40960);
  const ReportedModel one =
      listed(ServerKind::openrouter, recorded("openrouter_models"), "mistralai/mistral-nemo");
  EXPECT_EQ(one.served, 131072);
  EXPECT_EQ(one.confidence, Confidence::medium);
  const ReportedModel groq = listed(ServerKind::openai, recorded("groq_models"), "llama-3.3-70b-versatile");
  EXPECT_EQ(groq.served, 131072);
  EXPECT_EQ(groq.served_by, "context_window");
  EXPECT_EQ(groq.max_output, 32768);
}

TEST(Replies, LmStudioSaysWhatIsLoaded) {
  const ReportedModel loaded =
      listed(ServerKind::lm_studio, recorded("lmstudio_models"), "qwen2.5-7b-instruct");
  EXPECT_EQ(loaded.served, 12288);
  EXPECT_EQ(loaded.maximum, 32768);
  EXPECT_EQ(loaded.quantization, "Q4_K_M");
  EXPECT_EQ(loaded.family, "qwen2");
  const ReportedModel idle =
      listed(ServerKind::lm_studio, recorded("lmstudio_models"), "meta-llama-3.1-8b-instruct");
  EXPECT_EQ(idle.served, 0);
  EXPECT_EQ(idle.maximum, 131072);
}

TEST(Replies, TgiGeminiAndAnthropicSayTheirs) {
  EXPECT_EQ(listed(ServerKind::tgi, recorded("tgi_info"), "mistralai/Mistral-7B-Instruct-v0.3").served, 8192);
  const ReportedModel gemini =
      listed(ServerKind::gemini, recorded("gemini_models"), "models/gemini-2.5-flash");
  EXPECT_EQ(gemini.served, 1048576);
  EXPECT_EQ(gemini.max_output, 65536);
  const ReportedModel claude =
      listed(ServerKind::anthropic, recorded("anthropic_models"), "claude-sonnet-4-5-20250929");
  EXPECT_EQ(claude.served, 200000);
  EXPECT_EQ(claude.max_output, 64000);
  EXPECT_EQ(listed(ServerKind::anthropic, recorded("anthropic_models"), "claude-3-haiku-20240307").served, 0);
  EXPECT_EQ(listed(ServerKind::openai, recorded("openai_models"), "gpt-4o").served, 0);
}

TEST(Replies, AServerIsRecognisedByItsListAndByItsOwnRoute) {
  const std::pair<const char*, std::optional<ServerKind>> lists[] = {
      {"vllm_models", ServerKind::vllm},
      {"kaito_models", ServerKind::vllm},
      {"llama_models", ServerKind::llama_cpp},
      {"ollama_v1_models", ServerKind::ollama},
      {"lmstudio_v1_models", ServerKind::lm_studio},
      {"openrouter_models", ServerKind::openrouter},
      {"anthropic_models", ServerKind::anthropic},
      {"openai_models", std::nullopt},
      {"tgi_info", std::nullopt}};
  for (const auto& [name, kind] : lists) EXPECT_EQ(recognise_by_models(recorded(name)), kind) << name;
  EXPECT_TRUE(answers_as(ServerKind::ollama, recorded("ollama_version")));
  EXPECT_TRUE(answers_as(ServerKind::llama_cpp, recorded("llama_props")));
  EXPECT_TRUE(answers_as(ServerKind::lm_studio, recorded("lmstudio_models")));
  EXPECT_TRUE(answers_as(ServerKind::tgi, recorded("tgi_info")));
  EXPECT_FALSE(answers_as(ServerKind::lm_studio, recorded("vllm_models")));
  EXPECT_FALSE(answers_as(ServerKind::tgi, recorded("vllm_models")));
  EXPECT_FALSE(answers_as(ServerKind::llama_cpp, recorded("tgi_info")));
  EXPECT_FALSE(answers_as(ServerKind::ollama, "{}"));
}

// ---- Invalid values ----

const std::pair<const char*, const char*> lies[] = {{"-1", "-1"},
                                                    {"0", "0"},
                                                    {"100000001", "100000001"},
                                                    {"1e30", "1e+30"},
                                                    {"18446744073709551615", "18446744073709551615"},
                                                    {"20000000000000000000000", "2e+22"},
                                                    {"8192.5", "8192.5"},
                                                    {"8192.0", "8192.0"},
                                                    {"\"8192\"", "\"8192\""},
                                                    {"\"\\u001b[31mmany\\n\"", "\"\\u001b[31mmany\\n\""},
                                                    {"true", "true"},
                                                    {"[8192]", "a list"},
                                                    {"{\"tokens\": 8192}", "an object"}};

std::string lie(std::string form, const std::string& value) {
  const std::size_t at = form.find('%');
  return form.replace(at, 1, value);
}

TEST(Replies, FiguresThatCannotBeAreNotBelievedAndSaidWithWhatStoodThere) {
  struct Form {
    ServerKind kind;
    bool list;
    const char* key;
    const char* text;
  };
  const Form forms[] = {
      {ServerKind::vllm, true, "max_model_len", R"({"data": [{"id": "m", "max_model_len": %}]})"},
      {ServerKind::openrouter, true, "context_length",
       R"({"data": [{"id": "m", "top_provider": {"context_length": %}}]})"},
      {ServerKind::lm_studio, true, "loaded_context_length",
       R"({"data": [{"id": "m", "state": "loaded", "loaded_context_length": %}]})"},
      {ServerKind::tgi, true, "max_total_tokens", R"({"model_id": "m", "max_total_tokens": %})"},
      {ServerKind::gemini, true, "inputTokenLimit",
       R"({"models": [{"name": "models/m", "inputTokenLimit": %}]})"},
      {ServerKind::anthropic, true, "max_input_tokens", R"({"data": [{"id": "m", "max_input_tokens": %}]})"},
      {ServerKind::ollama, true, "context_length", R"({"models": [{"name": "m", "context_length": %}]})"},
      {ServerKind::llama_cpp, false, "n_ctx", R"({"default_generation_settings": {"n_ctx": %}})"}};
  int checked = 0;
  for (const Form& form : forms) {
    for (const auto& [value, shown] : lies) {
      const std::string reply = lie(form.text, value);
      const ReportedModel model = form.list ? listed(form.kind, reply, "m") : model_of(form.kind, reply);
      EXPECT_EQ(model.served, 0) << reply;
      EXPECT_EQ(model.problem,
                std::string(form.key) + " is " + shown + ", not a whole number from 1 to 100,000,000")
          << reply;
      ++checked;
    }
    const std::string none = lie(form.text, "null");
    const ReportedModel silent = form.list ? listed(form.kind, none, "m") : model_of(form.kind, none);
    EXPECT_EQ(silent.served, 0);
    EXPECT_EQ(silent.problem, "");
  }
  EXPECT_EQ(checked, 8 * 13);
}

TEST(Replies, OllamasParametersAreReadStrictly) {
  const auto problem = [](const std::string& parameters) {
    const ReportedModel model = model_of(ServerKind::ollama, R"({"parameters": )" + parameters + "}");
    EXPECT_EQ(model.served, 0) << parameters;
    return model.problem;
  };
  const std::string range = ", not a whole number from 1 to 100,000,000";
  EXPECT_EQ(problem(R"("num_ctx -5")"), "num_ctx is \"-5\"" + range);
  EXPECT_EQ(problem(R"("num_ctx 0")"), "num_ctx is \"0\"" + range);
  EXPECT_EQ(problem(R"("num_ctx 999999999999999999999999")"),
            "num_ctx is \"999999999999999999999999\"" + range);
  EXPECT_EQ(problem(R"("num_ctx 8k")"), "num_ctx is \"8k\"" + range);
  EXPECT_EQ(problem(R"("num_ctx")"), "num_ctx is \"\"" + range);
  EXPECT_EQ(problem(R"("num_ctx \"8192\"")"), "num_ctx is \"\\\"8192\\\"\"" + range);
  EXPECT_EQ(problem(R"({"num_ctx": 8192})"), "parameters is an object, not a string or a list of strings");
  EXPECT_EQ(problem(R"([8192])"), "parameters is a list, not a string or a list of strings");
  EXPECT_EQ(problem(R"("my_num_ctx 8192")"), "");
  EXPECT_EQ(problem(R"("num_ctx_max 8192\n# num_ctx 1")"), "");
  EXPECT_EQ(model_of(ServerKind::ollama, R"({"parameters": "num_ctx 5\nnum_ctx\t6\r\n"})").served, 6);
}

TEST(Replies, WhatIsNoReplyIsSaid) {
  const std::map<std::string, std::string> replies{
      {"", "the reply is nothing, not JSON"},
      {"<html><body>502 Bad Gateway", "the reply is HTML or XML, not JSON"},
      {"Not Found", "the reply is text, not JSON"},
      {"{\"data\": [", "the reply is JSON that is cut off or malformed, not JSON"},
      {"[1, 2]", "the reply is a list, not an object"},
      {"null", "the reply is null, not an object"},
      {"{\"data\": 7}", "the reply has no list under data"},
      {"{\"error\": \"no\"}", "the reply has no list under data"},
      {"\xff\xfe{}", "the reply is text, not JSON"}};
  for (const auto& [reply, what] : replies) {
    const auto models = read_models(ServerKind::vllm, reply);
    ASSERT_FALSE(models) << reply;
    EXPECT_EQ(models.error().code, Errc::upstream_failed);
    EXPECT_EQ(models.error().what, what);
  }
  EXPECT_FALSE(read_model(ServerKind::ollama, "{\"data\": []}"));
  EXPECT_FALSE(read_model(ServerKind::llama_cpp, "{\"data\": []}"));
  EXPECT_FALSE(read_models(ServerKind::tgi, "{\"model_id\": 7}"));
  EXPECT_FALSE(read_models(ServerKind::gemini, "{\"models\": {}}"));
  EXPECT_FALSE(read_models(ServerKind::ollama, "{\"models\": {}}"));
}

TEST(Replies, DepthAndLengthDoNotHurt) {
  const std::string deep = std::string(500'000, '[') + std::string(500'000, ']');
  for (const ServerKind kind : all_server_kinds()) {
    EXPECT_FALSE(read_models(kind, deep));
    EXPECT_FALSE(read_model(kind, "{\"a\": " + deep + "}"));
  }
  std::string many = "{\"data\": [";
  for (int i = 0; i < 50'000; ++i)
    many += (i == 0 ? "" : ",") + std::string("{\"id\": \"x\", \"parent\": \"x\"}");
  const auto models = read_models(ServerKind::vllm, many + "]}");
  ASSERT_TRUE(models);
  EXPECT_EQ(models->size(), 10'000U);
  const std::string shouting =
      R"({"data": [{"id": "m", "max_model_len": ")" + std::string(100'000, 'x') + R"("}]})";
  EXPECT_LT(listed(ServerKind::vllm, shouting, "m").problem.size(), 200U);
}

TEST(Served, NamesAreCompletedAsServersDo) {
  std::vector<ReportedModel> models(3);
  models[0].name = "llama3.2:latest";
  models[1].name = "Qwen3";
  models[2].name = "qwen3";
  EXPECT_EQ(find_served(models, "llama3.2"), models.data());
  EXPECT_EQ(find_served(models, "qwen3"), &models[2]);
  EXPECT_EQ(find_served(models, "QWEN3"), &models[1]);
  EXPECT_EQ(find_served(models, "models/qwen3:latest"), nullptr);
  EXPECT_EQ(find_served(models, "qwen3:latest"), &models[1]);
  EXPECT_EQ(find_served(models, "llama3"), nullptr);
  EXPECT_EQ(find_served(models, ""), nullptr);
}

TEST(ServerKinds, HaveNamesThatLeadBack) {
  EXPECT_EQ(all_server_kinds().size(), 9U);
  for (const ServerKind kind : all_server_kinds()) EXPECT_EQ(server_kind_of(name_of(kind)), kind);
  EXPECT_EQ(server_kind_of("KAITO"), ServerKind::vllm);
  EXPECT_EQ(server_kind_of("lm-studio"), ServerKind::lm_studio);
  EXPECT_EQ(server_kind_of("gopher"), std::nullopt);
}

// ---- GGUF ----

template <typename T>
std::string bytes_of(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}
std::string gguf_text(std::string_view text) {
  return bytes_of<std::uint64_t>(text.size()) + std::string(text);
}
std::string gguf(const std::vector<std::string>& pairs) {
  std::string file = "GGUF" + bytes_of<std::uint32_t>(3) + bytes_of<std::uint64_t>(0) +
                     bytes_of<std::uint64_t>(pairs.size());
  for (const std::string& pair : pairs) file += pair;
  return file;
}
std::string text_pair(std::string_view key, std::string_view value) {
  return gguf_text(key) + bytes_of<std::uint32_t>(8) + gguf_text(value);
}
std::string number_pair(std::string_view key, std::uint32_t value) {
  return gguf_text(key) + bytes_of<std::uint32_t>(4) + bytes_of(value);
}

TEST(GgufModel, SaysWhatTheModelWasMadeFor) {
  const auto model =
      read_gguf_model(gguf({text_pair("general.architecture", "llama"), text_pair("general.name", "Smol"),
                            number_pair("llama.context_length", 8192), number_pair("general.file_type", 3),
                            text_pair("general.size_label", "135M")}));
  ASSERT_TRUE(model) << model.error().what;
  EXPECT_EQ(model->maximum, 8192);
  EXPECT_EQ(model->served, 0);
  EXPECT_EQ(model->name, "Smol");
  EXPECT_EQ(model->parameters, "135M");
  EXPECT_EQ(model->quantization, "Q4_1");
  EXPECT_EQ(model->family, "llama");
}

TEST(GgufModel, SaysWhatIsMissing) {
  EXPECT_EQ(read_gguf_model(gguf({text_pair("general.architecture", "llama")}))->problem,
            "the GGUF file has no llama.context_length");
  EXPECT_EQ(read_gguf_model(
                gguf({text_pair("general.architecture", "llama"), number_pair("llama.context_length", 0)}))
                ->problem,
            "llama.context_length is 0, not a whole number from 1 to 100,000,000");
  EXPECT_EQ(read_gguf_model(gguf({})).error().what, "the GGUF file has no architecture");
  EXPECT_EQ(read_gguf_model("GG").error().what, "the GGUF file is cut off");
  EXPECT_EQ(read_gguf_model("<html></html>").error().what, "this is not a GGUF file");
}

}  // namespace
}  // namespace plimsoll
