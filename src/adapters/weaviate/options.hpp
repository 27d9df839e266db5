// How indexes on Weaviate are opened.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "adapters/weaviate/address.hpp"

namespace plimsoll::weaviate {

struct Options {
  Address address;
  std::string store;  // identity of the store: different stores never share a collection
  // Returns when no other process changes this index, and keeps it so until the result is destroyed. Empty:
  // there is no other process.
  std::function<Result<std::shared_ptr<const void>>()> turn{};
  std::chrono::milliseconds search{10'000};    // for the reply to a search
  std::chrono::milliseconds one_node{4'000};   // for one node's reply to a search if there are others
  std::chrono::milliseconds write{60'000};     // for the reply to a batch
  std::chrono::milliseconds first_pause{250};  // before a batch is sent again; doubles each time
  std::chrono::milliseconds away{5'000};       // a node that did not answer is asked last for so long
  int most_tries = 5;                          // for one batch
  int most_looks = 5;                          // for one search, while the answers lack chunks
  std::size_t batch_objects = 256;
  std::size_t batch_bytes = std::size_t{4} << 20;
  std::size_t lanes = 2;  // batches on their way at a time
  // The progress of an import is noted on the server after so many objects.
  std::size_t checkpoint_objects = 10'000;
};

}  // namespace plimsoll::weaviate
