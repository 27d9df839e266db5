#include "adapters/http/dial.hpp"

#include <array>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "adapters/http/reply_head.hpp"
#include "base/try.hpp"

namespace plimsoll::adapters {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Short enough to follow a server that moves; long enough that a burst of connections asks once.
constexpr std::chrono::seconds names_stay_known(30);
constexpr std::size_t most_known = 1000;
constexpr std::size_t proxy_head_limit = 16'384;

const Origin& first_stop(const Route& route) {
  return route.proxy ? *route.proxy : route.origin;
}

// Asking for a name cannot be stopped, only left alone: this lives until the answer is there, or whoever
// asked has gone, whichever is later.
struct Question {
  explicit Question(const asio::any_io_executor& executor) : resolver(executor), answered(executor) {}
  tcp::resolver resolver;
  asio::steady_timer answered;
  std::optional<IoError> error;
  std::vector<tcp::endpoint> endpoints;
};

// Names of this machine and numbers need nobody's help.
std::vector<tcp::endpoint> without_asking(const Origin& to) {
  IoError error;
  const auto address = asio::ip::make_address(to.host, error);
  if (!error) return {{address, to.port}};
  if (is_this_machine(to.host))
    return {{asio::ip::address_v4::loopback(), to.port}, {asio::ip::address_v6::loopback(), to.port}};
  return {};
}

Error connect_error(const Route& route, IoError error) {
  const std::string shown = route.origin.shown();
  const bool refused = error == asio::error::connection_refused;
  if (route.proxy)
    return {Errc::unreachable, fmt::format("{}: the proxy {} does not answer ({})", shown,
                                           route.proxy->shown(), error.message())};
  if (refused) return {Errc::unreachable, shown + ": nobody answers there (connection refused)"};
  return {Errc::unreachable, fmt::format("{}: no connection ({})", shown, error.message())};
}

Error tls_error(Wire& wire, const Route& route, IoError error) {
  const std::string shown = route.origin.shown();
  if (const std::string why = wire.refusal(); !why.empty())
    return {Errc::unreachable, fmt::format("{}: its certificate was refused ({})", shown, why)};
  return {Errc::unreachable, fmt::format("{}: no TLS connection ({})", shown, error.message())};
}

Error proxy_error(const Route& route, std::string_view what) {
  return {Errc::unreachable,
          fmt::format("{}: the proxy {} {}", route.origin.shown(), route.proxy->shown(), what)};
}

std::string connect_request(const Route& route, std::string_view agent) {
  const Origin& to = route.origin;
  const bool is_v6 = to.host.find(':') != std::string::npos;
  const std::string target = fmt::format(fmt::runtime(is_v6 ? "[{}]:{}" : "{}:{}"), to.host, to.port);
  std::string head = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\nUser-Agent: {1}\r\n", target, agent);
  if (!route.proxy->user_info.empty())
    head += "Proxy-Authorization: " + basic_authorization(route.proxy->user_info) + "\r\n";
  return head + "\r\n";
}

}  // namespace

std::string basic_authorization(std::string_view user_info) {
  const std::string both(user_info);
  return "Basic " + base64(both.find(':') == std::string::npos ? both + ":" : both);
}

std::string in_seconds(std::chrono::milliseconds time) {
  return time.count() % 1000 == 0 ? fmt::format("{} s", time.count() / 1000)
                                  : fmt::format("{:.1f} s", static_cast<double>(time.count()) / 1000);
}

Dialer::Dialer(asio::any_io_executor executor, std::shared_ptr<Watch> watch, Options options)
    : executor_(std::move(executor)), watch_(std::move(watch)), options_(std::move(options)) {}

Result<asio::ssl::context*> Dialer::trust() {
  if (trust_) return &*trust_;
  asio::ssl::context context(asio::ssl::context::tls_client);
  IoError error;
  SSL_CTX_set_min_proto_version(context.native_handle(), TLS1_2_VERSION);
  if (options_.certificates.empty())
    context.set_default_verify_paths(error);
  else
    context.load_verify_file(options_.certificates, error);
  if (error)
    return fail(Errc::unreachable, "the certificates of '{}' cannot be read ({})", options_.certificates,
                error.message());
  trust_.emplace(std::move(context));
  return &*trust_;
}

