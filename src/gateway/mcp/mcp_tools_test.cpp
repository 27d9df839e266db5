// The tools and what they may read, without any tokenizer: tests/mcp counts with real ones.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/temporary_folder.hpp"
#include "gateway/mcp/mcp_schema.hpp"
#include "gateway/mcp/mcp_tools.hpp"

namespace plimsoll::gateway {
namespace {

namespace fs = std::filesystem;

class McpTools : public testing::Test {
 public:
  McpTools() {
    fs::create_directories(folder_ / "root" / "sub");
    fs::create_directories(folder_ / "root-beside");
    write("root/a.txt", std::string(4'000, 'a'));
    write("root/sub/b.txt", std::string(400, 'b'));
    write("root-beside/c.txt", "secret");
    write("outside.txt", "secret");
  }

 protected:
  void write(const char* name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
  RootedFiles files() const { return *RootedFiles::below(folder_ / "root"); }

  Json call(const char* tool, const Json& arguments, std::optional<Tokens> configured = {}) const {
    static const ModelCatalogue catalogue = *ModelCatalogue::built_in();
    static const TokenizerLibrary tokenizers("/nonexistent", "/nonexistent");
    const McpServer server = make_mcp_server({&catalogue, &tokenizers, files(), configured}, "0");
    McpSession session;
    const Json request{{"jsonrpc", "2.0"},
                       {"id", 1},
                       {"method", "tools/call"},
                       {"params", {{"name", tool}, {"arguments", arguments}}}};
    Json result = Json::parse(answer_mcp(server, session, request.dump())->text)["result"];
    if (!result["isError"].get<bool>()) {
      for (const McpTool& one : server.tools) {
        if (one.name != tool) continue;
        const auto fits = check_schema(result["structuredContent"], one.output_schema);
        EXPECT_TRUE(fits) << fits.error().what;
      }
    }
    return result;
  }
  Json good(const char* tool, const Json& arguments, std::optional<Tokens> configured = {}) const {
    const Json result = call(tool, arguments, configured);
    EXPECT_FALSE(result["isError"].get<bool>()) << result.dump();
    return result["structuredContent"];
  }
  std::string bad(const char* tool, const Json& arguments) const {
    const Json result = call(tool, arguments);
    EXPECT_TRUE(result["isError"].get<bool>()) << result.dump();
    return result["content"][0]["text"];
  }

  base::TemporaryFolder made_{"mcp"};
  fs::path folder_ = made_.path();
};

TEST_F(McpTools, ReadFilesBelowTheRootOnly) {
  fs::create_symlink(folder_ / "outside.txt", folder_ / "root" / "link.txt");
  fs::create_symlink(folder_, folder_ / "root" / "up");
  fs::create_symlink(folder_ / "root" / "sub", folder_ / "root" / "inside");
  fs::create_symlink(folder_ / "root" / "loop", folder_ / "root" / "loop");
  EXPECT_EQ(files().measure("a.txt")->bytes, 4'000);
  EXPECT_EQ(files().measure("sub/../a.txt")->bytes, 4'000);
  EXPECT_EQ(files().measure((folder_ / "root" / "sub" / "b.txt").string())->bytes, 400);
  EXPECT_EQ(files().measure("inside/b.txt")->bytes, 400) << "a link that stays inside";
  for (const std::string& path :
       {std::string("../outside.txt"), std::string("sub/../../outside.txt"),
        (folder_ / "outside.txt").string(), std::string("link.txt"), std::string("up/outside.txt"),
        std::string("up/no-such-file"), std::string("/etc/passwd"), std::string("../root-beside/c.txt"),
        std::string("../no-such-file"), std::string(".."), std::string("."), std::string("/")}) {
    const auto refused = files().measure(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_NE(refused.error().what.find("refused: '" + path + "' is outside"), std::string::npos)
        << refused.error().what;
  }
}

TEST_F(McpTools, ReadRegularFilesOnly) {
  ASSERT_EQ(::mkfifo((folder_ / "root" / "pipe").c_str(), 0600), 0);
  EXPECT_NE(files().measure("pipe").error().what.find("not a regular file"), std::string::npos)
      << "and nobody waits";
  EXPECT_NE(files().measure("sub").error().what.find("not a regular file"), std::string::npos);
  EXPECT_EQ(files().measure("gone.txt").error().code, Errc::not_found);
  EXPECT_FALSE(files().measure(""));
  EXPECT_FALSE(files().measure(std::string_view("a.txt\0x", 7)));
  EXPECT_FALSE(files().measure("loop/x"));
  EXPECT_FALSE(RootedFiles::below(folder_ / "none"));
  EXPECT_FALSE(RootedFiles::below(folder_ / "outside.txt"));
}

TEST_F(McpTools, AdviseOnAStrategy) {
  const Json advice =
      good("context_strategy", {{"query", "What is it?"}, {"char_count", 32'000}, {"used_tokens", 1'000}});
  EXPECT_EQ(advice["strategy"], "HYBRID");
  EXPECT_EQ(advice["confidence"], 0.85);
  EXPECT_EQ(advice["content_tokens"], 8'000);
  EXPECT_EQ(advice["available_budget"], 95'000);
  EXPECT_EQ(advice["model_context_length"], 128'000);
  EXPECT_EQ(advice["window_source"], "default");
  EXPECT_EQ(good("context_strategy", {{"query", "x"}, {"content_size_hint", "massive"}})["strategy"],
            "RAG+GRAPH");
  EXPECT_EQ(good("context_strategy", {{"query", "x"}, {"model", "gpt-4"}})["model_context_length"], 8'192);
  EXPECT_EQ(good("context_strategy",
                 {{"query", "x"}, {"model", "gpt-4"}, {"model_context_length", 500}})["model_context_length"],
            500);
  EXPECT_EQ(good("context_strategy", {{"query", "x"}}, 7'000)["window_source"], "configured");
  EXPECT_EQ(good("context_strategy", {{"query", "I want to die"}, {"content_size_hint", "tiny"}})["crisis"],
            true);
  EXPECT_EQ(bad("context_strategy", Json::object()), "arguments.query is missing");
  EXPECT_NE(
      bad("context_strategy", {{"query", "x"}, {"content_size_hint", "vast"}}).find("\"tiny\", \"small\""),
      std::string::npos);
  EXPECT_NE(bad("context_strategy", {{"query", "x"}, {"used_tokens", -1}}).find("at least 0"),
            std::string::npos);
}

TEST_F(McpTools, EstimateFilesWhereNoTokenizerIsThere) {
  const Json advice =
      good("context_strategy", {{"query", "x"}, {"file_paths", {"a.txt", "gone.txt", "../outside.txt"}}});
  EXPECT_EQ(advice["content_tokens"], 1'000);
  EXPECT_EQ(advice["exactness"], "estimated");
  EXPECT_NE(advice["not_counted"].get<std::string>().find("o200k_base"), std::string::npos);
  ASSERT_EQ(advice["files"].size(), 1U);
  EXPECT_EQ(advice["files"][0]["counted"], false);
  ASSERT_EQ(advice["skipped"].size(), 2U);
  EXPECT_NE(advice["skipped"][1]["why"].get<std::string>().find("refused"), std::string::npos);
}

TEST_F(McpTools, KnowModelsWindows) {
  const Json known = good("model_window", {{"model", "openai/GPT-4o"}});
  EXPECT_EQ(known["model"], "gpt-4o");
  EXPECT_EQ(known["window"], 128'000);
  EXPECT_EQ(known["source"], "catalogue");
  EXPECT_EQ(known["confidence"], "medium");
  EXPECT_EQ(known["tokenizer"], "o200k_base");
  EXPECT_FALSE(known["tried"].empty());
  const Json unknown = good("model_window", {{"model", "my-own-model"}});
  EXPECT_EQ(unknown["window"], 4'096);
  EXPECT_EQ(unknown["source"], "default");
  EXPECT_EQ(unknown["confidence"], "low");
  EXPECT_EQ(unknown["tried"][0]["result"], "no entry for 'my-own-model'");
  EXPECT_TRUE(unknown.contains("warning"));
  const Json configured = good("model_window", {{"model", "gpt-4o"}}, 9'000);
  EXPECT_EQ(configured["window"], 9'000);
  EXPECT_EQ(configured["source"], "configured");
  EXPECT_EQ(configured["confidence"], "high");
  EXPECT_EQ(bad("model_window", {{"model", ""}}), "the model's name is empty");
}

TEST_F(McpTools, SayWhatCannotBeCounted) {
  EXPECT_EQ(bad("count_tokens", Json::object()), "give either text or messages");
  EXPECT_EQ(bad("count_tokens", {{"text", "x"}, {"messages", Json::array()}}),
            "give either text or messages");
  EXPECT_EQ(bad("count_tokens", {{"text", "x"}, {"model", "gpt-4"}, {"tokenizer", "qwen3"}}),
            "give either model or tokenizer");
  EXPECT_NE(
      bad("count_tokens", {{"text", "x"}, {"model", "my-own-model"}}).find("no entry for 'my-own-model'"),
      std::string::npos);
  EXPECT_NE(bad("count_tokens", {{"text", "x"}, {"tools", Json::array()}}).find("tools belong to messages"),
            std::string::npos);
}

}  // namespace
}  // namespace plimsoll::gateway
