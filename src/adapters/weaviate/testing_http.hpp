// A server of the tests: answers by a function, and remembers what it was asked.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "plimsoll/http.hpp"

namespace plimsoll::weaviate {

class ScriptedHttp final : public HttpClient {
 public:
  using Reply = std::function<Result<HttpReply>(const HttpRequest& request)>;
  explicit ScriptedHttp(Reply reply) : reply_(std::move(reply)) {}

  Result<HttpReply> send(const HttpRequest& request, Deadline) override {
    const std::lock_guard lock(mutex_);
    asked.push_back(request);
    return reply_(request);
  }

  std::vector<HttpRequest> asked;

 private:
  std::mutex mutex_;
  Reply reply_;
};

}  // namespace plimsoll::weaviate
