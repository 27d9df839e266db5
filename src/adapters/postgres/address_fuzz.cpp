#include "adapters/postgres/address.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace plimsoll;
  const std::string given(reinterpret_cast<const char*>(data), size);
  for (const char* before : {"", "postgres://", "postgres://ann:s3cr3t@host/"}) {
    const std::string url = before + given;
    const auto address = postgres::read_address(base::Secret(url));
    if (!address) {
      if (address.error().code != Errc::bad_setting ||
          address.error().what.find("s3cr3t") != std::string::npos)
        __builtin_trap();
      continue;
    }
    const bool is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
    if (!is_postgres || !address->shown.starts_with("postgres://")) __builtin_trap();
    const std::string said = postgres::safe_text(*address, given);
    if (said.size() > 500 || said.find('\n') != std::string::npos) __builtin_trap();
  }
  return 0;
}
