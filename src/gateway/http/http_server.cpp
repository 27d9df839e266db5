#include "gateway/http/http_server.hpp"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "base/log.hpp"
#include "base/try.hpp"
#include "gateway/http/connection.hpp"
#include "gateway/http/tls.hpp"

namespace plimsoll::gateway {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// Connections above max_connections that get an error at once. Further ones are closed without an answer.
constexpr std::size_t most_turned_away = 64;

// The first thread accepts connections and distributes them in turn.
class Server final : public HttpServer {
 public:
  Server(const ServerOptions& options, std::unique_ptr<asio::ssl::context> tls, const ThreadMaker& maker,
         Handler handler)
      : options_(options),
        tls_(std::move(tls)),
        maker_(maker),
        handler_(std::move(handler)),
        memory_(options.memory ? options.memory : std::make_shared<MemoryBudget>(options.max_memory)),
        workers_(options.worker_threads) {
    for (std::size_t i = 0; i < options.io_threads; ++i) {
      server_threads_.push_back(std::make_unique<ServerThread>(maker_, workers_));
      contexts_.push_back(std::make_unique<ConnectionContext>(ConnectionContext{
          *server_threads_.back(), options_, handler_, tls_.get(), *memory_, connections_, draining_}));
    }
    acceptor_ = std::make_unique<tcp::acceptor>(server_threads_.front()->loop());
  }

  ~Server() override { drain(); }

  Result<void> listen() {
    boost::system::error_code error;
    const auto address = asio::ip::make_address(options_.address, error);
    const auto refused = [&](const char* what) {
      return fail(Errc::io_failed, "cannot {} {}:{}: {}", what, options_.address, options_.port,
                  error.message());
    };
    if (error)
      return fail(Errc::bad_input,
                  "'{}' is not an address to listen on; use 127.0.0.1 or ::1 for this machine only",
                  options_.address);
    const tcp::endpoint endpoint(address, options_.port);
    if (options_.listening >= 0) {
      acceptor_->assign(endpoint.protocol(), ::dup(options_.listening), error);
      if (error) return refused("continue listening on");
    } else {
      acceptor_->open(endpoint.protocol(), error);
      if (!error) acceptor_->set_option(tcp::acceptor::reuse_address(true), error);
      if (error) return refused("open a socket for");
      acceptor_->bind(endpoint, error);
      if (error) return refused("listen on");
      acceptor_->listen(asio::socket_base::max_listen_connections, error);
      if (error) return refused("listen on");
    }
    memory_->set_limit(options_.max_memory);
    port_ = acceptor_->local_endpoint().port();
    accepting_ = true;
    asio::co_spawn(server_threads_.front()->loop(), accept(), asio::detached);
    for (std::size_t i = 0; i < server_threads_.size(); ++i)
      asio::co_spawn(server_threads_[i]->loop(), sweep(*server_threads_[i], *contexts_[i]), asio::detached);
    for (const auto& thread : server_threads_)
      threads_.emplace_back([&loop = thread->loop()] { loop.run(); });
    return {};
  }

  std::uint16_t port() const override { return port_; }
  int listening() const override { return acceptor_->native_handle(); }
  std::shared_ptr<MemoryBudget> memory() const override { return memory_; }
  std::size_t connections() const override { return connections_; }
  bool is_draining() const override { return draining_ && !accepting_; }

  bool drain() override {
    if (draining_.exchange(true)) return true;
    asio::post(server_threads_.front()->loop(), [this] {
      boost::system::error_code ignored;
      acceptor_->close(ignored);
    });
    for (std::size_t i = 0; i < server_threads_.size(); ++i)
      asio::post(server_threads_[i]->loop(), [&context = *contexts_[i], &thread = *server_threads_[i]] {
        for (Connection* connection : context.open) connection->close_if_idle();
        thread.release();
      });
    const auto end = std::chrono::steady_clock::now() + options_.drain;
    while ((accepting_ || connections_ > 0) && std::chrono::steady_clock::now() < end)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (connections_ > 0) log::warning("requests cut off", {{"connections", connections_.load()}});
    for (std::size_t i = 0; i < server_threads_.size(); ++i)
      asio::post(server_threads_[i]->loop(), [&context = *contexts_[i]] {
        for (Connection* connection : context.open) connection->close();
      });
    const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    while (connections_ > 0 && std::chrono::steady_clock::now() < last)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    for (const auto& thread : server_threads_) thread->loop().stop();
    for (std::thread& thread : threads_) thread.join();
    workers_.stop();
    return workers_.wait_until_idle(std::chrono::steady_clock::now() + std::chrono::seconds(1));
  }

