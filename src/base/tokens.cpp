#include "plimsoll/tokens.hpp"

namespace plimsoll {

std::string_view name_of(Exactness exactness) {
  switch (exactness) {
    case Exactness::exact: return "exact";
    case Exactness::calibrated: return "calibrated";
    case Exactness::estimated: return "estimated";
  }
  return "estimated";
}

}  // namespace plimsoll
