#include <chrono>
#include <cstdlib>

#include <gtest/gtest.h>
#include <zip.h>

#include "ingest/read/child_process.hpp"
#include "ingest/read/read.hpp"
#include "ingest/read/readers.hpp"
#include "ingest/testing.hpp"

namespace plimsoll::ingest {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

std::string zipped(const Entries& entries) {
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t* const into = zip_source_buffer_create(nullptr, 0, 0, &error);
  zip_t* const archive = zip_open_from_source(into, ZIP_CREATE, &error);
  zip_source_keep(into);
  for (const auto& [name, content] : entries)
    zip_file_add(archive, name.c_str(), zip_source_buffer(archive, content.data(), content.size(), 0), 0);
  EXPECT_EQ(zip_close(archive), 0);
  EXPECT_EQ(zip_source_open(into), 0);
  std::string bytes(std::size_t{1} << 24, '\0');
  const zip_int64_t size = zip_source_read(into, bytes.data(), bytes.size());
  zip_source_close(into);
  zip_source_free(into);
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size));
  return bytes;
}

std::string document_xml(std::string_view body) {
  return fmt::format(
      R"(<?xml version="1.0"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>{}</w:body></w:document>)",
      body);
}

std::string paragraph(std::string_view text, std::string_view style = {}) {
  return fmt::format("<w:p>{}<w:r><w:t xml:space=\"preserve\">{}</w:t></w:r></w:p>",
                     style.empty() ? "" : fmt::format("<w:pPr><w:pStyle w:val=\"{}\"/></w:pPr>", style),
                     text);
}

Result<ReadDocument> read_xml(const std::string& xml, const ReadOptions& options = {}) {
  return read_document(zipped({{"word/document.xml", xml}}), "a.docx", options);
}

TEST(Docx, ReadsHeadingsParagraphsListsAndTables) {
  const std::string styles =
      R"(<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:styleId="abc"><w:name w:val="heading 2"/></w:style></w:styles>)";
  const std::string xml =
      document_xml(paragraph("Ships", "Heading1") + paragraph("A line &amp; a hull.") + paragraph("") +
                   paragraph("Loads", "abc") +
                   "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>first</w:t></w:r><w:r><w:tab/><w:t>item</w:t></"
                   "w:r></w:p><w:tbl><w:tr><w:tc>" +
                   paragraph("Name") + "</w:tc><w:tc>" + paragraph("Age") + "</w:tc></w:tr><w:tr><w:tc>" +
                   paragraph("Ann") + paragraph("B.") + "</w:tc><w:tc><w:tbl><w:tr><w:tc>" + paragraph("5") +
                   "</w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>" + paragraph("End."));
  const auto read = read_document(zipped({{"word/document.xml", xml}, {"word/styles.xml", styles}}), "x", {});
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_EQ(read_fault(*read, ""), "");
  EXPECT_FALSE(read->addressable);
  EXPECT_EQ(
      outline(*read),
      "h <Ships> Ships\np <Ships> A line & a hull.\nh <Ships > Loads> Loads\nl <Ships > Loads> first\titem\n"
      "r <Ships > Loads> [Name | Age] Name | Age\nr <Ships > Loads> [Name | Age] Ann B. | 5\np <Ships > "
      "Loads> End.\n");
}

TEST(Docx, RefusesWhatIsNone) {
  EXPECT_EQ(read_document(zipped({{"a.txt", "x"}}), "a.docx", {}).error().what,
            "a ZIP archive that is not a .docx; unpack it first");
  EXPECT_EQ(read_document("PK\x03\x04 and then nothing", "a.docx", {}).error().code, Errc::bad_input);
  EXPECT_EQ(read_xml("<w:p>never closed").error().code, Errc::bad_input);
  std::string cut = zipped({{"word/document.xml", document_xml(paragraph("x"))}});
  cut.resize(cut.size() / 2);
  EXPECT_EQ(read_document(cut, "a.docx", {}).error().code, Errc::bad_input);
}

TEST(Docx, EntitiesAreNotExpanded) {
  const auto read = read_xml("<!DOCTYPE x [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;&a;\">]><x>&b;</x>");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().what, "its XML declares entities, which Word never does");
}

