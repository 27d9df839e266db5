#include "models/upstream.hpp"

#include <gtest/gtest.h>

namespace plimsoll::models {
namespace {

TEST(Upstream, IsFoundFromTheAddressThatAClientTakes) {
  const std::pair<const char*, const char*> addresses[] = {
      {"http://localhost:11434", "http://localhost:11434"},
      {"http://localhost:11434/", "http://localhost:11434"},
      {"http://host:5000/v1/chat/completions", "http://host:5000"},
      {"http://host:5000/v1/completions?x=1#y", "http://host:5000"},
      {"https://host/v1/", "https://host"},
      {"https://openrouter.ai/api/v1", "https://openrouter.ai/api"},
      {"https://generativelanguage.googleapis.com/v1beta/openai/",
       "https://generativelanguage.googleapis.com"},
      {"http://[::1]:8080/v1", "http://[::1]:8080"},
      {"https://host/openai/v1/chat/completions", "https://host/openai"},
      {"https://host/models", "https://host/models"},
      {"https://host/v1/models/", "https://host"},
      {"https://host/v1/v1", "https://host/v1"},
      {"HTTPS://Host:8443/team/llm/v1", "https://Host:8443/team/llm"}};
  for (const auto& [url, root] : addresses) {
    const auto upstream = make_upstream(url, std::nullopt);
    ASSERT_TRUE(upstream) << url;
    EXPECT_EQ(upstream->root, root);
  }
  EXPECT_EQ(make_upstream("http://h:11434/api", ServerKind::ollama)->root, "http://h:11434");
}

TEST(Upstream, ShowsNoPassword) {
  const auto upstream = make_upstream("http://ann:geheim@host:1/v1", ServerKind::vllm);
  ASSERT_TRUE(upstream);
  EXPECT_EQ(upstream->root, "http://ann:geheim@host:1");
  EXPECT_EQ(upstream->shown, "http://host:1");
  EXPECT_EQ(upstream->cache_key, "vllm http://host:1");
  const auto bad = make_upstream("ftp://ann:geheim@host", std::nullopt);
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().what.find("geheim"), std::string::npos);
}

TEST(Upstream, RefusesWhatIsNoAddress) {
  for (const char* url : {"", "host", "host:80", "http://", "http:///v1", "file:///etc/passwd",
                          "http://h:8x/", "http://h:123456", "http://a b/", "http://h/\r\nX: y",
                          "http://h\\@evil/", "gopher://h", "http://[::1"}) {
    const auto upstream = make_upstream(url, std::nullopt);
    ASSERT_FALSE(upstream) << url;
    EXPECT_EQ(upstream.error().code, Errc::bad_input);
  }
}

TEST(Upstream, SomeAddressesSpeakForThemselves) {
  EXPECT_EQ(hint_of("https://api.anthropic.com/v1").certain, ServerKind::anthropic);
  EXPECT_EQ(make_upstream("https://openrouter.ai/api/v1", std::nullopt)->kind, ServerKind::openrouter);
  EXPECT_EQ(make_upstream("https://openrouter.ai/api/v1", ServerKind::openai)->kind, ServerKind::openai);
  EXPECT_EQ(hint_of("http://gpu-box:11434").likely, ServerKind::ollama);
  EXPECT_EQ(hint_of("http://gpu-box:1234").likely, ServerKind::lm_studio);
  EXPECT_EQ(hint_of("http://api.anthropic.com.evil.example").certain, std::nullopt);
  EXPECT_EQ(make_upstream("http://gpu-box:11434", std::nullopt)->kind, std::nullopt);
}

TEST(Upstream, OriginsAreComparedAsBrowsersDo) {
  EXPECT_EQ(origin_of("https://Host/v1"), origin_of("https://host:443/other?x"));
  EXPECT_EQ(origin_of("http://h"), origin_of("http://ann:x@h:80/"));
  EXPECT_NE(origin_of("http://h"), origin_of("https://h"));
  EXPECT_NE(origin_of("http://h:1"), origin_of("http://h:2"));
  EXPECT_NE(origin_of("http://h"), origin_of("http://h@evil"));
  EXPECT_EQ(origin_of("nonsense"), "");
}

}  // namespace
}  // namespace plimsoll::models
