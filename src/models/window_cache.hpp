// What was found of each model at each upstream, for as long as it is believed.
//
// However many threads want the same model at once, one of them asks and the others wait for its answer. A
// failure is believed for a short time only. A hit takes a shared lock, allocates nothing and costs well
// under a microsecond (window_cache_bench). Any thread may call anything at any time.
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

// A model's window and what else is known of it where it is served.
struct ModelReport {
  Window window;
  ModelLocation served;  // what the server or the file said; its name is empty where neither did
  std::optional<ServerKind> kind;
  bool failed = false;  // a server was asked and did not say: worth asking again soon
  bool silent = false;  // it did not answer at all: worth asking again within seconds
};

class WindowCache {
 public:
  using Clock = std::chrono::steady_clock;
  using Found = std::shared_ptr<const ModelReport>;
  struct Times {
    std::chrono::seconds believed{3600};
    std::chrono::seconds failure_believed{30};  // and never longer than `believed`
    std::chrono::seconds default_believed{10};  // likewise, where all that is left is a default
    std::chrono::seconds silence_believed{2};   // likewise: the server may be starting right now
  };
  struct Entry {
    std::string upstream;
    std::string model;
    Found found;
    Clock::duration age;
  };

  explicit WindowCache(Times times, std::function<Clock::time_point()> now = Clock::now);

  // Null where there is nothing, or nothing that is still believed without asking.
  Found find(std::string_view upstream, std::string_view model) const;

  // From the cache, or from `ask`, which runs outside all locks. Where the server is silent, an unconfirmed
  // entry is returned instead of the failure. Null only where another thread is asking and has no answer by
  // the deadline, or left its question by an exception.
  Found get(std::string_view upstream, std::string_view model, Deadline deadline,
            const std::function<ModelReport()>& ask);

  // As found some time ago; nothing happens where it is too old already.
  void put(std::string_view upstream, std::string_view model, Found found, Clock::duration age = {});

  // As an earlier run found it. The server is asked at the first request for it, and its answer wins; the
  // entry is used only while the server does not answer.
  void put_unconfirmed(std::string_view upstream, std::string_view model, Found found, Clock::duration age);

  // The server answers now: what it failed to say before is forgotten, so that it is asked again at once.
  void forget_failure(std::string_view upstream, std::string_view model);
  // The same, only where it had not answered at all.
  void forget_silence(std::string_view upstream, std::string_view model);

  // Forgets a model of whichever upstream.
  void forget(std::string_view model);
  // Forgets everything. An answer to a question that is under way goes to those who wait for it, and not
  // into the cache.
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
  // One question under way.
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
  std::uint64_t generation_ = 0;  // of what clear() leaves behind
};

}  // namespace plimsoll::models
