#include "models/window_file.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/sha256.hpp"

namespace plimsoll::models {
namespace {

KeptWindow kept(std::string model, std::int64_t found_at) {
  KeptWindow window;
  window.upstream = "any http://h:1";
  window.model = std::move(model);
  window.found_at = found_at;
  window.report.kind = ServerKind::llama_cpp;
  window.report.window = {8192, WindowSource::served, Confidence::medium, {{"way", "result \xff \n"}}};
  window.report.served.served = 8192;
  window.report.served.served_by = "n_ctx";
  window.report.served.maximum = 131072;
  window.report.served.parameters = "3.2B";
  return window;
}

TEST(WindowFile, GivesBackWhatWasWritten) {
  const auto read = read_windows(write_windows({kept("old", 100), kept("new \"x\"", 200)}));
  ASSERT_TRUE(read) << read.error().what;
  ASSERT_EQ(read->size(), 2U);
  const KeptWindow& first = read->front();
  EXPECT_EQ(first.model, "new \"x\"");
  EXPECT_EQ(first.found_at, 200);
  EXPECT_EQ(first.report.kind, ServerKind::llama_cpp);
  EXPECT_EQ(first.report.window.tokens, 8192);
  EXPECT_EQ(first.report.window.source, WindowSource::served);
  EXPECT_EQ(first.report.window.confidence, Confidence::medium);
  ASSERT_EQ(first.report.window.tried.size(), 1U);
  EXPECT_EQ(first.report.window.tried[0].result, "result \xEF\xBF\xBD \n");
  EXPECT_EQ(first.report.served.maximum, 131072);
  EXPECT_EQ(first.report.served.parameters, "3.2B");
  EXPECT_EQ(read->back().model, "old");
}

TEST(WindowFile, KeepsTheNewestOnly) {
  std::vector<KeptWindow> many;
  for (int i = 0; i < 2100; ++i) many.push_back(kept(std::to_string(i), i));
  const auto read = read_windows(write_windows(std::move(many)));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->size(), 2000U);
  EXPECT_EQ(read->front().model, "2099");
  EXPECT_EQ(read->back().model, "100");
}

// The same file with the checksum of its contents.
std::string with_checksum(const std::string& text) {
  auto json = nlohmann::json::parse(text);
  json["sha256"] = base::sha256_hex(json["windows"].dump());
  return json.dump();
}

TEST(WindowFile, BelievesNothingThatIsDamaged) {
  const std::string good = write_windows({kept("m", 1)});
  ASSERT_TRUE(read_windows(good));
  ASSERT_TRUE(read_windows(with_checksum(good)));
  int tried = 0;
  const auto damaged = [&](const std::string& text) {
    ++tried;
    const auto read = read_windows(text);
    EXPECT_FALSE(read) << text;
    EXPECT_TRUE(read || read.error().code == Errc::damaged) << read.error().what;
  };
  for (const char* text : {"", "{}", "[]", "null", "{\"version\": 2}"}) damaged(text);
  for (const char* text : {R"({"version": 2, "windows": {}})", R"({"version": 2, "windows": [7]})",
                           R"({"version": 2, "windows": [{}]})"}) {
    damaged(text);
    damaged(with_checksum(text));
  }
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    damaged(text.replace(at, from.size(), to));
    damaged(with_checksum(text));
  };
  with("\"tokens\": 8192", "\"tokens\": 0");
  with("\"tokens\": 8192", "\"tokens\": -1");
  with("\"tokens\": 8192", "\"tokens\": 18446744073709551615");
  with("\"tokens\": 8192", "\"tokens\": \"8192\"");
  with("\"source\": \"served\"", "\"source\": \"default\"");
  with("\"confidence\": \"medium\"", "\"confidence\": \"total\"");
  with("\"kind\": \"llama.cpp\"", "\"kind\": \"gopher\"");
  with("\"model\": \"m\"", "\"modle\": \"m\"");
  with("\"way\": \"way\"", "\"way\": 7");
  for (std::size_t cut = 0; cut + 3 < good.size(); ++cut) damaged(good.substr(0, cut));
  EXPECT_GT(tried, 300);
}

TEST(WindowFile, OneChangedDigitIsDamage) {
  const std::string good = write_windows({kept("m", 1)});
  std::string text = good;
  text[text.find("8192")] = '9';
  const auto read = read_windows(text);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Errc::damaged);
  text = good;
  const auto older = read_windows(text.replace(text.find("\"version\": 2"), 12, "\"version\": 1"));
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, Errc::unsupported);
}

}  // namespace
}  // namespace plimsoll::models
