// One change of an index at a time among all gateways, also where it takes several calls of the store.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "adapters/postgres/options.hpp"
#include "plimsoll/result.hpp"

namespace plimsoll::postgres {

class Connection;

// Thread-safe. Has connections of its own, one for each turn that is taken at the same time: a turn that held
// one of the pool could wait for ever for another.
class IndexTurns : public std::enable_shared_from_this<IndexTurns> {
 public:
  // Connects when a turn is taken.
  static std::shared_ptr<IndexTurns> make(const Options& options);
  IndexTurns(const IndexTurns&) = delete;
  IndexTurns& operator=(const IndexTurns&) = delete;
  ~IndexTurns();

  // Waits for the turn of this index, and returns it. It ends when it is destroyed, or when the gateway is
  // killed. unreachable: the server is away, or others took their turns for too long.
  Result<std::shared_ptr<const void>> take(std::string_view owner, std::string_view name);

 private:
  class Turn;

  explicit IndexTurns(const Options& options);
  std::unique_ptr<Connection> idle_connection();

  const Options options_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace plimsoll::postgres
