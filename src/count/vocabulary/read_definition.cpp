#include "base/text/text.hpp"
#include "base/weights/e5_file.hpp"
#include "count/vocabulary/readers.hpp"

namespace plimsoll::count {

Result<Definition> read_definition(std::string_view file, std::string_view config, std::string_view name) {
  const std::string_view front = base::trim(file.substr(0, 4096));
  Result<Definition> definition = [&]() -> Result<Definition> {
    if (file.empty()) return fail(Errc::bad_input, "the file is empty");
    if (file.starts_with("GGUF")) return read_gguf(file);
    if (base::is_e5_file(file)) return read_e5(file);
    if (front.starts_with('{')) {
      if (file.find("\"bpe_ranks\"") != std::string_view::npos &&
          file.find("\"pat_str\"") != std::string_view::npos)
        return read_claude(file);
      if (front.find("\"config\"") != std::string_view::npos &&
          file.find("\"token_bytes\"") != std::string_view::npos)
        return read_tekken(file);
      return read_tokenizer_json(file, config);
    }
    // A SentencePiece model starts with its first piece: field 1, a message.
    if (file.front() == '\n') return read_sentencepiece(file);
    return read_tiktoken(file);
  }();
  if (!definition) return fail(definition.error().code, "{}: {}", name, definition.error().what);
  return definition;
}

}  // namespace plimsoll::count
