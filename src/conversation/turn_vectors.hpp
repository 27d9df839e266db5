// Vectors of the sentences of turns, computed once and kept with their session.
//
// Vectors of named sessions are in the store, under the hash of the turn's text, and are deleted with the
// session. The others stay in bounded memory. Turns that have no vectors yet get them when they are first
// looked for, the most promising first, as far as the time allows; the rest is ranked by words until then.
#pragma once

#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "conversation/turn_index.hpp"
#include "plimsoll/deadline.hpp"
#include "plimsoll/embedder.hpp"
#include "plimsoll/sessions.hpp"

namespace plimsoll::conversation {

// Returns the vectors of each text's sentences, in the order of the texts.
Result<std::vector<SentenceVectors>> embed_turns(Embedder& embedder, std::span<const std::string_view> texts,
                                                 Deadline deadline);

// Thread-safe. The store must outlive it.
class TurnVectors {
 public:
  // Creates the embedder on first use; on an error or if null, only words are compared.
  using FindEmbedder = std::function<Result<Embedder*>()>;

  TurnVectors(SessionStore& store, FindEmbedder embedder, std::int64_t age_ms)
      : store_(store), embedder_(std::move(embedder)), age_ms_(age_ms) {}

  struct Meanings {
    SentenceVectors question;            // empty: there is no embedder
    std::vector<SentenceVectors> turns;  // by turn; empty where not known
    std::size_t missing = 0;             // turns of the user that have none yet
    std::string note;                    // why there are none
  };
  // `order`: turns in the order in which missing vectors are computed; only the user's are. `at_ms`: when the
  // request came. A session that was deleted since is not written to. Blocks.
  Meanings find(const std::string& owner, const std::string& session, std::string_view question,
                const TurnIndex& index, std::span<const std::size_t> order, std::int64_t at_ms,
                Deadline deadline);

 private:
  using Known = std::unordered_map<std::string, SentenceVectors>;  // by hash of the text

  Known known(const std::string& owner, const std::string& session, const std::string& embedder,
              std::span<const std::string> hashes);
  void keep(const std::string& owner, const std::string& session, const std::string& embedder,
            std::span<const TurnVector> made, std::int64_t at_ms);

  struct Entry {
    std::string key;
    SentenceVectors vectors;
  };
  SessionStore& store_;
  FindEmbedder embedder_;
  std::int64_t age_ms_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // of requests without a session, most recently used first
  std::unordered_map<std::string, std::list<Entry>::iterator> by_key_;
  std::size_t bytes_ = 0;
};

}  // namespace plimsoll::conversation
