// Any bytes as a chat request: a count whose parts add up, or an error, never a crash. The tokenizer is a
// tiny one built here, so that nothing has to be downloaded.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "plimsoll/chat.hpp"
#include "plimsoll/tokenizers.hpp"

namespace {

plimsoll::Tokenizer tiny() {
  const auto folder = std::filesystem::temp_directory_path() / "plimsoll-chat-fuzz";
  const auto file = folder / "tokenizer.json";
  const std::string_view text =
      R"({"added_tokens":[{"id":2,"content":"<|im_start|>","special":true},{"id":3,"content":"<|im_end|>","special":true}],
    "pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"use_regex":true},
    "model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}})";
  if (!plimsoll::base::write_atomically(file, text)) std::abort();
  auto tokenizer = plimsoll::TokenizerLibrary(folder, folder).open_file(file);
  if (!tokenizer) std::abort();
  return *std::move(tokenizer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const plimsoll::Tokenizer tokenizer = tiny();
  const std::string_view request(reinterpret_cast<const char*>(data), size);
  for (const std::string_view name : plimsoll::chat_templates()) {
    plimsoll::ChatOptions options;
    options.chat_template = name;
    options.specials = name.size() % 2 == 0 ? plimsoll::Specials::plain : plimsoll::Specials::parsed;
    const auto counted = count_chat(tokenizer, request, options);
    if (!counted) continue;
    const auto sum = std::accumulate(counted->messages.begin(), counted->messages.end(),
                                     counted->template_tokens + counted->tools + counted->images);
    if (sum != counted->total) std::abort();
  }
  return 0;
}
