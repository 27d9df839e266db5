#include "adapters/http/streams.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <vector>

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include "adapters/http/dial.hpp"
#include "adapters/http/proxies.hpp"
#include "adapters/http/reply_head.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::adapters {
namespace {

namespace asio = boost::asio;

constexpr std::size_t spare_buffers = 4;
constexpr std::size_t many_servers = 256;

// Memory to read into; what nothing was read into yet costs nothing.
struct Bytes {
  explicit Bytes(std::size_t wanted) : data(std::make_unique_for_overwrite<char[]>(wanted)), size(wanted) {}
  std::span<char> from(std::size_t begin) { return {data.get() + begin, size - begin}; }
  void grow(std::size_t wanted) {
    Bytes larger(wanted);
    std::copy_n(data.get(), size, larger.data.get());
    *this = std::move(larger);
  }

  std::unique_ptr<char[]> data;
  std::size_t size;
};

// A server that was asked, with what every request to it has in common and the connections kept to it, the
// last used last: it is the likeliest to be still open.
struct Server {
  Route route;
  std::string fields;  // Host, User-Agent and the like, each with its line end
  struct Kept {
    std::unique_ptr<Wire> wire;
    Deadline::Clock::time_point since;
  };
  std::vector<Kept> idle{};
};

// What the port and its streams share, so that a stream may end after the port.
class Pool final : public Watched {
 public:
  Pool(const asio::any_io_executor& executor, StreamOptions options)
      : options_(std::move(options)),
        watch_(std::make_shared<Watch>(executor)),
        dialer_(executor, watch_, {options_.agent, options_.certificates, options_.connect_timeout}),
        proxies_(Proxies::of_environment()) {}
  ~Pool() { watch_->remove(*this); }

  const StreamOptions& options() const { return options_; }
  Dialer& dialer() { return dialer_; }

  Result<std::shared_ptr<Server>> server_at(std::string_view front) {
    if (const auto found = servers_.find(front); found != servers_.end()) return found->second;
    TRY(Origin origin, read_origin(front));
    TRY(std::optional<Origin> proxy, proxies_.towards(origin));
    auto server = std::make_shared<Server>();
    server->fields = fmt::format("Host: {}\r\nUser-Agent: {}\r\n", origin.authority(), options_.agent);
    if (proxy && !origin.tls && !proxy->user_info.empty())
      server->fields += "Proxy-Authorization: " + basic_authorization(proxy->user_info) + "\r\n";
    server->route = {std::move(origin), std::move(proxy)};
    if (servers_.size() >= many_servers)
      std::erase_if(servers_, [](const auto& entry) { return entry.second->idle.empty(); });
    return servers_.emplace(front, std::move(server)).first->second;
  }

  std::unique_ptr<Wire> take(Server& server) {
    if (server.idle.empty()) return nullptr;
    Server::Kept kept = std::move(server.idle.back());
    server.idle.pop_back();
    if (Deadline::Clock::now() < kept.since + options_.idle_age) return std::move(kept.wire);
    server.idle.clear();  // the others are older still
    return nullptr;
  }

  void give_back(Server& server, std::unique_ptr<Wire> wire) {
    if (server.idle.size() >= options_.idle_connections) return;
    const auto now = Deadline::Clock::now();
    server.idle.push_back({std::move(wire), now});
    if (!watch_->holds(*this)) watch_->add(*this, Deadline::at(now + options_.idle_age));
  }

  Bytes take_buffer() {
    if (buffers_.empty()) return Bytes(options_.read_bytes);
    Bytes buffer = std::move(buffers_.back());
    buffers_.pop_back();
    return buffer;
  }

  void give_back(Bytes buffer) {
    if (buffers_.size() < spare_buffers && buffer.size == options_.read_bytes)
      buffers_.push_back(std::move(buffer));
  }

  // Closes what has been idle for too long.
  void expire() override {
    const auto now = Deadline::Clock::now();
    auto oldest = now;
    for (auto& [front, server] : servers_) {
      std::erase_if(server->idle, [&](const auto& kept) { return kept.since + options_.idle_age <= now; });
      if (!server->idle.empty()) oldest = std::min(oldest, server->idle.front().since);
    }
    if (oldest < now) watch_->add(*this, Deadline::at(oldest + options_.idle_age));
  }

