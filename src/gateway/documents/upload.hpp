// Adds uploaded files to an index: a bounded queue, and one thread for each owner with waiting jobs.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/caller.hpp"
#include "gateway/http/worker_pool.hpp"
#include "gateway/mcp/mcp.hpp"
#include "library/collections.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll::gateway {

struct UploadRules {
  std::size_t jobs = 32;  // waiting or running
  std::size_t bytes = std::size_t{256} << 20;
  std::int64_t kept = 1'000;  // jobs of one owner
};

struct UploadAsk {
  engine::Caller caller;
  std::string index;
  Metadata metadata;
  std::shared_ptr<const std::string> body;  // contains the files' bytes
  std::vector<library::GivenFile> files;
};

// Thread-safe. Collections and store must outlive it.
class Uploads {
 public:
  Uploads(library::Collections& collections, SessionStore& store, UploadRules rules);
  Uploads(const Uploads&) = delete;
  Uploads& operator=(const Uploads&) = delete;
  // Stops running jobs after their current document; unfinished jobs are marked.
  ~Uploads();

  struct Accepted {
    std::string job;  // empty: not accepted
    int status = 202;
    std::string why;
  };
  // Blocks until the job, but not its documents, is on disk.
  Accepted accept(UploadAsk ask);

  // Returns {job_id, status, stage, documents, warnings, errors, ...}. not_found: the owner has no such job.
  Result<Json> shown(const std::string& owner, const std::string& job) const;
  bool is_over(const std::string& job) const;
  bool are_under_way() const;

 private:
  struct Job;
  void work(const std::shared_ptr<Job>& job);
  void put_all(Job& job);
  void forget(const Job& job);

  library::Collections& collections_;
  SessionStore& store_;
  UploadRules rules_;
  std::atomic<bool> stopping_ = false;
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, std::shared_ptr<Job>> live_;
  struct Share {
    std::size_t jobs = 0, bytes = 0;
  };
  Share taken_;                         // by active jobs
  std::map<std::string, Share> owned_;  // by owner
  // Embedding uses all cores: one job per owner at a time; jobs of other owners run in parallel. There are
  // never more owners than jobs.
  WorkerPool pool_{{.threads = rules_.jobs, .per_owner = 1, .is_background = true}};
};

}  // namespace plimsoll::gateway
