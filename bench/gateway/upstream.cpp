// A server of models that answers at once, for measuring what stands before it.
//
//   gateway_upstream PORT
//
// Chat completions of 600 bytes, or streams of 50 chunks where a request has "stream":true, back to back or,
// with "user":"paced", one every 2 ms. The "seed" of a request comes back as usage.prompt_tokens, so that a
// gateway that compares plan and usage can be given the right number; without a seed there is no usage.
#include <charconv>
#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
constexpr auto token = asio::as_tuple(asio::use_awaitable);

constexpr int chunks = 50;
constexpr std::size_t answer_bytes = 600;
constexpr std::chrono::milliseconds pace{2};
constexpr std::string_view models =
    R"({"object":"list","data":[{"id":"gpt-4o-mini","object":"model","created":1715367049,"owned_by":"system"},)"
    R"({"id":"gpt-4","object":"model","created":1687882411,"owned_by":"openai"}]})";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string usage_of(std::string_view body) {
  constexpr std::string_view name = "\"seed\":";
  const std::size_t at = body.find(name);
  if (at == std::string_view::npos) return {};
  int prompt = 0;
  std::from_chars(body.data() + at + name.size(), body.data() + body.size(), prompt);
  return fmt::format(R"("usage":{{"prompt_tokens":{},"completion_tokens":50,"total_tokens":{}}})", prompt,
                     prompt + 50);
}

std::string with_length(std::string_view body) {
  return fmt::format(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: "
      "keep-alive\r\n\r\n{}",
      body.size(), body);
}

std::string answer(std::string_view body) {
  const std::string usage = usage_of(body);
  std::string text =
      R"({"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"gpt-4o-mini",)" + usage +
      (usage.empty() ? "" : ",") + R"("choices":[{"index":0,"message":{"role":"assistant","content":")";
  constexpr std::string_view tail = R"("},"logprobs":null,"finish_reason":"stop"}]})";
  while (text.size() + tail.size() < answer_bytes) text += "aye, aye "[text.size() % 9];
  text += tail;
  return with_length(text);
}

std::string event(std::string_view data) {
  return fmt::format("{:x}\r\ndata: {}\n\n\r\n", data.size() + 8, data);
}

std::string chunk(std::string_view rest) {
  return event(fmt::format(
      R"({{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"gpt-4o-mini",{}}})",
      rest));
}

asio::awaitable<bool> send(tcp::socket& socket, std::string text) {
  const auto [error, written] = co_await asio::async_write(socket, asio::buffer(text), token);
  co_return !error;
}

asio::awaitable<bool> stream(tcp::socket& socket, std::string_view body) {
  const std::string usage = usage_of(body);
  const bool paced = has(body, R"("user":"paced")");
  asio::steady_timer timer(socket.get_executor(), std::chrono::steady_clock::now());
  std::string head =
      "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (int i = 0; i < chunks; ++i) {
    std::string one = chunk(fmt::format(
        R"("choices":[{{"index":0,"delta":{{"content":" word{:02}"}},"logprobs":null,"finish_reason":null}}])",
        i));
    one = std::exchange(head, {}) + one;
    if (!co_await send(socket, std::move(one))) co_return false;
    if (!paced) continue;
    timer.expires_at(timer.expiry() + pace);
    co_await timer.async_wait(token);
  }
  std::string end = chunk(R"("choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}])");
  if (!usage.empty()) end += chunk(R"("choices":[],)" + usage);
  end += event("[DONE]") + "0\r\n\r\n";
  co_return co_await send(socket, std::move(end));
}

// The length of the body that a head announces.
std::size_t length_of(std::string_view head) {
  for (const std::string_view name : {"\r\nContent-Length: ", "\r\ncontent-length: "}) {
    const std::size_t at = head.find(name);
    if (at == std::string_view::npos) continue;
    std::size_t length = 0;
    std::from_chars(head.data() + at + name.size(), head.data() + head.size(), length);
    return length;
  }
  return 0;
}

asio::awaitable<void> serve(tcp::socket socket) {
  std::string held;
  while (true) {
    std::size_t head = std::string::npos, whole = 0;
    while (head == std::string::npos || held.size() < whole) {
      const std::size_t before = held.size();
      held.resize(before + 65'536);
      const auto [error, n] =
          co_await socket.async_read_some(asio::buffer(held.data() + before, 65'536), token);
      held.resize(before + n);
      if (error) co_return;
      if (head == std::string::npos) head = held.find("\r\n\r\n");
      if (head != std::string::npos) whole = head + 4 + length_of(std::string_view(held).substr(0, head + 2));
    }
    const std::string_view body = std::string_view(held).substr(head + 4, whole - head - 4);
    bool open = false;
    if (has(body, "\"stream\":true")) {
      open = co_await stream(socket, body);
    } else {
      std::string reply = held.starts_with("GET ") ? with_length(models) : answer(body);
      open = co_await send(socket, std::move(reply));
    }
    if (!open) co_return;
    held.erase(0, whole);
  }
}

asio::awaitable<void> listen(tcp::acceptor& acceptor) {
  while (true) {
    auto [error, socket] = co_await acceptor.async_accept(token);
    if (error) continue;
    socket.set_option(tcp::no_delay(true));
    asio::co_spawn(acceptor.get_executor(), serve(std::move(socket)), asio::detached);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: gateway_upstream PORT\n";
    return 2;
  }
  asio::io_context loop(1);
  tcp::acceptor acceptor(
      loop, {asio::ip::make_address("127.0.0.1"), static_cast<std::uint16_t>(std::stoi(arguments[1]))});
  asio::co_spawn(loop, listen(acceptor), asio::detached);
  loop.run();
}
