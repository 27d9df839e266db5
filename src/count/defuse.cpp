#include "count/defuse.hpp"

#include <array>

#include "count/tokenizer_impl.hpp"

namespace plimsoll::count {
namespace {

// Openings and closings of turns in the families that are served most.
constexpr std::array<std::string_view, 18> well_known{"<|im_start|>",      "<|im_end|>",
                                                      "<|endoftext|>",     "<|begin_of_text|>",
                                                      "<|end_of_text|>",   "<|eot_id|>",
                                                      "<|eom_id|>",        "<|start_header_id|>",
                                                      "<|end_header_id|>", "<|system|>",
                                                      "<|user|>",          "<|assistant|>",
                                                      "<|end|>",           "<start_of_turn>",
                                                      "<end_of_turn>",     "[INST]",
                                                      "[/INST]",           "</s>"};

std::size_t well_known_at(std::string_view text, std::size_t at) {
  if (text[at] != '<' && text[at] != '[') return 0;
  for (const std::string_view spelling : well_known)
    if (text.substr(at).starts_with(spelling)) return spelling.size();
  return 0;
}

// Copies the text from `from` to `to` with the well-known spellings broken up.
void copy_plain(std::string_view text, std::size_t from, std::size_t to, Defused& out) {
  for (std::size_t at = from; at < to;) {
    const std::size_t next = std::min(text.find_first_of("<[", at), to);
    out.text.append(text, at, next - at);
    at = next;
    if (at == to) return;
    out.text += text[at];
    if (well_known_at(text, at) > 0) {
      out.text += ' ';
      ++out.found;
    }
    ++at;
  }
}

}  // namespace

Defused defuse(const Tokenizer& tokenizer, std::string_view text) {
  const Tokenizer::Impl& impl = tokenizer.impl();
  Defused out;
  out.text.reserve(text.size() + 16);
  impl.each_segment(text, Specials::parsed, [&](const Tokenizer::Impl::Segment& segment) {
    const bool special = segment.added != no_token && impl.compiled.added[segment.added].special != 0;
    if (!special) {
      copy_plain(text, segment.begin, segment.end, out);
      return true;
    }
    // A match may begin with white space that the token strips.
    const std::size_t first = std::min(text.find_first_not_of(" \t\r\n", segment.begin), segment.end - 1);
    out.text.append(text, segment.begin, first + 1 - segment.begin);
    out.text += ' ';
    out.text.append(text, first + 1, segment.end - first - 1);
    ++out.found;
    return true;
  });
  if (out.found == 0) out.text.clear();
  return out;
}

}  // namespace plimsoll::count
