// A reply that is buffered, to be converted into another one.
#pragma once

#include <string>

#include "gateway/http/http_server.hpp"

namespace plimsoll::gateway {

class HeldReply final : public ClientReply {
 public:
  Awaitable<Result<void>> head(const AnswerHead& head) override {
    said = head;
    begun_ = true;
    co_return Result<void>();
  }
  Awaitable<Result<void>> body(std::string_view bytes) override {
    text += bytes;
    co_return Result<void>();
  }
  bool is_begun() const override { return begun_; }

  AnswerHead said;
  std::string text;

 private:
  bool begun_ = false;
};

}  // namespace plimsoll::gateway