 private:
  StreamOptions options_;
  std::shared_ptr<Watch> watch_;
  Dialer dialer_;
  Proxies proxies_;
  std::map<std::string, std::shared_ptr<Server>, std::less<>> servers_;  // by the front of their addresses
  std::vector<Bytes> buffers_;
};

class Stream final : public HttpStream {
 public:
  Stream(std::shared_ptr<Pool> pool, std::shared_ptr<Server> server, std::unique_ptr<Wire> wire,
         std::string path)
      : pool_(std::move(pool)),
        server_(std::move(server)),
        wire_(std::move(wire)),
        path_(std::move(path)),
        buffer_(pool_->take_buffer()) {}
  ~Stream() override {
    end();
    pool_->give_back(std::move(buffer_));
  }

  // Sends the request and reads the head of the reply. `head` and `body` outlive the call.
  Awaitable<Result<void>> exchange(std::string_view head, std::string_view body, bool to_head,
                                   Deadline deadline) {
    const auto patience = std::chrono::ceil<std::chrono::milliseconds>(deadline.left());
    const std::size_t written = wire_->write_now(head, body);
    if (written < head.size() + body.size()) {
      // A server may refuse a long request by answering before it has read it: what it says is read below.
      const IoError error = co_await wire_->write_rest(head, body, written, deadline);
      if (error == asio::error::operation_aborted) co_return no_head(error, patience);  // late, or given up
    }
    HeadReader reader(pool_->options().header_limit_bytes, to_head);
    std::size_t used = 0;
    for (HeadState state = HeadState::more; state != HeadState::whole;) {
      if (arrived_ == buffer_.size) buffer_.grow(std::max(buffer_.size + 1, longest_head()));
      const Wire::Arrived more = co_await wire_->read(buffer_.from(arrived_), deadline);
      if (more.error) co_return no_head(more.error, patience);
      arrived_ += more.bytes;
      state = reader.read(buffer_.from(0).first(arrived_), used);
      if (state == HeadState::too_long || (state == HeadState::more && arrived_ >= longest_head()))
        co_return failed(fmt::format("the reply's header is longer than {}",
                                     base::human_bytes(pool_->options().header_limit_bytes)));
      if (state == HeadState::no_http) co_return failed("what came back is no HTTP");
    }
    ReadHead read = reader.take();
    head_ = std::move(read.head);
    frame_ = read.body;
    keep_alive_ = read.keep_alive;
    begin_ = used;
    co_return Result<void>();
  }

  // Nothing at all came back before the other side closed.
  bool was_dead() const { return dead_; }

  const ReplyHead& head() const override { return head_; }

  Awaitable<Result<std::string_view>> read(Deadline deadline) override {
    while (true) {
      if (begin_ < arrived_) {
        if (const auto bytes = frame_.take(buffer_.from(begin_).first(arrived_ - begin_));
            bytes.body > 0 || bytes.used > 0) {
          const std::string_view body(buffer_.data.get() + begin_, bytes.body);
          begin_ += bytes.used;
          if (frame_.has_ended()) end();
          if (!body.empty()) co_return body;
        }
      }
      if (frame_.has_ended()) {
        end();
        co_return std::string_view();
      }
      if (frame_.is_broken()) co_return broken("the reply's chunks are not as HTTP has them");
      if (!wire_) co_return broken("the reply broke off");
      begin_ = arrived_ = 0;
      const auto patience = std::chrono::ceil<std::chrono::milliseconds>(deadline.left());
      const Wire::Arrived more = co_await wire_->read(buffer_.from(0), deadline);
      if (more.error && !ends_by(more.error)) co_return no_more(patience);
      arrived_ = more.bytes;
    }
  }

 private:
  std::size_t longest_head() const { return pool_->options().header_limit_bytes + 1; }

  // A reply that ends with its connection has no other end.
  bool ends_by(IoError error) {
    if (error != asio::error::eof || !frame_.may_end_by_close()) return false;
    frame_ = BodyFrame::none();
    keep_alive_ = false;
    return true;
  }

  // Keeps the connection if it can be used again, and closes it otherwise.
  void end() {
    if (!wire_) return;
    const bool is_clean = frame_.has_ended() && keep_alive_ && begin_ == arrived_;
    if (is_clean)
      pool_->give_back(*server_, std::move(wire_));
    else
      wire_.reset();
  }

  tl::unexpected<Error> failed(std::string_view what, Errc code = Errc::upstream_failed) const {
    return tl::unexpected(
        Error{code, fmt::format("{}{}: {}", server_->route.origin.shown(), without_query(path_), what)});
  }

