// That a gateway uses the store, as a lock on the server that ends with the gateway, however it ends.
#pragma once

#include <cstdint>
#include <memory>

#include "adapters/postgres/options.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::postgres {

class Connection;

class Presence {
 public:
  // Has a connection of its own.
  static Result<std::unique_ptr<Presence>> take(const Options& options);
  Presence(const Presence&) = delete;
  Presence& operator=(const Presence&) = delete;
  ~Presence();

  // Whether no other gateway used the store when this was taken. Others wait until it is shared.
  bool is_alone() const { return is_alone_; }
  Result<void> share();

 private:
  Presence(std::unique_ptr<Connection> connection, std::int64_t key);

  std::unique_ptr<Connection> connection_;
  std::int64_t key_;
  bool is_alone_ = false;
};

}  // namespace plimsoll::postgres
