// A cache of what was found about each model at each upstream, with expiry.
//
// If several threads need the same model, one asks and the others wait for its answer. A failure is cached
// for a short time only. A hit takes a shared lock, allocates nothing and costs well under a microsecond
// (window_cache_bench). Thread-safe.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plimsoll/deadline.hpp"
#include "plimsoll/window.hpp"

namespace plimsoll::models {

// The window and other properties of a served model.
struct ModelReport {
  Window window;
  ReportedModel served;  // from the server or the file; its name is empty if neither answered
  std::optional<ServerKind> kind;
  bool failed = false;  // a server was asked without result: ask again soon
  bool silent = false;  // it did not answer at all: ask again within seconds
};

class WindowCache {
 public:
  using Clock = std::chrono::steady_clock;
  using Found = std::shared_ptr<const ModelReport>;
  struct Times {
    std::chrono::seconds believed{3600};
    std::chrono::seconds failure_believed{30};  // never longer than `believed`
    std::chrono::seconds default_believed{10};  // the same, if only a default was found
    std::chrono::seconds silence_believed{2};   // the same: the server may be starting
  };
  struct Entry {
    std::string upstream;
    std::string model;
    Found found;
    Clock::duration age;
  };

  explicit WindowCache(Times times, std::function<Clock::time_point()> now = Clock::now);

  // Null: no entry, or only an expired or unconfirmed one.
  Found find(std::string_view upstream, std::string_view model) const;

  // Returns the cached entry or the result of `ask`, which runs without locks. If the server does not answer,
  // an unconfirmed entry is returned instead of the failure. Null only if another thread is asking and has no
  // answer by the deadline, or threw an exception.
  Found get(std::string_view upstream, std::string_view model, Deadline deadline,
            const std::function<ModelReport()>& ask);

  // Stores an entry found some time ago; ignored if it is too old.
  void put(std::string_view upstream, std::string_view model, Found found, Clock::duration age = {});

  // Stores an entry of an earlier run. The server is still asked at the first request, and its answer wins;
  // the entry is used only while the server does not answer.
  void put_unconfirmed(std::string_view upstream, std::string_view model, Found found, Clock::duration age);

  // Call when the server answers again: removes a cached failure, so that it is asked again at once.
  void forget_failure(std::string_view upstream, std::string_view model);
  // The same, only if it had not answered at all.
  void forget_silence(std::string_view upstream, std::string_view model);

  // Removes an entry that was found at least this long ago, so that the server is asked again. False: there
  // is none.
  bool forget_if_older(std::string_view upstream, std::string_view model, Clock::duration age);
  // Forgets a model of all upstreams.
  void forget(std::string_view model);
  // Forgets everything. A running request still answers its waiting threads, but its result is not
  // cached.
  void clear();

  std::vector<Entry> entries() const;

 private:
  struct Key {
    std::string upstream;
    std::string model;
  };
  struct KeyView {
    std::string_view upstream;
    std::string_view model;
  };
  struct Hash {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    std::size_t operator()(KeyView key) const {
      const std::hash<std::string_view> hash;
      return hash(key.model) * 31 + hash(key.upstream);
    }
    std::size_t operator()(const Key& key) const { return (*this)(KeyView{key.upstream, key.model}); }
  };
  struct Same {
    using is_transparent = void;  // NOLINT(readability-identifier-naming): the library's name
    static KeyView view(const Key& key) { return {key.upstream, key.model}; }
    static KeyView view(KeyView key) { return key; }
    bool operator()(const auto& a, const auto& b) const {
      return view(a).model == view(b).model && view(a).upstream == view(b).upstream;
    }
  };
  struct Stored {
    Found found;
    Clock::time_point since;
    Clock::time_point until;
    Clock::time_point ask_again;  // never after `until`
  };
  // One running request.
  struct Flight {
    std::mutex mutex;
    std::condition_variable landed;
    bool done = false;
    Found found;
  };
  class Landing;

  Found find_locked(KeyView key) const;
  void store_locked(KeyView key, Found found, Clock::duration age, bool confirmed = true);
  Found unconfirmed_for_now(KeyView key);
  std::chrono::seconds believed_for(const ModelReport& report) const;
  void forget_where(KeyView key, bool ModelReport::*what);
  void make_room_locked();

  Times times_;
  std::function<Clock::time_point()> now_;
  mutable std::shared_mutex mutex_;
  std::unordered_map<Key, Stored, Hash, Same> stored_;
  std::unordered_map<Key, std::shared_ptr<Flight>, Hash, Same> flights_;
  std::uint64_t generation_ = 0;  // incremented by clear()
};

}  // namespace plimsoll::models
