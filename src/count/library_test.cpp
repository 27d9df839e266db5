// Downloaded definitions are compared with the manifest before they are compiled.
#include <filesystem>

#include <gtest/gtest.h>

#include "base/files.hpp"
#include "base/paths.hpp"
#include "base/temporary_folder.hpp"
#include "plimsoll/tokenizers.hpp"

namespace plimsoll {
namespace {

class TokenizerDefinitions : public testing::Test {
 protected:
  // Copies the definition of a tokenizer, so that a test can damage it.
  void copy(const std::string& name) {
    const auto cache = base::cache_folder(base::current_environment());
    std::filesystem::create_directories(folder_ / "assets");
    std::filesystem::copy(cache / "assets" / name, folder_ / "assets" / name);
  }
  // Flips a bit in the middle of a file.
  static void damage(const std::filesystem::path& file) {
    auto bytes = base::read_file(file, 64U << 20);
    ASSERT_TRUE(bytes) << bytes.error().what;
    (*bytes)[bytes->size() / 2] ^= 1;
    ASSERT_TRUE(base::write_atomically(file, *bytes));
  }
  TokenizerLibrary library() const { return {folder_ / "assets", folder_ / "compiled"}; }
  void expect_refused(const std::string& name, const std::string& file) const {
    const auto opened = library().open(name);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, Errc::damaged);
    EXPECT_NE(opened.error().what.find(file + " is damaged"), std::string::npos) << opened.error().what;
    EXPECT_NE(opened.error().what.find("`tools/setup assets`"), std::string::npos) << opened.error().what;
  }

  base::TemporaryFolder folder_{"definitions"};
};

TEST_F(TokenizerDefinitions, ADamagedDefinitionIsRefused) {
  copy("r50k_base");
  EXPECT_TRUE(library().open("r50k_base"));
  damage(folder_ / "assets/r50k_base/r50k_base.tiktoken");
  EXPECT_TRUE(library().open("r50k_base")) << "it is compiled already";
  std::filesystem::remove_all(folder_ / "compiled");
  expect_refused("r50k_base", "r50k_base.tiktoken");
}

TEST_F(TokenizerDefinitions, ADamagedConfigurationIsRefused) {
  copy("qwen2.5");
  damage(folder_ / "assets/qwen2.5/tokenizer_config.json");
  expect_refused("qwen2.5", "tokenizer_config.json");
}

}  // namespace
}  // namespace plimsoll
