// Puts load on a server of chats, and counts what comes back.
//
//   gateway_load PORT PATH BODIES CONNECTIONS REQUESTS SECONDS [KEY]
//
// BODIES is a file with one request's body a line, taken in turn; KEY is sent with each. Prints JSON. An
// incomplete reply, a status other than 200, and no reply within SECONDS are errors.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
constexpr auto token = asio::as_tuple(asio::use_awaitable);

struct Run {
  tcp::endpoint server;
  std::vector<std::string> requests;
  std::size_t wanted = 0;
  std::size_t begun = 0;
  std::size_t whole = 0;
  std::size_t events = 0;
  std::size_t arrivals = 0;  // reads that brought something
  std::vector<double> milliseconds{};
  std::string first_problem{};
};

// Reads one reply piece by piece. A body without length and chunks is none that a client can go on after.
class Reply {
 public:
  bool is_whole() const { return stage_ == Stage::whole; }
  bool is_good() const { return is_whole() && status_ok_; }
  std::size_t events() const { return events_; }
  const std::string& held() const { return held_; }

  void take(std::string_view bytes) {
    held_ += bytes;
    if (stage_ == Stage::head && !take_head()) return;
    if (stage_ == Stage::length && held_.size() >= left_) stage_ = Stage::whole;
    if (stage_ == Stage::chunks) take_chunks();
  }

 private:
  enum class Stage { head, length, chunks, whole };

  bool take_head() {
    const std::size_t end = held_.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    std::string head = held_.substr(0, end + 2);
    std::ranges::transform(head, head.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    status_ok_ = head.starts_with("http/1.1 200 ");
    constexpr std::string_view name = "\r\ncontent-length: ";
    if (const std::size_t at = head.find(name); at != std::string::npos) {
      std::from_chars(head.data() + at + name.size(), head.data() + head.size(), left_);
      stage_ = Stage::length;
    } else {
      stage_ = Stage::chunks;
    }
    held_.erase(0, end + 4);
    return true;
  }

  void take_chunks() {
    std::size_t at = 0;
    while (true) {
      const std::size_t line = held_.find("\r\n", at);
      if (line == std::string::npos) break;
      std::size_t size = 0;
      std::from_chars(held_.data() + at, held_.data() + line, size, 16);
      if (held_.size() < line + 2 + size + 2) break;
      count_events(std::string_view(held_).substr(line + 2, size));
      at = line + 2 + size + 2;
      if (size > 0) continue;
      stage_ = Stage::whole;
      return;
    }
    held_.erase(0, at);
  }

  void count_events(std::string_view body) {
    for (std::size_t at = body.find("data: "); at != std::string_view::npos; at = body.find("data: ", at + 6))
      ++events_;
  }

  Stage stage_ = Stage::head;
  bool status_ok_ = false;
  std::string held_;
  std::size_t left_ = 0;
  std::size_t events_ = 0;
};

void note(Run& run, std::string problem) {
  if (run.first_problem.empty()) run.first_problem = std::move(problem);
}

// One request after the other on one connection; a broken one is replaced.
asio::awaitable<void> ask(Run& run, asio::io_context& loop) {
  std::vector<char> buffer(65'536);
  tcp::socket socket(loop);
  while (run.begun < run.wanted) {
    const std::string& request = run.requests[run.begun++ % run.requests.size()];
    if (!socket.is_open()) {
      const auto [error] = co_await socket.async_connect(run.server, token);
      if (error) {
        note(run, "connecting: " + error.message());
        socket = tcp::socket(loop);
        continue;
      }
      socket.set_option(tcp::no_delay(true));
    }
    const auto began = Clock::now();
    Reply reply;
    const auto [unsent, written] = co_await asio::async_write(socket, asio::buffer(request), token);
    boost::system::error_code error = unsent;
    while (!error && !reply.is_whole()) {
      const auto [unread, n] = co_await socket.async_read_some(asio::buffer(buffer), token);
      error = unread;
      reply.take({buffer.data(), n});
      ++run.arrivals;
    }
    run.events += reply.events();
    if (reply.is_good()) {
      ++run.whole;
      run.milliseconds.push_back(std::chrono::duration<double, std::milli>(Clock::now() - began).count());
    } else {
      note(run, error ? error.message() : reply.held().substr(0, 300));
    }
    if (error) socket = tcp::socket(loop);
  }
}

std::vector<std::string> read_requests(const char* path, const char* file, std::string_view key) {
  std::vector<std::string> requests;
  std::ifstream lines(file);
  for (std::string body; std::getline(lines, body);)
    requests.push_back(
        fmt::format("POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAuthorization: "
                    "Bearer {}\r\n"
                    "Content-Length: {}\r\n\r\n{}",
                    path, key, body.size(), body));
  return requests;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else
      out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  return out + "\"";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 7 && count != 8) {
    std::cerr << "usage: gateway_load PORT PATH BODIES CONNECTIONS REQUESTS SECONDS [KEY]\n";
    return 2;
  }
  Run run;
  run.server = {asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(std::stoi(arguments[1]))};
  run.requests = read_requests(arguments[2], arguments[3], count == 8 ? arguments[7] : "none");
  run.wanted = std::stoul(arguments[5]);
  if (run.requests.empty()) {
    std::cerr << "gateway_load: " << arguments[3] << " holds no request\n";
    return 2;
  }
  asio::io_context loop(1);
  for (int i = 0; i < std::stoi(arguments[4]); ++i) asio::co_spawn(loop, ask(run, loop), asio::detached);
  const auto began = Clock::now();
  loop.run_for(std::chrono::seconds(std::stoi(arguments[6])));
  const double seconds = std::chrono::duration<double>(Clock::now() - began).count();
  std::ranges::sort(run.milliseconds);
  const auto at = [&](double share) {
    if (run.milliseconds.empty()) return 0.0;
    return run
        .milliseconds[static_cast<std::size_t>(share * static_cast<double>(run.milliseconds.size() - 1))];
  };
  std::cout
      << fmt::format(
             R"({{"requests":{},"errors":{},"events":{},"arrivals":{},"seconds":{:.3f},"p50_ms":{:.3f},"p99_ms":{:.3f},"problem":{}}})",
             run.wanted, run.wanted - run.whole, run.events, run.arrivals, seconds, at(0.5), at(0.99),
             quoted(run.first_problem))
      << "\n";
}
