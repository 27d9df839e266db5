// Turns of large requests to be planned. A parsed request takes many times its bytes, so as many are planned
// at once as memory has room for, and always one: those that wait hold nothing that a planned one needs.
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <unordered_map>

namespace plimsoll::gateway {

// Memory of a parsed request, as a multiple of its body, besides what it holds anyway.
constexpr std::size_t planned_per_body_byte = 20;

class PlanTurns {
 public:
  // `free_bytes`: of the memory.
  explicit PlanTurns(std::function<std::size_t()> free_bytes) : free_bytes_(std::move(free_bytes)) {}
  PlanTurns(const PlanTurns&) = delete;
  PlanTurns& operator=(const PlanTurns&) = delete;

  // Waits, or has the turn, until it is destroyed. Keys have turns one after the other. For one thread.
  class Turn {
   public:
    // `key`: its number; 0: none.
    Turn(PlanTurns& turns, std::size_t key, std::size_t body_bytes);
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();
    // Begins it if that is possible now.
    bool has_begun();

   private:
    friend class PlanTurns;
    PlanTurns& turns_;
    const std::size_t key_, bytes_;
    bool has_begun_ = false;
    std::list<Turn*>::iterator place_;
  };

 private:
  Turn* next() const;

  std::function<std::size_t()> free_bytes_;
  std::mutex mutex_;  // guards the members below
  std::list<Turn*> waiting_;
  // A key that waits or has a turn. The least goes first: who has fewer turns now, then who had none for
  // longer.
  struct Key {
    std::size_t running = 0;
    std::size_t last = 0;  // a newcomer comes before who has just begun, and after who has waited since
    std::size_t waiting = 0;
  };
  std::unordered_map<std::size_t, Key> keys_;
  std::size_t begun_ = 0;  // turns so far
  std::size_t running_ = 0, running_bytes_ = 0;
};

}  // namespace plimsoll::gateway
