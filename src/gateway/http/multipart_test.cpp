#include "gateway/http/multipart.hpp"

#include <gtest/gtest.h>

namespace plimsoll::gateway {
namespace {

constexpr std::string_view type = "multipart/form-data; boundary=XX";

std::string part(const std::string& header, const std::string& body) {
  return "--XX\r\n" + header + "\r\n\r\n" + body + "\r\n";
}
std::string field(const std::string& name, const std::string& body) {
  return part("Content-Disposition: form-data; name=\"" + name + "\"", body);
}
const std::string last_line = "--XX--\r\n";

TEST(Multipart, TakesFieldsAndFilesApart) {
  const std::string form =
      "ignored\r\n" + field("index", "docs") +
      part("content-disposition: FORM-DATA; filename=\"a.md\"; name=file\r\nContent-Type: text/markdown",
           "# A\r\n\r\n--X not a boundary\r\n--XXY neither\r\n") +
      last_line + "ignored too";
  const auto parts = read_multipart("Multipart/Form-Data; charset=utf-8; Boundary=\"XX\"", form);
  ASSERT_TRUE(parts) << parts.error().what;
  ASSERT_EQ(parts->size(), 2U);
  EXPECT_EQ((*parts)[0].name, "index");
  EXPECT_FALSE((*parts)[0].filename);
  EXPECT_EQ((*parts)[0].body, "docs");
  EXPECT_EQ((*parts)[1].filename, "a.md");
  EXPECT_EQ((*parts)[1].content_type, "text/markdown");
  EXPECT_EQ((*parts)[1].body, "# A\r\n\r\n--X not a boundary\r\n--XXY neither\r\n");
}

TEST(Multipart, TakesEmptyBodiesAndBlanksBehindABoundary) {
  const auto parts =
      read_multipart(type, "--XX \t\r\nContent-Disposition: form-data; name=a\r\n\r\n\r\n" + last_line);
  ASSERT_TRUE(parts) << parts.error().what;
  EXPECT_EQ(parts->front().body, "");
  const auto none = read_multipart(type, "--XX--");
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->empty());
}

TEST(Multipart, EveryPrefixOfAFormIsRefused) {
  const std::string form = field("a", "one\r\ntwo") + field("b", "") + "--XX--";
  ASSERT_TRUE(read_multipart(type, form));
  for (std::size_t size = 0; size < form.size(); ++size)
    EXPECT_FALSE(read_multipart(type, std::string_view(form).substr(0, size))) << size;
}

TEST(Multipart, ReadsNamesOfFilesAsTheyAreSent) {
  const std::pair<const char*, const char*> cases[] = {
      {R"(filename="a \"quoted\" name.txt")", "a \"quoted\" name.txt"},
      {R"(filename="C:\docs\a.txt")", R"(C:\docs\a.txt)"},
      {R"(filename="back\\slash")", R"(back\slash)"},
      {R"(filename="semi;colon=1.txt")", "semi;colon=1.txt"},
      {R"(filename="not closed)", "not closed"},
      {R"(filename=bare.txt)", "bare.txt"},
      {R"(filename="old.txt"; filename*=UTF-8''na%C3%AFve%20%22x%22.txt)", "na\u00efve \"x\".txt"},
      {R"(filename*=utf-8'en'a%2Fb; filename="old.txt")", "a/b"},
      {R"(filename="na\u00efve")", R"(na\u00efve)"},
      {R"(filename="")", ""},
  };
  for (const auto& [given, wanted] : cases) {
    const auto parts = read_multipart(
        type, part("Content-Disposition: form-data; name=\"f\"; " + std::string(given), "x") + last_line);
    ASSERT_TRUE(parts) << given << ": " << parts.error().what;
    EXPECT_EQ(parts->front().filename, wanted);
  }
  EXPECT_FALSE(read_multipart(
      type, part("Content-Disposition: form-data; name=f; filename*=latin1''x", "x") + last_line));
  EXPECT_FALSE(
      read_multipart(type, part("Content-Disposition: form-data; name=f; filename*=x", "x") + last_line));
}

TEST(Multipart, SaysWhatIsWrong) {
  const std::tuple<std::string, std::string, const char*> cases[] = {
      {"application/json", "{}", "Content-Type is not"},
      {"multipart/form-data", "--XX--", "Content-Type is not"},
      {"multipart/form-data; boundary=", "--XX--", "Content-Type is not"},
      {"multipart/form-data; boundary=" + std::string(71, 'x'), "", "71 characters"},
      {std::string(type), "", "has no boundary"},
      {std::string(type), "x--XX--", "has no boundary"},
      {std::string(type), field("a", "b"), "no end"},
      {std::string(type), part("Content-Disposition: form-data", "x") + last_line, "name="},
      {std::string(type), part("Content-Disposition: attachment; name=x", "x") + last_line, "form-data"},
      {std::string(type), part("no colon", "x") + last_line, "without a colon"},
      {std::string(type), "--XX\r\n\r\nbody\r\n" + last_line, "form-data"},
      {std::string(type), "--XX\r\nbody\r\n" + last_line, "no header end"},
      {std::string(type), part("X: " + std::string(10'000, 'x'), "x") + last_line, "within 8192 bytes"},
  };
  for (const auto& [content_type, body, words] : cases) {
    const auto parts = read_multipart(content_type, body);
    ASSERT_FALSE(parts) << words;
    EXPECT_EQ(parts.error().code, Errc::bad_input);
    EXPECT_NE(parts.error().what.find(words), std::string::npos) << parts.error().what;
  }
}

TEST(Multipart, HasABoundedNumberOfParts) {
  std::string form;
  for (int i = 0; i < 5; ++i) form += field("a", "b");
  EXPECT_TRUE(read_multipart(type, form + last_line, {.parts = 5}));
  EXPECT_FALSE(read_multipart(type, form + last_line, {.parts = 4}));
}

}  // namespace
}  // namespace plimsoll::gateway
