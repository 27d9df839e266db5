#include "adapters/sqlite/rows.hpp"
#include "base/documents/stored_document.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

Result<void> check_file(Connection& connection, base::Faults& faults) {
  TRY(auto check, connection.prepare("PRAGMA quick_check(20)"));
  while (true) {
    TRY(const bool more, check.step());
    if (!more) break;
    if (check.text(0) != "ok") faults.add(std::string(check.text(0)));
  }
  TRY(auto keys, connection.prepare("PRAGMA foreign_key_check"));
  TRY(const bool broken, keys.step());
  if (broken) faults.add(fmt::format("a row of {} belongs to nothing", keys.text(0)));
  return {};
}

// What is wrong with one document, or "".
Result<std::string> fault_of(Connection& connection, const DocumentHead& head) {
  auto read = select_document(connection, head.id);
  if (!read) {
    if (read.error().code == Errc::damaged) return read.error().what;
    return tl::unexpected<Error>(read.error());
  }
  return base::fault_in(head, read->document);
}

}  // namespace

Result<std::vector<std::string>> find_faults(Connection& connection, const IndexInfo& index) {
  base::Faults faults;
  TRY_VOID(check_file(connection, faults));
  DocumentId after = 0;
  while (true) {
    TRY(const auto heads, select_heads(connection, index.id, {}, after, 256));
    if (heads.empty()) break;
    after = heads.back().id;
    for (const DocumentHead& head : heads) {
      TRY(const std::string fault, fault_of(connection, head));
      if (!fault.empty()) faults.add(fmt::format("'{}': {}", head.key, fault));
    }
  }
  return std::move(faults).all();
}

}  // namespace plimsoll::sqlite
