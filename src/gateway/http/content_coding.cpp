#include "gateway/http/content_coding.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>

#include "base/text/text.hpp"

namespace plimsoll::gateway {
namespace {

// Ends the stream on every exit path.
struct Inflater {
  Inflater() {
    constexpr int gzip_alone = 16 + MAX_WBITS;
    ready = inflateInit2(&stream, gzip_alone) == Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (ready) inflateEnd(&stream);
  }

  z_stream stream{};
  bool ready = false;
};

}  // namespace

Coding coding_of(std::string_view content_encoding) {
  const std::string named = base::to_lower_ascii(base::trim(content_encoding));
  if (named.empty() || named == "identity") return Coding::none;
  return named == "gzip" || named == "x-gzip" ? Coding::gzip : Coding::unknown;
}

Result<std::string> gunzip(std::string_view body, std::size_t limit,
                           const std::function<bool(std::size_t bytes)>& has_room) {
  Inflater inflater;
  if (!inflater.ready) return fail(Errc::io_failed, "no memory to unpack gzip");
  z_stream& stream = inflater.stream;
  std::string out;
  std::array<char, std::size_t{32} << 10> piece;
  while (true) {
    if (stream.avail_in == 0) {  // zlib uses 32-bit sizes
      const std::size_t next = std::min(body.size(), std::size_t{1} << 30);
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
      stream.avail_in = static_cast<uInt>(next);
      body.remove_prefix(next);
    }
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int state = inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = piece.size() - stream.avail_out;
    if (made > limit - out.size())
      return fail(Errc::over_budget, "the decompressed body is longer than {} bytes", limit);
    if (has_room && !has_room(out.size() + made))
      return fail(Errc::over_budget, "no memory for more than {} decompressed bytes", out.size());
    out.append(piece.data(), made);
    const bool has_more = stream.avail_in > 0 || !body.empty();
    if (state == Z_STREAM_END && !has_more) return out;
    if (state == Z_STREAM_END && inflateReset(&stream) == Z_OK) continue;
    if (state != Z_OK || (!has_more && made < piece.size()))
      return fail(Errc::bad_input, "the body is not complete gzip data, as its Content-Encoding says");
  }
}

}  // namespace plimsoll::gateway
