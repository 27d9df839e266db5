#include "plimsoll/result.hpp"

namespace plimsoll {

std::string_view name_of(Errc code) {
  switch (code) {
    case Errc::bad_input: return "bad_input";
    case Errc::not_found: return "not_found";
    case Errc::unknown_setting: return "unknown_setting";
    case Errc::bad_setting: return "bad_setting";
    case Errc::unknown_model: return "unknown_model";
    case Errc::over_budget: return "over_budget";
    case Errc::unsupported: return "unsupported";
    case Errc::damaged: return "damaged";
    case Errc::io_failed: return "io_failed";
    case Errc::timed_out: return "timed_out";
    case Errc::unreachable: return "unreachable";
    case Errc::upstream_failed: return "upstream_failed";
  }
  return "unknown";
}

}  // namespace plimsoll
