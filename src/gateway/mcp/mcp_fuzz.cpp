// Any lines from a client: each is answered with one line of well-formed JSON-RPC, or with nothing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "base/log.hpp"
#include "gateway/mcp/mcp_lines.hpp"
#include "gateway/mcp/mcp_tools.hpp"

namespace {

using namespace plimsoll;
using namespace plimsoll::gateway;

void check_reply(const Json& reply) {
  if (reply.is_array()) {
    if (reply.empty()) std::abort();
    for (const Json& one : reply) check_reply(one);
    return;
  }
  if (!reply.is_object() || reply["jsonrpc"] != "2.0" || !reply.contains("id")) std::abort();
  if (reply.contains("result") == reply.contains("error")) std::abort();
  if (reply.contains("error") && !reply["error"]["code"].is_number_integer()) std::abort();
}

const McpServer& server() {
  static const ModelCatalogue catalogue = *ModelCatalogue::built_in();
  // No tokenizers: the code that a client's bytes can reach does not need one.
  static const TokenizerLibrary tokenizers("/nonexistent", "/nonexistent");
  static const McpServer made = [] {
    log::start(log::Level::off, log::Format::text);
    const auto empty = std::filesystem::temp_directory_path() / "plimsoll-mcp-fuzz";
    std::filesystem::create_directories(empty);
    return make_mcp_server({&catalogue, &tokenizers, *RootedFiles::below(empty), {}}, "0");
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  McpSession session;
  McpLines lines(
      4096,
      [&](std::string_view line) {
        const auto reply = answer_mcp(server(), session, line);
        if (!reply) return;
        if (reply->text.find('\n') != std::string::npos) std::abort();
        check_reply(Json::parse(reply->text));
      },
      [&] { check_reply(Json::parse(answer_mcp_too_long(4096))); });
  lines.feed({reinterpret_cast<const char*>(data), size});
  lines.finish();
  return 0;
}
