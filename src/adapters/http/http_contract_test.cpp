// Both ways to send requests keep the same promises.
#include <boost/asio/io_context.hpp>

#include "adapters/http/awaiting.hpp"
#include "adapters/http/curl_client.hpp"
#include "adapters/http/streams.hpp"
#include "contract/http/http_contract.hpp"

namespace plimsoll {
namespace {

// Reads whole replies of streams, on a thread of its own.
class WholeStreams {
 public:
  Result<HttpReply> send(HttpRequest request, Deadline deadline) {
    auto opened = adapters::wait_for(io_, streams_->open(std::move(request), deadline));
    if (!opened) return tl::unexpected(opened.error());
    HttpReply reply{(*opened)->head().status, std::string((*opened)->head().header("location")), {}};
    while (true) {
      const auto bytes = adapters::wait_for(io_, (*opened)->read(deadline));
      if (!bytes) return tl::unexpected(bytes.error());
      if (bytes->empty()) return reply;
      reply.body += *bytes;
    }
  }

 private:
  boost::asio::io_context io_{1};
  std::unique_ptr<HttpStreams> streams_ = adapters::make_streams(io_.get_executor(), {});
};

HttpSend curl() {
  return [client = std::make_shared<adapters::CurlClient>("plimsoll/test")](
             const HttpRequest& request, Deadline deadline) { return client->send(request, deadline); };
}

HttpSend streams() {
  return [whole = std::make_shared<WholeStreams>()](const HttpRequest& request, Deadline deadline) {
    return whole->send(request, deadline);
  };
}

INSTANTIATE_TEST_SUITE_P(Http, HttpContract,
                         testing::Values(HttpMaker{"Curl", curl}, HttpMaker{"Streams", streams}),
                         [](const auto& made) { return made.param.name; });

}  // namespace
}  // namespace plimsoll
