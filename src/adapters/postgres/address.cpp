#include "adapters/postgres/address.hpp"

#include <memory>

#include <libpq-fe.h>

namespace plimsoll::postgres {
namespace {

using Parts = std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;

std::string part_of(const Parts& parts, std::string_view name) {
  for (const PQconninfoOption* one = parts.get(); one->keyword != nullptr; ++one)
    if (name == one->keyword && one->val != nullptr) return one->val;
  return {};
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

}  // namespace

Result<Address> read_address(const base::Secret& url) {
  const std::string& text = url.reveal();
  constexpr std::string_view expected =
      "store: expected a URL such as postgres://USER:PASSWORD@HOST:5432/DATABASE, with special characters "
      "percent-encoded";
  const bool has_scheme = text.starts_with("postgres://") || text.starts_with("postgresql://");
  if (!has_scheme || text.find('\0') != std::string::npos) return fail(Errc::bad_setting, "{}", expected);
  char* problem = nullptr;  // may quote a part of the password
  const Parts parts(PQconninfoParse(text.c_str(), &problem), &PQconninfoFree);
  if (problem != nullptr) PQfreemem(problem);
  if (!parts) return fail(Errc::bad_setting, "{}", expected);
  Address out;
  std::string host = part_of(parts, "host");
  if (host.empty()) host = part_of(parts, "hostaddr");
  const std::string port = part_of(parts, "port"), database = part_of(parts, "dbname");
  out.shown = fmt::format("postgres://{}{}{}/{}", host, port.empty() ? "" : ":", port, database);
  out.password = base::Secret(part_of(parts, "password"));
  return out;
}

std::string safe_text(const Address& address, std::string_view message) {
  // "connection to server at "host" (1.2.3.4), port 5432 failed: reason": the address is said by us.
  constexpr std::string_view begins = "connection to server", ends = " failed: ";
  std::string out;
  while (!message.empty()) {
    std::string_view line = message.substr(0, message.find('\n'));
    message.remove_prefix(std::min(line.size() + 1, message.size()));
    if (line.starts_with(begins))
      if (const std::size_t at = line.find(ends); at != std::string_view::npos)
        line.remove_prefix(at + ends.size());
    while (!line.empty() && (line.front() == ' ' || line.front() == '\t')) line.remove_prefix(1);
    if (line.empty()) continue;
    if (!out.empty()) out += "; ";
    out += line;
  }
  constexpr std::size_t most = 500;
  if (!address.password.empty()) replace_all(out, address.password.reveal(), "***");
  if (out.size() > most) out.resize(most);
  return out;
}

}  // namespace plimsoll::postgres
