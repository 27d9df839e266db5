#include "ledger/log_trace.hpp"

#include "base/log.hpp"

namespace plimsoll::ledger {

void log_trace(const Trace& trace) {
  log::debug("request", {{"trace", trace.id},
                         {"model", trace.model},
                         {"status", number_of(trace.code)},
                         {"input", trace.input},
                         {"window", trace.window},
                         {"us", trace.total_us}});
}

}  // namespace plimsoll::ledger