 private:
  Awaitable<void> accept() {
    for (std::size_t next = 0;; ++next) {
      const std::size_t turn = next % server_threads_.size();
      auto [error, socket] = co_await acceptor_->async_accept(server_threads_[turn]->loop(),
                                                              asio::as_tuple(asio::use_awaitable));
      if (error && !acceptor_->is_open()) break;
      if (error) {  // most likely too many open files: wait until some are closed
        log::warning("cannot accept a connection", {{"why", error.message()}});
        co_await server_threads_.front()->pause(std::chrono::milliseconds(100));
        continue;
      }
      const std::size_t others = connections_.load();
      if (others >= options_.max_connections + most_turned_away) continue;  // closed at once
      const bool is_welcome = others < options_.max_connections;
      connections_.fetch_add(1);
      asio::post(server_threads_[turn]->loop(),
                 [this, turn, is_welcome, held = std::make_shared<tcp::socket>(std::move(socket))] {
                   begin(turn, *held, is_welcome);
                 });
    }
    accepting_ = false;
  }

  void begin(std::size_t turn, tcp::socket& socket, bool is_welcome) {
    auto connection = std::make_unique<Connection>(std::move(socket), *contexts_[turn], is_welcome);
    // The signal must outlive the last step of its coroutine, so it is destroyed one loop turn later.
    auto& loop = server_threads_[turn]->loop();
    auto line = connection->line();
    auto gone = line->gone().slot();
    asio::co_spawn(
        loop, run(std::move(connection)),
        asio::bind_cancellation_slot(gone, [&loop, line = std::move(line)](const std::exception_ptr&) {
          asio::post(loop, [line] {});
        }));
  }

  // Ends waits on slow clients, at most a quarter of a deadline late.
  static Awaitable<void> sweep(ServerThread& thread, ConnectionContext& context) {
    const auto step =
        std::clamp(context.options.idle / 4, std::chrono::milliseconds(10), std::chrono::milliseconds(1'000));
    while (true) {
      co_await thread.pause(step);
      const auto now = ClientLine::Clock::now();
      for (Connection* connection : context.open) connection->sweep(now);
    }
  }

  static Awaitable<void> run(std::unique_ptr<Connection> connection) {
    try {
      co_await connection->run();
    } catch (const std::exception& bug) {
      log::error("a connection ended by an exception", {{"what", bug.what()}});
    }
  }

  ServerOptions options_;
  std::unique_ptr<asio::ssl::context> tls_;
  ThreadMaker maker_;
  Handler handler_;
  std::shared_ptr<MemoryBudget> memory_;
  std::atomic<std::size_t> connections_ = 0;
  std::atomic<bool> draining_ = false;
  std::atomic<bool> accepting_ = false;
  std::vector<std::unique_ptr<ConnectionContext>>
      contexts_;  // before the loops, which may still have connections when they end
  std::vector<std::unique_ptr<ServerThread>> server_threads_;
  std::unique_ptr<tcp::acceptor> acceptor_;
  WorkerPools workers_;  // its work ends before the loops that it returns to
  std::uint16_t port_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(const ServerOptions& options, const ThreadMaker& maker,
                                                      Handler handler) {
  std::unique_ptr<asio::ssl::context> tls;
  if (!options.tls_certificate.empty() || !options.tls_key.empty()) {
    TRY(tls, make_tls(options.tls_certificate, options.tls_key));
  }
  auto server = std::make_unique<Server>(options, std::move(tls), maker, std::move(handler));
  TRY_VOID(server->listen());
  return server;
}

}  // namespace plimsoll::gateway