TEST(Docx, AZipBombIsRefusedBeforeItUnpacks) {
  ReadOptions options;
  options.max_document_bytes = 1U << 20U;
  const std::string bomb = zipped({{"word/document.xml", std::string(std::size_t{50} << 20, ' ')}});
  ASSERT_LT(bomb.size(), 100'000U);
  const auto read = read_document(bomb, "a.docx", options);
  ASSERT_FALSE(read.has_value());
  EXPECT_NE(read.error().what.find("unpacks to more than"), std::string::npos) << read.error().what;
  // An archive with a wrong size in the directory and before the data: the actual size is checked too.
  std::string liar = bomb;
  for (std::size_t at = 0; (at = liar.find(std::string("\x00\x00\x20\x03", 4), at)) != std::string::npos;
       ++at)
    liar.replace(at, 4, std::string("\x10\x00\x00\x00", 4));
  ASSERT_NE(liar, bomb);
  EXPECT_EQ(read_document(liar, "a.docx", options).error().code, Errc::bad_input);
}

TEST(Docx, DepthCostsNoStack) {
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<w:tbl><w:tr><w:tc>";
  EXPECT_EQ(read_xml(document_xml(deep)).error().code, Errc::bad_input);
}

// ---- PDF ----

std::string pdf_with(const std::vector<std::string>& pages) {
  std::string kids;
  std::string objects;
  for (std::size_t i = 0; i < pages.size(); ++i) {
    kids += fmt::format("{} 0 R ", 10 + 2 * i);
    objects += fmt::format(
        "{} 0 obj\n<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents {} 0 R/Resources<</Font<</F1 3 0 "
        "R>>>>>>\nendobj\n"
        "{} 0 obj\n<</Length {}>>\nstream\n{}\nendstream\nendobj\n",
        10 + 2 * i, 11 + 2 * i, 11 + 2 * i, pages[i].size(), pages[i]);
  }
  return fmt::format(
      "%PDF-1.4\n1 0 obj\n<</Type/Catalog/Pages 2 0 R>>\nendobj\n2 0 obj\n<</Type/Pages/Kids[{}]/Count "
      "{}>>\nendobj\n"
      "3 0 obj\n<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>\nendobj\n{}trailer\n<</Root 1 0 R>>\n%%EOF\n",
      kids, pages.size(), objects);
}

#ifdef PLIMSOLL_EMULATED
constexpr bool can_start_programs = false;
#else
constexpr bool can_start_programs = true;
#endif

bool has_pdftotext() {
  return can_start_programs && run_child({"pdftotext", "-v"}, "", {}).has_value();
}

TEST(Pdf, ReadsPages) {
  if (!has_pdftotext()) GTEST_SKIP() << "pdftotext is not installed";
  const auto read = read_document(pdf_with({"BT /F1 12 Tf 50 700 Td (The hull has a line.) Tj ET",
                                            "BT /F1 12 Tf 50 700 Td (Second page here.) Tj ET"}),
                                  "a.pdf", {});
  ASSERT_TRUE(read.has_value()) << read.error().what;
  EXPECT_FALSE(read->addressable);
  EXPECT_EQ(outline(*read), "p1 The hull has a line.\np2 Second page here.\n");
  ReadOptions options;
  options.pdf_pages = 1;
  const auto first =
      read_document(pdf_with({"BT /F1 12 Tf 50 700 Td (One.) Tj ET", "BT /F1 12 Tf 50 700 Td (Two.) Tj ET"}),
                    "a.pdf", options);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->text, "One.");
  EXPECT_EQ(first->warnings.size(), 1U);
}

TEST(Pdf, SaysWhyABrokenOneCannotBeRead) {
  if (!has_pdftotext()) GTEST_SKIP() << "pdftotext is not installed";
  const auto broken = read_document("%PDF-1.4\nnothing of the kind", "a.pdf", {});
  ASSERT_FALSE(broken.has_value());
  EXPECT_NE(broken.error().what.find("the PDF cannot be read: "), std::string::npos) << broken.error().what;
  const auto scan = read_document(pdf_with({"0 0 m 10 10 l S"}), "a.pdf", {});
  ASSERT_FALSE(scan.has_value());
  EXPECT_EQ(scan.error().code, Errc::unsupported);
}

