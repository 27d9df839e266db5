// Ctrl-C sets a flag that long work polls. A second Ctrl-C ends the program as usual.
#pragma once

namespace plimsoll {

class Interrupt {
 public:
  Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;
  ~Interrupt();
  bool wanted() const;
};

}  // namespace plimsoll
