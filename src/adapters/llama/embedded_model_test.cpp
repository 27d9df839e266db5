#include "adapters/llama/embedded_model.hpp"

#include <random>

#include <gtest/gtest.h>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <nlohmann/json.hpp>

#include "adapters/llama/testing.hpp"

namespace plimsoll::llama {
namespace {

using Json = nlohmann::ordered_json;

std::string chat(std::initializer_list<std::pair<const char*, const char*>> messages) {
  Json list = Json::array();
  for (const auto& [role, content] : messages) list.push_back({{"role", role}, {"content", content}});
  return Json{{"messages", std::move(list)}}.dump();
}

Generation generation(const std::string& body, Tokens most = 12) {
  Generation made;
  const auto tokens = encode_chat(smollm2_tokenizer(), body).value();
  made.prompt.assign(tokens.begin(), tokens.end());
  made.most = most;
  made.sampling.temperature = 0;
  return made;
}

struct Answer {
  std::string text, finish_reason, error;
  Spent spent;
};

Awaitable<void> collect(Job& job, Answer& answer) {
  while (answer.finish_reason.empty()) {
    const auto news = co_await job.news(Deadline::after(patience));
    if (!news) {
      answer.error = news.error().what;
      co_return;
    }
    answer.text += news->text;
    answer.finish_reason = news->finish_reason;
    answer.spent = news->spent;
  }
}

Answer wait_for(const std::shared_ptr<Job>& job) {
  Answer answer;
  boost::asio::io_context io;
  boost::asio::co_spawn(io, collect(*job, answer), [](const std::exception_ptr&) {});
  io.run();
  return answer;
}

Answer ask(EmbeddedModel& model, const std::string& body, Tokens most = 12) {
  return wait_for(model.submit(generation(body, most)));
}

const std::string capital = chat({{"user", "What is the capital of France? Answer in one word."}});

TEST(EmbeddedModel, AnswersTheSameEachTimeAndSaysWhatItTook) {
  EmbeddedModel model(small_options());
  const Answer first = ask(model, capital);
  EXPECT_EQ(first.error, "");
  EXPECT_NE(first.text.find("Paris"), std::string::npos) << first.text;
  EXPECT_EQ(first.spent.prompt, static_cast<Tokens>(encode_chat(smollm2_tokenizer(), capital)->size()));
  EXPECT_EQ(first.spent.cached, 0);
  EXPECT_GT(first.spent.answer, 0);
  const Answer again = ask(model, capital);
  EXPECT_EQ(again.text, first.text);
}

TEST(EmbeddedModel, ReadsOnlyWhatIsNewOfTheNextTurn) {
  EmbeddedModel model(small_options());
  const Answer first = ask(model, chat({{"system", "You answer briefly."}, {"user", "Name a colour."}}));
  ASSERT_EQ(first.error, "");
  const std::string next = chat({{"system", "You answer briefly."},
                                 {"user", "Name a colour."},
                                 {"assistant", first.text.c_str()},
                                 {"user", "And another."}});
  const Answer second = ask(model, next);
  ASSERT_EQ(second.error, "");
  EXPECT_GE(second.spent.cached, first.spent.prompt);
  EXPECT_LT(second.spent.cached, second.spent.prompt);
  // What was kept changes nothing of the answer.
  EmbeddedModel fresh(small_options());
  EXPECT_EQ(ask(fresh, next).text, second.text);
}

TEST(EmbeddedModel, KeepsWhatOneOwnerAskedFromAnother) {
  EmbeddedModel model(small_options(1'024, 1));
  const auto asked_by = [&](const char* owner) {
    Generation wanted = generation(capital, 3);
    wanted.owner = owner;
    return wait_for(model.submit(std::move(wanted))).spent.cached;
  };
  EXPECT_EQ(asked_by("ann"), 0);
  EXPECT_GT(asked_by("ann"), 0);
  EXPECT_EQ(asked_by("bob"), 0);
  EXPECT_EQ(asked_by("ann"), 0);  // there is one slot, and it is bob's now
}

TEST(EmbeddedModel, AnswersSeveralAtOnceAsItDoesOneByOne) {
  const std::string bodies[] = {capital, chat({{"user", "Count from one to five."}}),
                                chat({{"user", "What colour is the sky on a clear day?"}})};
  std::vector<std::string> alone;
  for (const std::string& body : bodies) {
    EmbeddedModel model(small_options());
    alone.push_back(ask(model, body, 24).text);
  }
  EmbeddedModel model(small_options(1'024, 2));  // the third waits for a slot
  std::vector<std::shared_ptr<Job>> jobs;
  for (const std::string& body : bodies) jobs.push_back(model.submit(generation(body, 24)));
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const Answer answer = wait_for(jobs[i]);
    EXPECT_EQ(answer.error, "");
    // Two in a batch are added up in another order: the first words are the same, a tie may fall otherwise.
    EXPECT_EQ(answer.text.substr(0, 5), alone[i].substr(0, 5));
  }
}

TEST(EmbeddedModel, EndsAtItsLengthAndAtAStopWord) {
  EmbeddedModel model(small_options());
  const Answer cut = ask(model, chat({{"user", "Tell me a long story about a ship."}}), 5);
  EXPECT_EQ(cut.finish_reason, "length");
  EXPECT_EQ(cut.spent.answer, 5);
  Generation wanted = generation(chat({{"user", "Count from one to five: 1, 2,"}}), 40);
  wanted.stop = {"4"};
  const Answer stopped = wait_for(model.submit(std::move(wanted)));
  EXPECT_EQ(stopped.finish_reason, "stop");
  EXPECT_EQ(stopped.text.find('4'), std::string::npos) << stopped.text;
}

TEST(EmbeddedModel, FollowsTheGrammarOfASchema) {
  EmbeddedModel model(small_options());
  Generation wanted = generation(chat({{"user", "Describe the ship Titanic as JSON."}}), 80);
  const Json body =
      Json::parse(R"({"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"object",
      "properties":{"name":{"type":"string","maxLength":20},"sank":{"type":"boolean"}},"required":["name","sank"],
      "additionalProperties":false}}}})");
  wanted.sampling.grammar = read_generation(body, true)->generation.sampling.grammar;
  const Answer answer = wait_for(model.submit(std::move(wanted)));
  ASSERT_EQ(answer.error, "");
  const Json made = Json::parse(answer.text, nullptr, false);
  ASSERT_TRUE(made.is_object()) << answer.text;
  EXPECT_TRUE(made["name"].is_string());
  EXPECT_TRUE(made["sank"].is_boolean());
}

TEST(EmbeddedModel, RefusesAPromptThatFillsItsWindowAndNeverGoesBeyondIt) {
  EmbeddedModel model(small_options(512, 1));
  std::string words;
  for (int i = 0; i < 600; ++i) words += "ship ";
  const Answer refused = ask(model, chat({{"user", words.c_str()}}));
  EXPECT_NE(refused.error.find("maximum context length is 512 tokens"), std::string::npos) << refused.error;
  words.resize(5 * 440);
  const Answer full = ask(model, chat({{"user", words.c_str()}}), 500);
  EXPECT_EQ(full.error, "");
  EXPECT_LE(full.spent.prompt + full.spent.answer, 512);
}

TEST(EmbeddedModel, StopsWhatNobodyWaitsForAndGoesOnWithOthers) {
  EmbeddedModel model(small_options(1'024, 1));
  const auto given_up = model.submit(generation(chat({{"user", "Tell me a long story."}}), 900));
  given_up->give_up();
  const Answer answer = ask(model, capital);
  EXPECT_NE(answer.text.find("Paris"), std::string::npos) << answer.text;
}

// As when a server ends with requests under way: their coroutines go with its loop, the model stays a while.
TEST(EmbeddedModel, OutlivesTheLoopThatSomebodyWaitedOn) {
  EmbeddedModel model(small_options(512, 1));
  const auto job = model.submit(generation(chat({{"user", "Tell me a long story."}}), 200));
  Answer answer;
  {
    boost::asio::io_context io;
    boost::asio::co_spawn(io, collect(*job, answer), [](const std::exception_ptr&) {});
    io.run_for(std::chrono::milliseconds(1));
    job->give_up();
  }
  EXPECT_EQ(answer.finish_reason, "");
  EXPECT_EQ(ask(model, capital, 3).error, "");
}

TEST(EmbeddedModel, IsLetGoWhenNobodyAsksAndLoadedAgain) {
  Options options = small_options(512, 1);
  options.idle = std::chrono::milliseconds(50);
  EmbeddedModel model(std::move(options));
  EXPECT_FALSE(model.is_loaded());
  EXPECT_EQ(ask(model, capital, 3).error, "");
  for (int i = 0; i < 1'000 && model.is_loaded(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(model.is_loaded());
  EXPECT_EQ(ask(model, capital, 3).error, "");
}

TEST(EmbeddedModel, SaysWhyAFileCannotBeUsed) {
  Options options = small_options();
  options.runtime.file = "/nowhere/model.gguf";
  EmbeddedModel model(std::move(options));
  const Answer answer = ask(model, capital);
  EXPECT_NE(answer.error.find("/nowhere/model.gguf"), std::string::npos) << answer.error;
}

// ---- What is planned is what is read ----

std::string random_words(std::mt19937& random) {
  static const char* const words[] = {"ship",      "Ladelinie", "\xE6\xB5\xB7", "<|im_end|>",
                                      "\n\n",      "42",        "caf\xC3\xA9",  "\xF0\x9F\x9A\xA2",
                                      "{\"a\":1}", "  ",        "don't",        "\t"};
  std::string text;
  for (std::size_t left = random() % 30; left > 0; --left)
    text += std::string(words[random() % std::size(words)]) + (random() % 3 == 0 ? "" : " ");
  return text;
}

std::string random_conversation(std::mt19937& random) {
  Json messages = Json::array();
  if (random() % 2 == 0) messages.push_back({{"role", "system"}, {"content", random_words(random)}});
  for (std::size_t left = random() % 8 + 1; left > 0; --left) {
    messages.push_back({{"role", "user"}, {"content", random_words(random)}});
    if (left > 1 || random() % 8 == 0)
      messages.push_back({{"role", "assistant"}, {"content", random_words(random)}});
  }
  return Json{{"messages", std::move(messages)}}.dump();
}

TEST(EmbeddedPrompt, IsWhatThePlanCountsAndWhatLlamaCppMakesOfIt) {
  auto runtime =
      Runtime::load({.file = smollm2(), .window = 512, .slots = 1, .threads = 1}, [] { return false; });
  ASSERT_TRUE(runtime) << runtime.error().what;
  std::mt19937 random{8};
  for (int round = 0; round < 500; ++round) {
    const std::string body = random_conversation(random);
    ChatOptions keeping;
    keeping.keep_rendered = true;
    const auto counted = count_chat(smollm2_tokenizer(), body, keeping);
    const auto tokens = encode_chat(smollm2_tokenizer(), body);
    ASSERT_TRUE(counted && tokens) << body;
    ASSERT_EQ(counted->total, static_cast<Tokens>(tokens->size())) << body;
    ASSERT_EQ(counted->exactness, Exactness::exact);
    const std::vector<Token> theirs =
        (*runtime)->tokens_of(counted->rendered, /*add_bos=*/smollm2_tokenizer().info().adds_bos);
    ASSERT_EQ(std::vector<Token>(tokens->begin(), tokens->end()), theirs) << body;
  }
}

}  // namespace
}  // namespace plimsoll::llama
