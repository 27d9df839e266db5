#include "adapters/http/reply_head.hpp"

#include <algorithm>

#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>

#include "base/text/text.hpp"

namespace plimsoll::adapters {
namespace {

namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::size_t usual_headers = 12;

// Beast looks at nothing before the head is whole; what speaks another protocol may never send an empty line.
bool could_be_http(std::span<const char> reply) {
  constexpr std::string_view begin = "HTTP/";
  const std::size_t size = std::min(begin.size(), reply.size());
  return std::string_view(reply.data(), size) == begin.substr(0, size);
}

bool has_no_body(int status) {
  return status == 204 || status == 304;
}

}  // namespace

class HeadReader::Parser final : public http::basic_parser<false> {
 public:
  Parser(ReplyHead& head, std::size_t limit) : head_(head) {
    header_limit(static_cast<std::uint32_t>(limit));
    body_limit(boost::none);
    eager(false);
    head_ = {};
    head_.headers.reserve(usual_headers);
  }

 private:
  void on_request_impl(http::verb, beast::string_view, beast::string_view, int, beast::error_code&) override {
  }
  void on_response_impl(int status, beast::string_view, int, beast::error_code&) override {
    head_.status = status;
  }
  void on_field_impl(http::field, beast::string_view name, beast::string_view value,
                     beast::error_code&) override {
    head_.headers.push_back({base::to_lower_ascii({name.data(), name.size()}), std::string(value)});
  }
  void on_header_impl(beast::error_code&) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast::error_code&) override {}
  std::size_t on_body_impl(beast::string_view, beast::error_code&) override { return 0; }
  void on_chunk_header_impl(std::uint64_t, beast::string_view, beast::error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast::string_view, beast::error_code&) override { return 0; }
  void on_finish_impl(beast::error_code&) override {}

  ReplyHead& head_;
};

HeadReader::HeadReader(std::size_t limit_bytes, bool to_head) : limit_(limit_bytes), to_head_(to_head) {
  begin();
}
HeadReader::~HeadReader() = default;

void HeadReader::begin() {
  begin_ = passed_over_;
  parser_ = std::make_unique<Parser>(read_.head, limit_);
  if (to_head_) parser_->skip(true);
}

HeadState HeadReader::read(std::span<const char> arrived, std::size_t& used) {
  while (true) {
    const std::span<const char> rest = arrived.subspan(passed_over_);
    if (rest.empty()) return HeadState::more;
    if (!could_be_http(arrived.subspan(begin_))) return HeadState::no_http;
    beast::error_code error;
    const std::size_t taken = parser_->put(boost::asio::const_buffer(rest.data(), rest.size()), error);
    passed_over_ += taken;
    if (error == http::error::need_more)
      return arrived.size() - begin_ > limit_ ? HeadState::too_long : HeadState::more;
    if (error == http::error::header_limit) return HeadState::too_long;
    if (error || !parser_->is_header_done()) return HeadState::no_http;
    const int status = read_.head.status;
    if (status >= 200 || status == 101) break;
    // One after the other for ever is not an answer either.
    if (passed_over_ > limit_) return HeadState::too_long;
    begin();
  }
  used = passed_over_;
  if (to_head_ || has_no_body(read_.head.status)) {
    read_.body = BodyFrame::none();
  } else if (parser_->chunked()) {
    read_.body = BodyFrame::chunked();
  } else if (parser_->content_length()) {
    read_.body = BodyFrame::sized(*parser_->content_length());
  } else {
    read_.body = BodyFrame::until_close();
  }
  read_.keep_alive = parser_->keep_alive();
  return HeadState::whole;
}

}  // namespace plimsoll::adapters
