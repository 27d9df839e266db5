#include "adapters/weaviate/objects.hpp"

#include <gtest/gtest.h>

#include "adapters/weaviate/queries.hpp"

namespace plimsoll::weaviate {
namespace {

TEST(WeaviateObjects, HaveTheIdsOfChunkAndDocumentInTheirOwn) {
  EXPECT_EQ(object_id(1, 2), "00000000-0000-8001-8000-000000000002");
  for (const std::int64_t chunk :
       {std::int64_t{0}, std::int64_t{4'095}, std::int64_t{4'096}, std::int64_t{1} << 59})
    for (const std::int64_t document : {std::int64_t{0}, std::int64_t{7}, (std::int64_t{1} << 59) + 12'345}) {
      const auto ids = read_object_id(object_id(chunk, document));
      ASSERT_TRUE(ids);
      EXPECT_EQ(ids->chunk, chunk);
      EXPECT_EQ(ids->document, document);
    }
  for (const char* text : {"", "00000000-0000-8001-8000-00000000000g", "00000000000080018000000000000002"})
    EXPECT_FALSE(read_object_id(text)) << text;
}

TEST(WeaviateObjects, HaveStemsNamesAndVectors) {
  StoredChunk chunk;
  chunk.id = 5;
  chunk.document = 2;
  chunk.text = "Snow White\n\nThe anchors of Snow White and \"Anna\".";
  chunk.path = "Guide";
  const std::vector<std::vector<std::uint16_t>> whole{{0x3f80, 0xbf00}, {0x3f80}};
  const WrittenObject object = ObjectWriter("Plimsoll_1", {2, 3}).write(chunk, whole);
  const Json read = Json::parse(object.json);
  EXPECT_EQ(read["class"], "Plimsoll_1");
  EXPECT_EQ(read["id"], object_id(5, 2));
  const Json& properties = read["properties"];
  EXPECT_EQ(properties["chunk"], 5);
  EXPECT_NE(properties["words"].get<std::string>().find("anchor "), std::string::npos);
  EXPECT_EQ(properties["length"], object.words);
  EXPECT_EQ(properties["titles"], Json::parse(R"(["guide","snow white"])"));
  EXPECT_EQ(properties["mentions"], Json::parse(R"(["anna","snow white"])"));  // each once
  EXPECT_FALSE(properties.contains("language"));
  EXPECT_EQ(read["vectors"].dump(), R"({"e0":[1,-0.5]})");  // one of the wrong size is left out
}

TEST(WeaviateObjects, RememberTheirProgress) {
  const auto read =
      read_progress(progress_text({.revision = 7, .highest = 9, .is_whole = true, .chunks = 3, .words = 40}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->revision, 7);
  EXPECT_EQ(read->highest, 9);
  EXPECT_TRUE(read->is_whole);
  EXPECT_EQ(read->chunks, 3);
  EXPECT_EQ(read->words, 40);
  for (const char* text : {"", "{}", R"({"version":0,"revision":1,"highest":1,"chunks":1,"words":1})"})
    EXPECT_FALSE(read_progress(text)) << text;
}

TEST(WeaviateQueries, CannotBeBrokenOutOf) {
  const std::vector<std::string> keys{"a\"]}){x", "b\\"};
  const std::string query = any_named_query("Plimsoll_1", "titles", keys, 9);
  EXPECT_NE(query.find(R"(["a\"]}){x","b\\"])"), std::string::npos) << query;
}

TEST(WeaviateQueries, ReadWhatManyNamesHave) {
  const std::vector<std::string> keys{"anna", "none"};
  const Json data = Json::parse(R"({"Get":{"Plimsoll_1":[
    {"titles":["berta","anna"],"_additional":{"id":"00000000-0000-8003-8000-000000000002"}},
    {"titles":["anna"],"_additional":{"id":"00000000-0000-8001-8000-000000000001"}}]}})");
  const auto found = any_named_in(data, "Plimsoll_1", "titles", keys, 1, 10);
  ASSERT_TRUE(found);
  EXPECT_EQ((*found)[0].total, 2U);
  ASSERT_EQ((*found)[0].chunks.size(), 1U);
  EXPECT_EQ((*found)[0].chunks[0].chunk, 1);
  EXPECT_EQ((*found)[1].total, 0U);
  EXPECT_FALSE(any_named_in(data, "Plimsoll_1", "titles", keys, 1, 2));  // there may be more
}

}  // namespace
}  // namespace plimsoll::weaviate