  // Once broken, always broken.
  tl::unexpected<Error> broken(std::string_view what) {
    wire_.reset();
    return failed(what);
  }

  tl::unexpected<Error> no_head(IoError error, std::chrono::milliseconds patience) {
    if (wire_->timed_out()) return failed("no reply within " + in_seconds(patience), Errc::timed_out);
    if (error == asio::error::operation_aborted) return failed("the request was given up");
    dead_ = arrived_ == 0;
    return dead_ ? failed("the server closed without a reply", Errc::io_failed)
                 : failed("the reply broke off");
  }

  tl::unexpected<Error> no_more(std::chrono::milliseconds patience) {
    const bool late = wire_->timed_out();
    wire_.reset();
    if (!late) return failed("the reply broke off");
    return failed("the reply stalled: nothing more came within " + in_seconds(patience), Errc::timed_out);
  }

  std::shared_ptr<Pool> pool_;
  std::shared_ptr<Server> server_;
  std::unique_ptr<Wire> wire_;
  std::string path_;
  Bytes buffer_;
  std::size_t begin_ = 0;    // of what arrived and was not handed out
  std::size_t arrived_ = 0;  // into the buffer
  ReplyHead head_;
  BodyFrame frame_ = BodyFrame::until_close();
  bool keep_alive_ = false;
  bool dead_ = false;
};

bool is_token(std::string_view text) {
  return !text.empty() && !has_control(text) && text.find_first_of(": \t") == std::string_view::npos;
}

Result<std::string> head_of(const HttpRequest& request, const Server& server, std::string_view path) {
  if (!is_token(request.method)) return fail(Errc::bad_input, "the method cannot be sent");
  const bool absolute = server.route.proxy && !server.route.origin.tls;
  std::string head;
  head.reserve(512);
  head.append(request.method).append(" ");
  if (absolute) head += server.route.origin.shown();
  head.append(target_of(path)).append(" HTTP/1.1\r\n").append(server.fields);
  bool has_authorization = server.route.origin.user_info.empty();
  for (const HttpHeader& header : request.headers) {
    if (!is_token(header.name) || has_control(header.value))
      return fail(Errc::bad_input, "the header '{}' cannot be sent",
                  has_control(header.name) ? "?" : header.name);
    has_authorization = has_authorization || base::to_lower_ascii(header.name) == "authorization";
    head.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  if (!has_authorization)
    head += "Authorization: " + basic_authorization(server.route.origin.user_info) + "\r\n";
  if (!request.body.empty() || request.method == "POST" || request.method == "PUT")
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", request.body.size());
  head += "\r\n";
  return head;
}

class Streams final : public HttpStreams {
 public:
  Streams(const asio::any_io_executor& executor, StreamOptions options)
      : pool_(std::make_shared<Pool>(executor, std::move(options))) {}

  Awaitable<Result<std::unique_ptr<HttpStream>>> open(HttpRequest request, Deadline deadline) override {
    const std::shared_ptr<Pool> pool = pool_;
    CO_TRY(const SplitUrl url, split_url(request.url));
    CO_TRY(const std::shared_ptr<Server> server, pool->server_at(url.front));
    CO_TRY(const std::string head, head_of(request, *server, url.path));
    if (deadline.passed())
      co_return fail(Errc::timed_out, "{}: no time was left to ask", server->route.origin.shown());
    // It may have been cancelled while another thread worked for it, and a wait would not notice.
    const auto state = co_await asio::this_coro::cancellation_state;
    if (state.cancelled() != asio::cancellation_type::none)
      co_return fail(Errc::io_failed, "{}: not asked, because the request was cancelled",
                     server->route.origin.shown());
    std::unique_ptr<Wire> wire = pool->take(*server);
    while (true) {
      const bool kept = wire != nullptr;
      if (!kept) {
        CO_TRY(wire, co_await pool->dialer().dial(server->route, deadline));
      }
      auto stream = std::make_unique<Stream>(pool, server, std::move(wire), std::string(url.path));
      auto done = co_await stream->exchange(head, request.body, request.method == "HEAD", deadline);
      if (done) co_return stream;
      if (!kept || !stream->was_dead()) co_return tl::unexpected(std::move(done).error());
      wire.reset();
    }
  }

 private:
  std::shared_ptr<Pool> pool_;
};

}  // namespace

std::unique_ptr<HttpStreams> make_streams(const asio::any_io_executor& executor, StreamOptions options) {
  return std::make_unique<Streams>(executor, std::move(options));
}

}  // namespace plimsoll::adapters