TEST(Pdf, NamesThePackageWhereTheProgramIsMissing) {
  ReadOptions options;
  options.pdftotext = "no-such-pdftotext";
  const auto read = read_document("%PDF-1.4", "a.pdf", options);
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(
      read.error().what,
      "'no-such-pdftotext' is needed to read PDFs but was not found; install the package poppler-utils");
}

TEST(Pdf, JoinsTheLinesThatThePageBroke) {
  const ReadDocument read = read_pages(
      "A ship has a line painted on her hull. It shows how deep she may be load-\ned at sea, in winter and "
      "in\n"
      "summer, so that all who stand on the quay can see it well.\n- first\n- second\n\nShort\nlines\n\fNext "
      "page\f\f\n\fFourth\n");
  EXPECT_EQ(outline(read),
            "p1 A ship has a line painted on her hull. It shows how deep she may be loaded at sea, in winter "
            "and in/"
            "summer, so that all who stand on the quay can see it well./- first/- second\np1 Short/lines\np2 "
            "Next page\np5 Fourth\n");
  EXPECT_EQ(read_fault(read, ""), "");
}

TEST(Pdf, RowsOfATableStayTogether) {
  if (!has_pdftotext()) GTEST_SKIP() << "pdftotext is not installed";
  const std::vector<std::vector<std::string>> rows{{"Grade", "Days", "Notice"},
                                                   {"Junior", "25", "1 month"},
                                                   {"Senior", "27", "2 months"},
                                                   {"Lead", "30", "3 months"}};
  std::string page = "BT /F1 12 Tf 50 740 Td (Leave by grade is listed below for all who work here.) Tj ET\n";
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (std::size_t c = 0; c < rows[r].size(); ++c)
      page += fmt::format("BT /F1 12 Tf {} {} Td ({}) Tj ET\n", 50 + 150 * c, 700 - 24 * r, rows[r][c]);
  page += "BT /F1 12 Tf 50 580 Td (Ask the office when in doubt about any of it.) Tj ET";
  const auto read = read_document(pdf_with({page}), "a.pdf", {});
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_EQ(read_fault(*read, ""), "");
  EXPECT_EQ(read->text,
            "Leave by grade is listed below for all who work here.\n\n"
            "Grade | Days | Notice\nJunior | 25 | 1 month\nSenior | 27 | 2 months\nLead | 30 | 3 months\n\n"
            "Ask the office when in doubt about any of it.");
  EXPECT_EQ(read->leads.at(read->blocks.at(3).lead), "Grade | Days | Notice");
}

TEST(Pdf, RowsOfALongTableStayTogether) {
  if (!has_pdftotext()) GTEST_SKIP() << "pdftotext is not installed";
  std::string page = "BT /F1 12 Tf 50 760 Td (Faults) Tj ET\n", expected = "Faults";
  for (int r = 0; r < 24; ++r) {
    const std::vector<std::string> row{fmt::format("E{}", r), fmt::format("Valve {} is stuck", r),
                                       fmt::format("Clean valve {} with water", r)};
    for (std::size_t c = 0; c < row.size(); ++c)
      page += fmt::format("BT /F1 12 Tf {} {} Td ({}) Tj ET\n", 50 + 160 * c, 730 - 14 * r, row[c]);
    expected += fmt::format("{}{} | {} | {}", r == 0 ? "\n\n" : "\n", row[0], row[1], row[2]);
  }
  page +=
      "BT /F1 12 Tf 50 360 Td (Ask the office when in doubt about any of the codes that are listed here.) Tj "
      "ET";
  const auto read = read_document(pdf_with({page}), "a.pdf", {});
  ASSERT_TRUE(read) << read.error().what;
  EXPECT_TRUE(read->text.starts_with(expected + "\n\nAsk")) << read->text;
}

