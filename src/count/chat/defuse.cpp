#include "count/chat/defuse.hpp"

#include <algorithm>
#include <array>

#include "base/text/text.hpp"
#include "count/tokenizer_impl.hpp"

namespace plimsoll::count {
namespace {

// Marks of chat formats, besides names between bars.
constexpr std::array<std::string_view, 60> well_known{"<start_of_turn>",
                                                      "<end_of_turn>",
                                                      "<start_of_image>",
                                                      "<end_of_image>",
                                                      "<tool_call>",
                                                      "</tool_call>",
                                                      "<tool_response>",
                                                      "</tool_response>",
                                                      "<tools>",
                                                      "</tools>",
                                                      "<think>",
                                                      "</think>",
                                                      "<<SYS>>",
                                                      "<</SYS>>",
                                                      "</s>",
                                                      "[INST]",
                                                      "[/INST]",
                                                      "[AVAILABLE_TOOLS]",
                                                      "[/AVAILABLE_TOOLS]",
                                                      "[TOOL_CALLS]",
                                                      "[/TOOL_CALLS]",
                                                      "[TOOL_RESULTS]",
                                                      "[/TOOL_RESULTS]",
                                                      "[TOOL_CONTENT]",
                                                      "[/TOOL_CONTENT]",
                                                      "[SYSTEM_PROMPT]",
                                                      "[/SYSTEM_PROMPT]",
                                                      "[THINK]",
                                                      "[/THINK]",
                                                      "[ARGS]",
                                                      "[CALL_ID]",
                                                      "[IMG]",
                                                      "[IMG_BREAK]",
                                                      "[IMG_END]",
                                                      "[AUDIO]",
                                                      "[BEGIN_AUDIO]",
                                                      "[TRANSCRIBE]",
                                                      "[PREFIX]",
                                                      "[MIDDLE]",
                                                      "[SUFFIX]",
                                                      "[gMASK]",
                                                      "[sMASK]",
                                                      "<sop>",
                                                      "]~b]",
                                                      "]~!b[",
                                                      "[e~[",
                                                      "<bos>",
                                                      "<eos>",
                                                      "[|user|]",
                                                      "[|assistant|]",
                                                      "[|system|]",
                                                      "[|endofturn|]",
                                                      "<arg_key>",
                                                      "</arg_key>",
                                                      "<arg_value>",
                                                      "</arg_value>",
                                                      "<seed:bos>",
                                                      "<seed:eos>",
                                                      "<minimax:tool_call>",
                                                      "</minimax:tool_call>"};

// Some vocabularies have tokens for these. For a model they are text, and they are common in
// documents.
constexpr std::array<std::string_view, 41> html{
    "a",  "b",     "bbox", "blockquote", "body", "caption", "code",   "div",    "em",  "footer", "h1",
    "h2", "h3",    "h4",   "h5",         "h6",   "html",    "i",      "iframe", "img", "li",     "mask",
    "ol", "p",     "pre",  "s",          "span", "strike",  "strong", "sub",    "sup", "table",  "tbody",
    "td", "tfoot", "th",   "thead",      "tr",   "u",       "ul",     "2mass"};

// Returns the length of "<|im_end|>", "<｜User｜>" and similar, or 0. Every model family uses such marks, and
// they do not occur in normal text.
std::size_t barred_at(std::string_view text) {
  constexpr std::size_t longest = 64;
  for (const std::string_view bar : {"|", "｜"}) {
    if (!text.substr(1).starts_with(bar)) continue;
    const std::size_t begin = 1 + bar.size();
    const std::string close = std::string(bar) + ">";
    const std::size_t end = text.substr(0, begin + longest).find(close, begin);
    if (end == std::string_view::npos || end == begin) continue;
    const std::string_view name = text.substr(begin, end - begin);
    if (name.find_first_of(" \t\r\n<>|") == std::string_view::npos) return end + close.size();
  }
  return 0;
}

// "<|turn>", "<turn|>": a bar at one end, as in Gemma 4.
bool is_half_barred(std::string_view text) {
  constexpr std::size_t longest = 32;
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz_";
  std::string_view name = text.substr(1, longest);
  const bool first = name.starts_with('|');
  if (first) name.remove_prefix(1);
  const std::size_t end = name.find_first_not_of(letters);
  return end != std::string_view::npos && end > 0 && name.substr(end).starts_with(first ? ">" : "|>");
}

bool is_structure_at(std::string_view text) {
  if (text[0] == '<' && (barred_at(text) > 0 || is_half_barred(text))) return true;
  return std::ranges::any_of(well_known,
                             [&](std::string_view spelling) { return text.starts_with(spelling); });
}

// An added token that is not special but marks structure: Qwen3's <tool_call>, DeepSeek's <｜User｜>.
// Not a line break, and not an HTML tag.
bool is_marker(std::string_view token) {
  token = base::trim(token);
  const bool tag = token.starts_with('<') && token.ends_with('>');
  const bool bracketed = token.starts_with('[') && token.ends_with(']');
  if (token.size() < 3 || (!tag && !bracketed)) return false;
  std::string_view name = token.substr(1, token.size() - 2);
  if (name.starts_with('/')) name.remove_prefix(1);
  return bracketed || std::ranges::find(html, name) == html.end();
}

// Copies the text from `from` to `to`, breaking up known marks.
void copy_plain(std::string_view text, std::size_t from, std::size_t to, Defused& out) {
  for (std::size_t at = from; at < to;) {
    const std::size_t next = std::min(text.find_first_of("<[]", at), to);
    out.text.append(text, at, next - at);
    at = next;
    if (at == to) return;
    out.text += text[at];
    if (is_structure_at(text.substr(at))) {
      out.text += ' ';
      ++out.found;
    }
    ++at;
  }
}

}  // namespace

Defused defuse_known(std::string_view text) {
  Defused out;
  out.text.reserve(text.size() + 16);
  copy_plain(text, 0, text.size(), out);
  return out;
}

Defused defuse(const Tokenizer& tokenizer, std::string_view text) {
  const Tokenizer::Impl& impl = tokenizer.impl();
  Defused out;
  out.text.reserve(text.size() + 16);
  impl.each_segment(text, Specials::parsed, [&](const Tokenizer::Impl::Segment& segment) {
    const bool structure =
        segment.added != no_token && (impl.compiled.added[segment.added].special != 0 ||
                                      is_marker(text.substr(segment.begin, segment.end - segment.begin)));
    if (!structure) {
      copy_plain(text, segment.begin, segment.end, out);
      return true;
    }
    // A match may start with white space that the token strips.
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
