// Any target: parsed safely, and a value that is found in its query is really there.
#include <cstdlib>

#include "gateway/http/target.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll::gateway;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Target target = split_target(text);
  if (target.path.size() > target.raw_path.size() || target.raw_path.size() > size + 1) std::abort();
  if (target.raw_path.find('%') == std::string::npos && target.path != target.raw_path) std::abort();
  const auto limit = query_value(target.query, "limit");
  if (limit && limit->size() > target.query.size()) std::abort();
  return 0;
}
