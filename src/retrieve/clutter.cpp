#include "retrieve/clutter.hpp"

#include <algorithm>
#include <cstddef>

#include "base/text/text.hpp"

namespace plimsoll::retrieve {
namespace {

// docs/search.md has the measurements for these numbers.
constexpr float contents_worth = 0.4F, garbled_worth = 0.4F;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// "Refuelling ........ 17": five dots in a row, also with spaces between them. The page may be in the next
// sentence, which begins after the dots.
bool leads_to_a_page(std::string_view text) {
  constexpr std::size_t leader = 5;
  std::size_t dots = 0;
  for (std::size_t at = 0; at < text.size() && dots < leader; ++at) {
    if (text[at] == '.') {
      ++dots;
    } else if (text.substr(at).starts_with("\xE2\x80\xA6")) {  // …
      dots += 3;
      at += 2;
    } else if (!is_blank(text[at])) {
      dots = 0;
    }
  }
  return dots >= leader;
}

// "- [Install](#install)": nothing but links of Markdown and the marks of a list.
bool is_links_alone(std::string_view text) {
  std::size_t links = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '[') {
      const std::size_t words = text.find("](", at), end = text.find(')', words);
      if (words == std::string_view::npos || end == std::string_view::npos) return false;
      ++links;
      at = end + 1;
    } else if (is_blank(text[at]) || base::is_digit(text[at]) ||
               std::string_view("-*+.|,").find(text[at]) != std::string_view::npos) {
      ++at;
    } else {
      return false;
    }
  }
  return links > 0;
}

// Replacement characters, or "t h i s  w a s  s p a c e d".
bool is_garbled(std::string_view text) {
  std::size_t characters = 0, replaced = 0, words = 0, single = 0, length = 0;
  const auto end_word = [&] {
    words += length > 0 ? 1 : 0;
    single += length == 1 ? 1 : 0;
    length = 0;
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (is_blank(text[at])) {
      end_word();
      continue;
    }
    if ((byte & 0xC0U) == 0x80U) continue;  // goes on with a character
    ++characters;
    if (text.substr(at).starts_with("\xEF\xBF\xBD")) ++replaced;
    const bool is_letter = (byte | 0x20U) >= 'a' && (byte | 0x20U) <= 'z';
    length += is_letter || length > 0 ? 1 : 2;  // a single digit or sign is no sign of bad text
  }
  end_word();
  constexpr std::size_t enough_words = 12;
  return replaced * 50 > characters || (words >= enough_words && single * 2 > words);
}

}  // namespace

float worth_of(std::string_view sentence) {
  if (leads_to_a_page(sentence) || is_links_alone(sentence)) return contents_worth;
  return is_garbled(sentence) ? garbled_worth : 1;
}

}  // namespace plimsoll::retrieve
