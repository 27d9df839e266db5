#include "ingest/pipeline.hpp"

#include <fstream>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "base/temporary_folder.hpp"
#include "base/testing_store.hpp"
#include "ingest/testing_tokenizer.hpp"

namespace plimsoll::ingest {
namespace {

class EmptyStore final : public base::MemoryStore {
 public:
  Result<std::vector<StoredSource>> sources(IndexId) override { return std::vector<StoredSource>(); }
  Result<std::vector<DocumentId>> put(IndexId index,
                                      std::span<const DocumentWithVectors> documents) override {
    for (const DocumentWithVectors& one : documents) stored.push_back(one.document.key);
    return MemoryStore::put(index, documents);
  }
  std::vector<std::string> stored;
};

// A millisecond per text, like a slow machine.
class SlowEmbedder final : public Embedder {
 public:
  const EmbedderInfo& info() const override { return info_; }
  Result<std::vector<float>> embed(std::span<const std::string_view> texts, Deadline) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(texts.size()));
    return std::vector<float>(texts.size() * info_.dimensions, 1.0F);
  }
  Result<std::vector<float>> embed_query(std::string_view, Deadline) override {
    return fail(Errc::unsupported, "not asked for");
  }

 private:
  EmbedderInfo info_{.name = "slow", .dimensions = 2, .max_tokens = 0};
};

class Pipeline : public testing::Test {
 protected:
  Pipeline() { index_.settings.embedders = {embedder_.info()}; }

  SourceFile write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
    return {name, {(folder_ / name).string(), folder_.path().string()}, folder_ / name, text.size()};
  }
  static std::string sentences(int of, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("Line {} of {} is about nothing at all.\n", i, of);
    return text;
  }
  Result<IngestReport> run(std::span<const SourceFile> files, const Progress& progress) {
    IngestOptions options;
    options.batch_time = std::chrono::milliseconds(100);
    Embedder* embedders[] = {&embedder_};
    return ingest_files({store_, index_, tokenizer_, embedders}, files, options, progress);
  }

  base::TemporaryFolder folder_{"pipeline"};
  SlowEmbedder embedder_;
  IndexInfo index_;
  Tokenizer tokenizer_ = testing_tokenizer();
  EmptyStore store_;
};

TEST_F(Pipeline, WhatWasDoneBeforeAStopIsKeptAndCounted) {
  std::vector<SourceFile> files;
  for (int i = 0; i < 60; ++i) files.push_back(write(fmt::format("{:02}.txt", i), sentences(i, 20)));
  const auto report = run(files, [](const IngestCounts& counts, auto) { return counts.sentences < 300; });
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_TRUE(report->stopped);
  EXPECT_EQ(report->counts.added, store_.stored.size());
  EXPECT_GT(store_.stored.size(), 8U);
  EXPECT_LT(store_.stored.size(), 40U);
}

TEST_F(Pipeline, ALargeDocumentIsGivenUpAtAStopAndThoseBeforeItStay) {
  std::vector<SourceFile> files{write("a.txt", sentences(1, 3)), write("b.txt", sentences(2, 3'000))};
  const auto report = run(files, [](const IngestCounts& counts, auto) { return counts.sentences < 200; });
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_TRUE(report->stopped);
  EXPECT_EQ(store_.stored, std::vector<std::string>{"a.txt"});
  EXPECT_EQ(report->counts.added, 1U);
}

TEST_F(Pipeline, ProgressRisesWithinADocumentToTheSizeOfAllFiles) {
  std::vector<SourceFile> files{write("a.txt", sentences(1, 600)), write("b.txt", sentences(2, 600)),
                                write("c.png", "\x89PNG\r\n\x1A\n0000")};
  std::uint64_t total = 0, last = 0;
  for (const SourceFile& file : files) total += file.bytes;
  std::set<std::uint64_t> seen;
  const auto report = run(files, [&](const IngestCounts& counts, auto) {
    EXPECT_GE(counts.bytes, last);
    last = counts.bytes;
    seen.insert(last);
    return true;
  });
  ASSERT_TRUE(report) << report.error().what;
  EXPECT_GT(seen.size(), 6U);
  EXPECT_EQ(report->counts.bytes, total);
}

TEST_F(Pipeline, KindsThatAreNotReadAreSkippedAndWhatIsBrokenIsAProblem) {
  std::vector<SourceFile> files{write("a.png", "\x89PNG\r\n\x1A\n0000"), write("b.svg", "<svg></svg>"),
                                write("c.txt", "This is text."), write("d.pdf", "%PDF-1.7 and no more"),
                                write("e.svg", "<svg>Named by the user.</svg>")};
  files.back().wanted = true;
  files.push_back({"gone.txt", {"/gone.txt", "/"}, folder_ / "gone.txt", 10});
  const auto report = run(files, [](const IngestCounts&, auto) { return true; });
  ASSERT_TRUE(report) << report.error().what;
  ASSERT_EQ(report->skipped.size(), 2U);
  EXPECT_EQ(report->skipped[1].reason, "an SVG image");
  ASSERT_EQ(report->problems.size(), 2U);
  EXPECT_EQ(report->problems[0].key, "d.pdf");
  EXPECT_EQ(report->problems[1].key, "gone.txt");
  EXPECT_EQ(store_.stored, (std::vector<std::string>{"c.txt", "e.svg"}));
}

}  // namespace
}  // namespace plimsoll::ingest
