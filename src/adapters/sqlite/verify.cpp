#include "adapters/sqlite/packing.hpp"
#include "adapters/sqlite/rows.hpp"
#include "base/text/text.hpp"
#include "base/try.hpp"

namespace plimsoll::sqlite {
namespace {

// Beyond this many, the rest is only counted.
constexpr std::size_t faults_told = 20;

Result<void> check_file(Connection& connection, std::vector<std::string>& faults) {
  TRY(auto check, connection.prepare("PRAGMA quick_check(20)"));
  while (true) {
    TRY(const bool more, check.step());
    if (!more) break;
    if (check.text(0) != "ok") faults.emplace_back(check.text(0));
  }
  TRY(auto keys, connection.prepare("PRAGMA foreign_key_check"));
  TRY(const bool broken, keys.step());
  if (broken) faults.push_back(fmt::format("a row of {} belongs to nothing", keys.text(0)));
  return {};
}

// What is wrong with one document, or "".
Result<std::string> fault_of(Connection& connection, const DocumentHead& head) {
  auto read = select_document(connection, head.id);
  if (!read) {
    if (read.error().code == Errc::damaged) return read.error().what;
    return tl::unexpected<Error>(read.error());
  }
  const Document& document = read->document;
  if (std::cmp_not_equal(document.chunks.size(), head.chunks)) {
    return fmt::format("{} of its {} chunks are there", document.chunks.size(), head.chunks);
  }
  if (std::cmp_not_equal(document.text.size(), head.text_bytes)) {
    return fmt::format("its text has {} bytes instead of {}", document.text.size(), head.text_bytes);
  }
  std::uint64_t at = 0;
  std::int64_t tokens = 0;
  for (const Chunk& chunk : document.chunks) {
    if (chunk.span.start != at) return fmt::format("its chunks leave a gap at byte {}", at);
    if (chunk.section >= document.sections.size()) return std::string("a chunk stands in no section");
    at = chunk.span.end;
    tokens += chunk.tokens;
  }
  if (tokens != head.tokens)
    return fmt::format("its chunks have {} tokens instead of {}", tokens, head.tokens);
  if (!base::is_valid_utf8(document.text)) return std::string("its text is no UTF-8");
  return std::string();
}

}  // namespace

Result<std::vector<std::string>> find_faults(Connection& connection, const IndexInfo& index) {
  std::vector<std::string> faults;
  TRY_VOID(check_file(connection, faults));
  DocumentId after = 0;
  std::size_t untold = 0;
  while (true) {
    TRY(const auto heads, select_heads(connection, index.id, {}, after, 256));
    if (heads.empty()) break;
    after = heads.back().id;
    for (const DocumentHead& head : heads) {
      TRY(const std::string fault, fault_of(connection, head));
      if (fault.empty()) continue;
      if (faults.size() < faults_told) {
        faults.push_back(fmt::format("'{}': {}", head.key, fault));
      } else {
        ++untold;
      }
    }
  }
  if (untold > 0) faults.push_back(fmt::format("and {} more", untold));
  return faults;
}

}  // namespace plimsoll::sqlite
