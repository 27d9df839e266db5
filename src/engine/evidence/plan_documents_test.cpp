// Plans with documents: which passages are sent, and what is told where there are none.
#include <set>

#include "base/testing_store.hpp"
#include "engine/testing_engine.hpp"
#include "search/open.hpp"

namespace plimsoll::engine {
namespace {

using Json = nlohmann::ordered_json;

// Keeps whole documents too.
class DocumentStore final : public base::MemoryStore {
 public:
  // Each sentence is a chunk of its own.
  void add(const Tokenizer& tokenizer, const std::string& key, const std::vector<std::string>& sentences) {
    DocumentWithVectors one;
    one.document.key = key;
    one.document.sections.emplace_back();
    for (const std::string& sentence : sentences) {
      Chunk chunk;
      chunk.span = {one.document.text.size(), one.document.text.size() + sentence.size()};
      chunk.tokens = tokenizer.count(sentence);
      chunk.sentences.push_back({chunk.span, chunk.tokens, false});
      one.document.text += sentence;
      one.document.chunks.push_back(std::move(chunk));
      info.tokens += tokenizer.count(sentence);
    }
    one.document.sections[0].span = {0, one.document.text.size()};
    const auto ids = put(info.id, std::span(&one, 1));
    first_chunks_[ids->front()] = living(info.id)->back() - static_cast<ChunkId>(sentences.size()) + 1;
    documents_[ids->front()] = one;
  }
  Result<std::vector<DocumentHead>> heads(std::span<const DocumentId> ids) override {
    std::vector<DocumentHead> out;
    for (const DocumentId id : ids) out.push_back(head_of(id));
    return out;
  }
  Result<std::vector<DocumentHead>> documents(IndexId, const Filter&, DocumentId, std::size_t) override {
    std::vector<DocumentHead> out;
    for (const auto& [id, one] : documents_) out.push_back(head_of(id));
    return out;
  }
  Result<DocumentWithVectors> document(DocumentId id) override { return documents_.at(id); }
  Result<std::vector<std::uint64_t>> lines(DocumentId, std::span<const std::uint64_t> bytes) override {
    return std::vector<std::uint64_t>(bytes.size(), 1);
  }

 private:
  DocumentHead head_of(DocumentId id) const {
    const Document& document = documents_.at(id).document;
    DocumentHead head;
    head.id = id;
    head.key = document.key;
    head.first_chunk = first_chunks_.at(id);
    head.chunks = std::ssize(document.chunks);
    head.text_bytes = std::ssize(document.text);
    for (const Chunk& chunk : document.chunks) head.tokens += chunk.tokens;
    return head;
  }
  std::map<DocumentId, DocumentWithVectors> documents_;
  std::map<DocumentId, ChunkId> first_chunks_;
};

class PlanDocuments : public testing::Test {
 protected:
  PlanDocuments() {
    (void)store_.create_index("local", "docs", {});
    test_.engine.open_indexes = &indexes_;
  }
  void add_documents() {
    const auto opened = test_.tokenizers.open("o200k_base");
    ASSERT_TRUE(opened) << opened.error().what;
    const Tokenizer& tokenizer = *opened;
    store_.add(tokenizer, "hull.md",
               {"The hull of the Bergen is 24 metres long. ", "The hull of the Bergen is made of steel. "});
    store_.add(tokenizer, "galley.md", {"The cook bakes bread on Fridays. ", "Flour is kept in the hold. "});
    for (int i = 0; i < 12; ++i)
      store_.add(tokenizer, fmt::format("log{}.md", i), {fmt::format("On day {} nothing happened. ", i)});
  }
  PlanStep planned(const TestRequest& one) {
    auto step = one.plan();
    EXPECT_TRUE(step) << step.error().what;
    return step ? *std::move(step) : PlanStep();
  }
  static std::string asking(const std::string& question, const Json& more = Json::object()) {
    Json body{{"model", "gpt-4o"},
              {"index_name", "docs"},
              {"max_tokens", 16},
              {"messages", {{{"role", "user"}, {"content", question}}}}};
    body.update(more);
    return body.dump();
  }

