// A collection on a Weaviate server: everything that changes it.
#pragma once

#include <deque>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include "adapters/weaviate/nodes.hpp"
#include "adapters/weaviate/objects.hpp"

namespace plimsoll::weaviate {

class Collection {
 public:
  Collection(const Nodes& nodes, std::string name, std::size_t embedders)
      : nodes_(nodes), name_(std::move(name)), embedders_(embedders) {}

  const std::string& name() const { return name_; }

  enum class Condition : std::uint8_t { absent, unusable, usable };
  struct Found {
    Condition condition = Condition::absent;
    Progress progress;  // if it is usable
  };
  Result<Found> find() const;
  // Makes an empty collection and returns its progress. unreachable: there is one, which some node did not
  // know.
  Result<Progress> make(Revision revision) const;
  // The same after removing what there is. unreachable: not all nodes are there, and one of them may have the
  // data that is missing.
  Result<Progress> make_anew(Revision revision) const;
  Result<void> remove() const;

  // Sends the objects again that the server could not store, a bounded number of times.
  Result<void> put(std::vector<WrittenObject> objects) const;
  Result<void> note(const Progress& progress) const;

  struct Erased {
    std::int64_t chunks = 0, words = 0;
  };
  // Removes chunks, whether they are there or not.
  Result<Erased> erase(std::span<const Removed> ranges) const;

  // Chunks, as the server counts them.
  Result<std::int64_t> count() const;

 private:
  Result<Erased> erase_some(std::span<const Removed> ranges) const;
  Result<void> erase_matching(const std::string& body) const;
  Result<std::vector<std::string>> send(const std::vector<WrittenObject>& objects,
                                        std::string& problem) const;
  bool is_replicated() const { return nodes_.options().address.replication > 1; }

  const Nodes& nodes_;
  std::string name_;
  std::size_t embedders_;
};

// Collects objects to batches and sends some at the same time.
class BatchSender {
 public:
  BatchSender(const Collection& collection, const Options& options)
      : collection_(collection), options_(options) {}

  Result<void> add(WrittenObject object);
  // Returns when everything is stored.
  Result<void> finish();

 private:
  Result<void> send();
  Result<void> wait_for(std::size_t most);  // batches on their way

  const Collection& collection_;
  const Options& options_;
  std::vector<WrittenObject> batch_;
  std::size_t bytes_ = 0;
  std::deque<std::future<Result<void>>> sent_;
};

}  // namespace plimsoll::weaviate