TEST(Pdf, NarrowColumnsOfProseAreNoTable) {
  const char* const columns[3][6] = {
      {"A line on the hull shows", "how deep a ship may be", "loaded at sea. The mark",
       "was painted on all of", "them by law, and who went", "below it had to pay."},
      {"In fresh water she lies", "deeper than in the sea,", "and in summer deeper than",
       "in the ice of the north", "in winter. So there are", "several lines, not one."},
      {"Each of them has letters", "that say where it holds.", "The lowest is the one for",
       "winter in the Atlantic,", "where the waves are high", "and the days are short."}};
  std::string page, layout;
  for (const auto& column : columns) {
    for (const char* line : column) page += fmt::format("{}\n", line);
    page += '\n';
  }
  for (int i = 0; i < 6; ++i)
    layout += fmt::format("{:<30}{:<30}{}\n", columns[0][i], columns[1][i], columns[2][i]);
  EXPECT_EQ(outline(read_pages(page, layout)), outline(read_pages(page)));
}

TEST(Pdf, ColumnsOfProseAreNoTable) {
  const std::string left = "A column of prose has lines of many words",
                    right = "and so has the column beside it here";
  std::string page, layout;
  for (int i = 0; i < 8; ++i) {
    page += fmt::format("{} {}\n", left, i);
    layout += fmt::format("{} {}     {} {}\n", left, i, right, i);
  }
  page += '\n';
  for (int i = 0; i < 8; ++i) page += fmt::format("{} {}\n", right, i);
  EXPECT_EQ(outline(read_pages(page, layout)), outline(read_pages(page)));
  // Nor a table on which the two versions differ.
  EXPECT_EQ(outline(read_pages("a\n\nb\n\nc\n", "a   1\nb   2\nc   3\n")),
            outline(read_pages("a\n\nb\n\nc\n")));
}

TEST(Pdf, CellsThatMatchAlmostEverywhereAreFoundInTimeOrNotAtAll) {
  std::string page, layout;
  for (int i = 0; i < 30'000; ++i) {
    page += "a\n\na\n\n";
    layout += "a   a\n";
  }
  layout += "a   b\n";  // no line of the page is this cell
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(read_pages(page, layout).text, read_pages(page).text);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
}

TEST(Child, IsKilledWhenItsTimeIsOver) {
  if (!can_start_programs) GTEST_SKIP() << "no program can be started in the emulator";
  const auto began = std::chrono::steady_clock::now();
  const auto child =
      run_child({"sh", "-c", "sleep 60 & sleep 60"}, "", {.time = std::chrono::milliseconds(200)});
  ASSERT_FALSE(child.has_value());
  EXPECT_EQ(child.error().code, Errc::timed_out);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(50));
  // Also one that closes its output and stays; it has time enough to do so on a busy machine.
  const auto silent =
      run_child({"sh", "-c", "exec >&- 2>&-; sleep 60"}, "", {.time = std::chrono::seconds(4)});
  ASSERT_TRUE(silent.has_value());
  EXPECT_EQ(silent->status, 128 + 9);
}

TEST(Child, HasBoundsOfMemoryAndOutputAndReadsItsInput) {
  if (!can_start_programs) GTEST_SKIP() << "no program can be started in the emulator";
  const auto loud = run_child({"sh", "-c", "while :; do echo yes; done"}, "", {.output_bytes = 10'000});
  ASSERT_TRUE(loud.has_value());
  EXPECT_TRUE(loud->cut);
  EXPECT_EQ(loud->output.size(), 10'000U);
  const auto copied = run_child({"cat", "{input}"}, "the bytes", {});
  ASSERT_TRUE(copied.has_value());
  EXPECT_EQ(copied->output, "the bytes");
  EXPECT_EQ(copied->status, 0);
  const auto hungry = run_child({"sh", "-c", "ulimit -v; ulimit -f; ulimit -c"}, "",
                                {.memory_bytes = std::uint64_t{256} << 20});
  ASSERT_TRUE(hungry.has_value());
  EXPECT_EQ(hungry->output, "262144\n0\n0\n");
  EXPECT_EQ(run_child({"no-such-program-at-all"}, "", {}).error().code, Errc::not_found);
}

}  // namespace
}  // namespace plimsoll::ingest
