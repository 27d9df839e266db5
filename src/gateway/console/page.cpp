#include "gateway/console/page.hpp"

#include <algorithm>
#include <charconv>

#include "base/text/text.hpp"
#include "data/console_files.hpp"
#include "gateway/http/content_coding.hpp"

namespace plimsoll::gateway {
namespace {

constexpr std::string_view page_file = "index.html";

// Nothing but this server's own files: no inline scripts or styles, no other host, no frame around it.
constexpr const char* content_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

std::string_view type_of(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> types[] = {
      {".html", "text/html; charset=utf-8"}, {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},   {".svg", "image/svg+xml"},
      {".json", "application/json"},
  };
  for (const auto& [end, type] : types)
    if (path.ends_with(end)) return type;
  return "application/octet-stream";
}

const data::EmbeddedFile* file_named(std::string_view path) {
  const auto files = data::console_files();
  const auto found = std::ranges::lower_bound(files, path, {}, &data::EmbeddedFile::path);
  return found != files.end() && found->path == path ? &*found : nullptr;
}

// Calls `each` with every part of a header's list and its weight, until it returns true.
template <typename Each>
bool any_part(std::string_view list, const Each& each) {
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string part = base::to_lower_ascii(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
    const std::size_t semicolon = std::min(part.find(';'), part.size());
    const std::string_view weight = std::string_view(part).substr(semicolon);
    const std::size_t at = weight.find("q=");
    double q = 1;
    if (at != std::string_view::npos)
      std::from_chars(weight.data() + at + 2, weight.data() + weight.size(), q);
    if (each(base::trim(std::string_view(part).substr(0, semicolon)), q)) return true;
  }
  return false;
}

std::vector<HttpHeader> headers_of(const data::EmbeddedFile& file, const std::string& tag) {
  const bool is_named_by_content = file.path.starts_with("assets/");
  return {{"ETag", tag},
          {"Cache-Control", is_named_by_content ? "public, max-age=31536000, immutable" : "no-cache"},
          {"Vary", file.path == page_file ? "Accept, Accept-Encoding" : "Accept-Encoding"},
          {"Content-Security-Policy", content_policy},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cross-Origin-Opener-Policy", "same-origin"},
          {"Cross-Origin-Resource-Policy", "same-origin"}};
}

Awaitable<void> send_file(Call call, const data::EmbeddedFile& file) {
  const bool packed = accepts_gzip(call.request.accept_encoding);
  const std::string tag = fmt::format("\"{}{}\"", file.tag, packed ? "-gzip" : "");
  AnswerHead head;
  head.content_type = type_of(file.path);
  head.headers = headers_of(file, tag);
  const bool is_known = any_part(call.request.if_none_match, [&](std::string_view part, double) {
    return part == "*" || part == tag || (part.starts_with("w/") && part.substr(2) == tag);
  });
  if (is_known) {
    head.status = 304;
    head.length = 0;
    (void)co_await call.reply.head(head);
    co_return;
  }
  std::string plain;
  if (!packed) {
    auto unpacked = gunzip(file.packed, file.bytes);
    if (unpacked) plain = *std::move(unpacked);
  }
  if (packed) head.headers.push_back({"Content-Encoding", "gzip"});
  const std::string_view body = packed ? file.packed : std::string_view(plain);
  head.length = body.size();
  (void)co_await call.reply.head(head);
  (void)co_await call.reply.body(body);
}

}  // namespace

bool accepts_html(std::string_view accept) {
  return any_part(accept, [](std::string_view type, double q) { return type == "text/html" && q > 0; });
}

bool accepts_gzip(std::string_view accept_encoding) {
  return any_part(accept_encoding,
                  [](std::string_view coding, double q) { return coding == "gzip" && q > 0; });
}

Awaitable<void> send_page(Call call) {
  co_await send_file(call, *file_named(page_file));
}

Awaitable<void> send_console_file(Call call) {
  const data::EmbeddedFile* file = file_named(call.name);
  if (file != nullptr) {
    co_await send_file(call, *file);
    co_return;
  }
  const Error error{Errc::not_found, "the console has no such file"};
  co_await send_error(call.reply, error);
}

}  // namespace plimsoll::gateway
