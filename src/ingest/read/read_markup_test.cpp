#include <chrono>

#include <gtest/gtest.h>

#include "base/testing_time.hpp"
#include "ingest/read/read.hpp"
#include "ingest/read/testing_read.hpp"

namespace plimsoll::ingest {
namespace {

TEST(Markdown, HeadingsMakeSectionsAndBlocksKeepTheirMarks) {
  const ReadDocument page = read(
      "Intro.\n\n# One `code` *two*\r\n\r\nText\nwrapped.\n\nSub\n---\n\n> quoted\n> more\n\n- item\n  goes "
      "on\n  1. "
      "inner\n\n```c\nint x;\n\n# no heading\n```\n\n# Last #\n",
      "a.md");
  EXPECT_EQ(outline(page),
            "p Intro.\nh <One code two> # One `code` *two*\np <One code two> Text/wrapped.\n"
            "h <One code two > Sub> Sub/---\np <One code two > Sub> > quoted/> more\n"
            "l <One code two > Sub> - item/  goes on\nl <One code two > Sub> 1. inner\n"
            "c <One code two > Sub> ```c/int x;//# no heading/```\nh <Last> # Last #\n");
  EXPECT_EQ(page.title, "One code two");
}

TEST(Markdown, ATableRowKnowsItsHeader) {
  EXPECT_EQ(outline(read("| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n\nafter\n", "a.md")),
            "r [| a | b |] | a | b |/|---|:-:|\nr [| a | b |] | 1 | 2 |\nr [| a | b |] | 3 | 4 |\np after\n");
  // In a list in a quote, with an escaped bar.
  EXPECT_EQ(outline(read("> - | a | b |\n>   |---|---|\n>   | x \\| y | 2 |\n", "a.md")),
            "r [- | a | b |] > - | a | b |/>   |---|---|\nr [- | a | b |] >   | x \\| y | 2 |\n");
}

TEST(Markdown, AHeadingEndsBeforeWhatFollowsIt) {
  EXPECT_EQ(
      outline(
          read("One long title\n---\n# Two\nText of it.\n\n> Three\n> ===\n> words in a quote\n", "a.md")),
      "h <One long title> One long title/---\nh <Two> # Two\np <Two> Text of it.\nh <Two> > Three/> ===\n"
      "p <Two> > words in a quote\n");
}

TEST(Markdown, FrontMatterIsNoHeading) {
  const ReadDocument page = read("---\ntitle: \"The line\"\ntags: x\n---\n\nText.\n", "a.md");
  EXPECT_EQ(outline(page), "c ---/title: \"The line\"/tags: x/---\np Text.\n");
  EXPECT_EQ(page.title, "The line");
}

TEST(Markdown, ALongFileIsReadInPartsAndLosesNothing) {
  std::string text;
  for (int i = 0; i < 20'000; ++i)
    text += fmt::format("## Part {}\n\nWords of part {} that go on for a while.\n\n", i, i);
  ASSERT_GT(text.size(), 1'000'000U);
  const ReadDocument page = read(text, "a.md");
  EXPECT_EQ(page.sections.size(), 20'001U);
  EXPECT_EQ(page.blocks.size(), 40'000U);
  EXPECT_TRUE(page.warnings.empty());
}

// Each of these once took some Markdown parser forever, or its stack.
TEST(Markdown, HostileInputEndsSoon) {
  constexpr std::size_t many = 60'000;
  for (const std::string& text :
       {repeated(">", many), repeated("> ", many) + "x\n" + repeated("y\n", 1000), repeated("- ", many),
        repeated("[", many), repeated("![](", many), repeated("*a _b ", many),
        repeated("`", many) + "x" + repeated("`x", many), repeated("|", many) + "\n" + repeated("|-", many),
        repeated("| a\n", many), repeated("<!--", many), repeated("&", many), repeated("[a]: b\n", many),
        repeated("* ", 3000) + repeated("\n  x", 3000), repeated("a\n\n", 300'000), repeated("#\n", many),
        repeated("\r", many), repeated("  \n", many), repeated("~~~\n", many)}) {
    const double began = base::cpu_seconds();
    const ReadDocument page = read(text, "a.md");
    EXPECT_LT(base::cpu_seconds() - began, base::soon_seconds) << text.substr(0, 12);
    EXPECT_EQ(page.text, text);
  }
}

TEST(Html, KeepsWhatAReaderWouldRead) {
  const ReadDocument page = read(
      "<!DOCTYPE html><html><head><title>T &amp; U</title><style>x{}</style></head><body>\n<nav><a "
      "href=1>Home</a></nav>"
      "<header>Banner</header><h1>Ships &amp; lines</h1><p>She may be\n  loaded &mdash; <b>no</b> deeper. "
      "Caf&eacute; "
      "&copy2026 &lt;x&gt;</p><ul><li>one<li>two <a>x</a><ul><li>nested</ul></ul><pre>int main() {\n  return "
      "0;\n}</pre>"
      "<div hidden>no</div><p style='display: none'>no</p><script>no()</script><form>Search <input></form>"
      "<footer>foot</footer>line<br>break</body></html>",
      "a.html");
  EXPECT_EQ(page.title, "T & U");
  EXPECT_EQ(outline(page),
            "h <Ships & lines> Ships & lines\n"
            "p <Ships & lines> She may be loaded \xE2\x80\x94"
            " no deeper. Caf\xC3\xA9 \xC2\xA9"
            "2026 <x>\n"
            "l <Ships & lines> - one\nl <Ships & lines> - two x\nl <Ships & lines> - nested\n"
            "c <Ships & lines> int main() {/  return 0;/}\np <Ships & lines> line/break\n");
}

TEST(Html, EachStretchKnowsItsPlaceInTheSource) {
  const std::string_view source = "<p>Fish &amp; chips, <b>salt</b>&nbsp;and vinegar.</p>";
  const ReadDocument page = read(source, "a.html");
  EXPECT_EQ(page.text,
            "Fish & chips, salt\xC2\xA0"
            "and vinegar.");
  Document document;
  document.origins = page.origins;
  const auto source_of = [&](std::string_view words) {
    const std::size_t at = page.text.find(words);
    const Span span = source_span(document, {at, at + words.size()});
    return source.substr(span.start, span.size());
  };
  EXPECT_EQ(source_of("chips"), "chips");
  EXPECT_EQ(source_of("Fish & chips"), "Fish &amp; chips");
  EXPECT_EQ(source_of("salt\xC2\xA0"), "salt");
  EXPECT_EQ(source_of("vinegar."), "vinegar.");
}

TEST(Html, TablesKeepTheirRowsAndLayoutDoesNot) {
  EXPECT_EQ(outline(read("<html><table><thead><tr><th>Name<th>Age</thead><tr><td>Ann<td>5<tr><td><p>Bo</"
                         "p><p>b</p><td></table>",
                         "a.html")),
            "r [Name | Age] Name | Age\nr [Name | Age] Ann | 5\nr [Name | Age] Bo b |\n");
  EXPECT_EQ(
      outline(read(
          "<html><table><tr><td><h2>Head</h2><p>text</p></td><td><table><tr><td>a<td>b<tr><td>c<td>d</table>"
          "</td></tr></table>",
          "a.html")),
      "h <Head> Head\np <Head> text\nr <Head> a | b\nr <Head> c | d\n");
}

TEST(Html, DropsMenusUnlessTheyAreAllThereIs) {
  std::string menu = "<div>";
  for (int i = 0; i < 8; ++i) menu += fmt::format("<a href=x>Menu {}</a> ", i);
  menu += "</div>";
  const std::string text(300, 'x');
  EXPECT_EQ(outline(read("<html>" + menu + "<p>" + text, "a.html")), "p " + text + "\n");
  EXPECT_EQ(outline(read("<html>" + menu, "a.html")),
            "p Menu 0 Menu 1 Menu 2 Menu 3 Menu 4 Menu 5 Menu 6 Menu 7\n");
}

TEST(Html, UnclosedAndMisplacedTagsAreRead) {
  EXPECT_EQ(outline(read("<!doctype html><p>the first words<p>and then </i>others<table>foster<tr><td>x<td>y",
                         "a.html")),
            "p the first words\np and then others\np foster\nr x | y\n");
  EXPECT_EQ(outline(read("<html><h2>A<h3>B</h2>text", "a.html")), "h <A> A\nh <A > B> B\np <A > B> text\n");
  EXPECT_EQ(outline(read("<html>a\r\nb &#x0; &bogus; &amp", "a.html")), "p a b \xEF\xBF\xBD &bogus; &\n");
}

TEST(Html, ANumberThatIsNoCharacterIsReplaced) {
  const ReadDocument page = read("<html><p>a &#x4CCCCCCCC; &#xD800; &#1114112; b", "a.html");
  EXPECT_NE(page.text.find("\xEF\xBF\xBD"), std::string::npos) << page.text;
}

TEST(Html, HostileInputEndsSoonAndInBounds) {
  constexpr std::size_t many = 60'000;
  ReadOptions options;
  options.parse_time = std::chrono::milliseconds(1500);
  std::string formats = "<html>";
  for (int i = 0; i < 20'000; ++i) formats += fmt::format("<b id={}>", i);
  for (const std::string& text :
       {"<html>" + repeated("<div>", many), "<html>" + repeated("<b>", many) + repeated("<p>x", many),
        formats + repeated("<p>x", many), "<html>" + repeated("<table><td>", many),
        "<html>" + repeated("<a>", many), "<html>" + repeated("<svg><desc>", many),
        "<html>" + repeated("<div>", many) + "<frameset>", "<html>" + repeated("&", many),
        "<html>" + repeated("<!--", many), "<html><p " + repeated("a ", many),
        "<html>" + repeated("</p>", many), "<html>" + repeated("<select><option>", many)}) {
    const double began = base::cpu_seconds();
    const auto page = read_document(text, "a.html", options);
    EXPECT_LT(base::cpu_seconds() - began, base::soon_seconds) << text.substr(0, 24);
    if (page) {
      EXPECT_EQ(read_fault(*page, text), "");
    } else {
      EXPECT_EQ(page.error().code, Errc::bad_input);
    }
  }
}

}  // namespace
}  // namespace plimsoll::ingest
