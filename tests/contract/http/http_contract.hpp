// What HttpClient and HttpStreams promise alike, as tests. An adapter's own test file gives a way to send one
// request, as in contract/store/store_contract.hpp.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "adapters/http/loopback_server.hpp"
#include "plimsoll/http.hpp"

namespace plimsoll {

// Sends requests and returns whole replies.
using HttpSend = std::function<Result<HttpReply>(const HttpRequest& request, Deadline deadline)>;

struct HttpMaker {
  std::string name;
  std::function<HttpSend()> make;
};

class HttpContract : public testing::TestWithParam<HttpMaker> {
 protected:
  Result<HttpReply> get(const std::string& url,
                        std::chrono::milliseconds patience = std::chrono::seconds(10));
  void expect_error(const Result<HttpReply>& reply, Errc code);

  HttpSend send_ = GetParam().make();
};

}  // namespace plimsoll
