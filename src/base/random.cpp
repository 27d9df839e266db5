#include "base/random.hpp"

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include <sys/random.h>

namespace plimsoll::base {

std::string random_text(std::size_t bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string raw(bytes, '\0');
  for (std::size_t have = 0; have < bytes;) {
    const ssize_t got = ::getrandom(raw.data() + have, bytes - have, 0);
    if (got < 0 && errno != EINTR) throw std::runtime_error("no random bytes from the system");
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  std::string out;
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : raw) {
    held = held << 8U | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6; bits -= 6) out += digits[held >> static_cast<unsigned>(bits - 6) & 63U];
  }
  if (bits > 0) out += digits[held << static_cast<unsigned>(6 - bits) & 63U];
  return out;
}

}  // namespace plimsoll::base