Awaitable<Result<Dialer::Endpoints>> Dialer::resolve(const Route& route, Deadline deadline) {
  const Origin& to = first_stop(route);
  if (Endpoints endpoints = without_asking(to); !endpoints.empty()) co_return endpoints;
  const std::string key = to.authority();
  if (const auto known = known_.find(key); known != known_.end()) {
    if (known->second.until > Deadline::Clock::now()) co_return known->second.endpoints;
    known_.erase(known);
  }
  const auto question = std::make_shared<Question>(executor_);
  question->resolver.async_resolve(to.host, std::to_string(to.port),
                                   [question](IoError error, const tcp::resolver::results_type& results) {
                                     question->error = error;
                                     for (const auto& result : results)
                                       question->endpoints.push_back(result.endpoint());
                                     question->answered.cancel();
                                   });
  question->answered.expires_at(deadline.moment());
  co_await question->answered.async_wait(asio::as_tuple(asio::use_awaitable));
  if (!question->error) co_return fail(Errc::timed_out, "{}: the name was not found in time", to.shown());
  if (*question->error || question->endpoints.empty())
    co_return fail(Errc::unreachable, "{}: no address is known for its name", to.shown());
  if (known_.size() >= most_known) known_.clear();
  known_[key] = {question->endpoints, Deadline::Clock::now() + names_stay_known};
  co_return question->endpoints;
}

Awaitable<Result<std::unique_ptr<Wire>>> Dialer::connect(const Route& route, Deadline deadline) {
  CO_TRY(const Endpoints endpoints, co_await resolve(route, deadline));
  IoError last;
  for (std::size_t i = 0; i < endpoints.size(); ++i) {
    // An address that swallows everything leaves time for the others.
    const auto share = deadline.left() / static_cast<int>(endpoints.size() - i);
    auto wire = std::make_unique<Wire>(executor_, watch_);
    last = co_await wire->connect(endpoints[i], Deadline::after(share));
    if (!last) co_return wire;
    if (last == asio::error::operation_aborted && !wire->timed_out()) break;  // nobody waits for it any more
    if (wire->timed_out() && deadline.left() <= std::chrono::milliseconds(1))
      co_return fail(Errc::timed_out, "{}: no connection in time", route.origin.shown());
  }
  known_.erase(first_stop(route).authority());
  co_return tl::unexpected(connect_error(route, last));
}

Awaitable<Result<void>> Dialer::pass_proxy(Wire& wire, const Route& route, Deadline deadline) {
  const std::string request = connect_request(route, options_.agent);
  if (const IoError error = co_await wire.write_rest(request, {}, 0, deadline))
    co_return tl::unexpected(proxy_error(route, "closed the connection"));
  std::vector<char> reply(proxy_head_limit);
  HeadReader reader(proxy_head_limit, true);
  std::size_t size = 0;
  std::size_t used = 0;
  for (HeadState state = HeadState::more; state != HeadState::whole;) {
    if (size == reply.size()) co_return tl::unexpected(proxy_error(route, "did not answer in HTTP"));
    const Wire::Arrived arrived = co_await wire.read(std::span(reply).subspan(size), deadline);
    if (arrived.error) co_return tl::unexpected(proxy_error(route, "closed the connection"));
    size += arrived.bytes;
    state = reader.read(std::span(reply).first(size), used);
    if (state != HeadState::more && state != HeadState::whole)
      co_return tl::unexpected(proxy_error(route, "did not answer in HTTP"));
  }
  const int status = reader.take().head.status;
  if (status / 100 != 2)
    co_return tl::unexpected(proxy_error(route, fmt::format("refuses to connect (status {})", status)));
  if (used != size) co_return tl::unexpected(proxy_error(route, "sent more than it should"));
  co_return Result<void>();
}

Awaitable<Result<std::unique_ptr<Wire>>> Dialer::dial(const Route& route, Deadline deadline) {
  const Deadline ours = Deadline::after(options_.patience);
  const Deadline sooner_one = sooner(ours, deadline);
  const bool by_patience = ours.moment() < deadline.moment();
  const auto late = [&] {
    return by_patience ? fail(Errc::unreachable, "{}: no connection within {}", route.origin.shown(),
                              in_seconds(options_.patience))
                       : fail(Errc::timed_out, "{}: no connection in time", route.origin.shown());
  };
  auto connected = co_await connect(route, sooner_one);
  if (!connected && connected.error().code == Errc::timed_out) co_return late();
  CO_TRY(std::unique_ptr<Wire> wire, std::move(connected));
  if (!route.origin.tls) co_return wire;
  if (route.proxy) {
    auto passed = co_await pass_proxy(*wire, route, sooner_one);
    if (wire->timed_out()) co_return late();
    CO_TRY_VOID(std::move(passed));
  }
  CO_TRY(asio::ssl::context * context, trust());
  const IoError error = co_await wire->start_tls(*context, route.origin.host, sooner_one);
  if (wire->timed_out()) co_return late();
  if (error) co_return tl::unexpected(tls_error(*wire, route, error));
  co_return wire;
}

}  // namespace plimsoll::adapters
