#include "adapters/weaviate/address.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string given(reinterpret_cast<const char*>(data), size);
  for (const char* before : {"", "weaviate://", "weaviates://s3cr3t@host"}) {
    const std::string url = before + given;
    const auto address = weaviate::read_address(base::Secret(url));
    if (!address) {
      if (address.error().code != Errc::bad_setting ||
          address.error().what.find("s3cr3t") != std::string::npos)
        __builtin_trap();
      continue;
    }
    if (address->nodes.empty() || address->replication < 1 || address->shards < 1) __builtin_trap();
    if (!address->shown.starts_with("weaviate") || address->shown.find('@') != std::string::npos)
      __builtin_trap();
    for (const std::string& node : address->nodes)
      if (!node.starts_with("http") || node.find_first_of(" \n@?") != std::string::npos) __builtin_trap();
  }
  return 0;
}
