#include "terminal/interrupt.hpp"

#include <csignal>

namespace plimsoll {
namespace {

volatile std::sig_atomic_t wanted_to_stop = 0;

void note(int signal) {
  if (wanted_to_stop != 0) std::signal(signal, SIG_DFL);
  wanted_to_stop = 1;
}

}  // namespace

Interrupt::Interrupt() {
  wanted_to_stop = 0;
  struct sigaction action {};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

bool Interrupt::wanted() const {
  return wanted_to_stop != 0;
}

}  // namespace plimsoll