  ScriptedServer server_;
  TestEngine test_{{&server_}};
  DocumentStore store_;
  retrieve::ChunkCache cache_{store_};
  library::OpenIndexes indexes_{
      store_, [this](const IndexInfo& info) -> Result<std::unique_ptr<library::LoadedIndex>> {
        auto index = search::open_index(store_, info, {});
        if (!index) return tl::unexpected(index.error());
        const Index& opened = **index;
        return std::unique_ptr<library::LoadedIndex>(
            new library::LoadedIndex{*std::move(index), {info, store_, cache_, opened, {}}, {}, {}});
      }};
};

TEST_F(PlanDocuments, PassagesOfTheNearDocumentAreSent) {
  add_documents();
  const TestRequest one(test_, asking("How long is the hull of the Bergen?"));
  const PlanStep step = planned(one);
  EXPECT_FALSE(step.again);
  const Planned& planned = step.planned;
  const auto sent = passages_in_plan(planned);
  ASSERT_FALSE(sent.empty()) << planned.documents.without_documents;
  EXPECT_EQ(planned.documents.passages[sent[0]].passage.key, "hull.md");
  EXPECT_NE(planned.body.find("24 metres long"), std::string::npos);
  EXPECT_EQ(planned.body.find("bakes bread"), std::string::npos);
  EXPECT_EQ(planned.documents.shown.size(), planned.documents.passages.size());
  EXPECT_EQ(planned.documents.without_documents, "");
  EXPECT_LE(planned.figures.needs(), planned.figures.window);
  EXPECT_TRUE(one.request.chat.additions.passages.empty());  // of the value before it
  EXPECT_GT(step.notes.retrieve_us, 0);
}

TEST_F(PlanDocuments, DocumentsAreSearchedOnceForARequest) {
  add_documents();
  TestRequest one(test_, asking("How long is the hull of the Bergen?"));
  const PlanStep first = planned(one);
  ASSERT_TRUE(first.found);
  ASSERT_NE(first.planned.body.find("24 metres"), std::string::npos);
  one.attempt.found = first.found;
  store_.add(*test_.tokenizers.open("o200k_base"), "late.md", {"The hull of the Bergen is 25 metres long. "});
  const PlanStep second = planned(one);
  EXPECT_EQ(second.found, first.found);
  EXPECT_EQ(second.planned.body, first.planned.body);
  EXPECT_EQ(second.planned.body.find("25 metres"), std::string::npos);
}

TEST_F(PlanDocuments, AnEmptyIndexIsSaidToBeEmpty) {
  const PlanStep step = planned(TestRequest(test_, asking("How long is the hull?")));
  EXPECT_EQ(step.planned.documents.without_documents, "The index 'docs' is empty.");
  ASSERT_FALSE(step.planned.plan.warnings.empty());
  EXPECT_EQ(step.planned.plan.warnings.back(), "Answered without documents. The index 'docs' is empty.");
}

TEST_F(PlanDocuments, NothingNearIsSaid) {
  add_documents();
  const PlanStep step = planned(TestRequest(test_, asking("Which orchid blooms at midnight?")));
  EXPECT_TRUE(passages_in_plan(step.planned).empty());
  EXPECT_EQ(step.planned.documents.without_documents, "Nothing in the index 'docs' is near the question.");
}

TEST_F(PlanDocuments, PassagesStayWithinTheirBudget) {
  add_documents();
  const Json budget{{"plimsoll", {{"budget", 60}}}};
  const PlanStep step = planned(TestRequest(test_, asking("How long is the hull of the Bergen?", budget)));
  const auto& context = step.planned.plan.sections[static_cast<std::size_t>(SectionKind::context)];
  EXPECT_LE(context.used, 60);
  EXPECT_GT(context.used, 0);
}

TEST_F(PlanDocuments, WhatIsNotSentIsListedWithItsReason) {
  add_documents();
  const PlanStep step =
      planned(TestRequest(test_, asking("How long is the hull of the Bergen, day by day?")));
  const Consulted& documents = step.planned.documents;
  EXPECT_EQ(documents.left_out_total, std::ssize(documents.left_out));
  for (const TraceLeftOut& one : documents.left_out) {
    EXPECT_NE(one.document, "hull.md");
    EXPECT_FALSE(one.reason.empty());
  }
}

// Documents with words that questions of every kind have.
void add_clutter(const Tokenizer& tokenizer, DocumentStore& store) {
  store.add(tokenizer, "watch.md", {"The second watch begins at midnight. ", "Wind it twice, for example. "});
  store.add(tokenizer, "ropes.md",
            {"Give the second rope a turn. ", "An example of a knot is the bowline. "});
}

TEST_F(PlanDocuments, AQuestionThatNamesNothingIsNearNothing) {
  add_documents();
  add_clutter(*test_.tokenizers.open("o200k_base"), store_);
  for (const char* question : {"And for the second one?", "Give me an example", "Tell me more about it."}) {
    const PlanStep step = planned(TestRequest(test_, asking(question)));
    EXPECT_EQ(step.planned.documents.without_documents, "Nothing in the index 'docs' is near the question.")
        << question;
  }
  for (const char* question : {"Which watch is the second one?", "example"}) {
    const PlanStep step = planned(TestRequest(test_, asking(question)));
    EXPECT_FALSE(passages_in_plan(step.planned).empty()) << question;
  }
}

TEST_F(PlanDocuments, AFollowUpFindsItsSubjectAndNotItsForm) {
  add_documents();
  add_clutter(*test_.tokenizers.open("o200k_base"), store_);
  for (const char* question : {"And for the second one?", "Give me an example", "Tell me more about it."}) {
    const PlanStep step = planned(
        TestRequest(test_, asking("", {{"messages",
                                        {{{"role", "user"}, {"content", "Is the hull of the Bergen steel?"}},
                                         {{"role", "assistant"}, {"content", "It is."}},
                                         {{"role", "user"}, {"content", question}}}}})));
    ASSERT_FALSE(passages_in_plan(step.planned).empty()) << question;
    EXPECT_NE(step.planned.body.find("made of steel"), std::string::npos) << question;
    for (const FoundPassage& found : step.planned.documents.passages)
      EXPECT_EQ(found.passage.key, "hull.md") << question;
  }
}

// However much the instructions leave of the window.
TEST_F(PlanDocuments, NumbersOfPassagesHaveNoGaps) {
  const auto opened = test_.tokenizers.open("o200k_base");
  ASSERT_TRUE(opened) << opened.error().what;
  for (int i = 0; i < 8; ++i) {
    std::string yard = fmt::format("Hull {} was built at yard {}", i, i + 40);
    for (int more = 0; more <= i; ++more) yard += fmt::format(" with the plates of hull {}", 10 * i + more);
    store_.add(*opened, fmt::format("hull{}.md", i), {yard + ". "});
  }
  std::set<std::size_t> numbers;
  for (int words = 7'000; words < 8'192; words += 25) {
    std::string said = "Be brief.";
    for (int i = 0; i < words; ++i) said += " ship";
    const Json messages{{{"role", "system"}, {"content", said}},
                        {{"role", "user"}, {"content", "Where was each hull built?"}}};
    const TestRequest one(test_, asking("", {{"messages", messages}, {"plimsoll", {{"strategy", "RAG"}}}}));
    const auto step = one.plan();
    if (!step) break;  // the instructions alone are too long
    const Consulted& documents = step->planned.documents;
    EXPECT_EQ(passages_in_plan(step->planned).size(), documents.passages.size());
    for (std::size_t i = 0; i < documents.shown.size(); ++i)
      EXPECT_TRUE(documents.shown[i].id.starts_with(fmt::format("{}: ", i + 1))) << documents.shown[i].id;
    numbers.insert(documents.shown.size());
  }
  EXPECT_GT(numbers.size(), 3U);  // some windows left passages out
}

}  // namespace
}  // namespace plimsoll::engine
