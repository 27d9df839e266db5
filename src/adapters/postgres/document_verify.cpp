#include "adapters/postgres/rows_of_documents.hpp"
#include "base/documents/stored_document.hpp"

namespace plimsoll::postgres {
namespace {

// Compares the totals of an index with its rows.
Result<void> check_totals(Connection& connection, const IndexInfo& index, base::Faults& faults) {
  TRY(const Rows rows,
      connection.run(
          "SELECT count(*), coalesce(sum(chunks), 0)::bigint, coalesce(sum(text_bytes), 0)::bigint, "
          "coalesce(sum(tokens), 0)::bigint, (SELECT count(*) FROM chunks WHERE index_id = $1) "
          "FROM documents WHERE index_id = $1",
          Values().add(index.id)));
  const auto compare = [&](std::string_view what, std::int64_t there, std::int64_t expected) {
    if (there != expected) faults.add(fmt::format("it has {} {} instead of {}", there, what, expected));
  };
  compare("documents", rows.integer(0, 0), index.documents);
  compare("chunks in its documents", rows.integer(0, 1), index.chunks);
  compare("bytes of text", rows.integer(0, 2), index.text_bytes);
  compare("tokens", rows.integer(0, 3), index.tokens);
  compare("rows of chunks", rows.integer(0, 4), index.chunks);
  return {};
}

// Returns what is wrong with one document, or "".
Result<std::string> fault_of(Connection& connection, const DocumentHead& head) {
  auto read = select_document(connection, head.id);
  if (!read) {
    if (read.error().code == Errc::damaged) return read.error().what;
    return tl::unexpected<Error>(read.error());
  }
  return base::fault_in(head, read->document);
}

}  // namespace

Result<std::vector<std::string>> find_document_faults(Connection& connection, const IndexInfo& index) {
  constexpr std::size_t at_once = 256;
  base::Faults faults;
  TRY_VOID(check_totals(connection, index, faults));
  DocumentId after = 0;
  while (true) {
    TRY(const auto heads, select_heads(connection, index.id, {}, after, at_once));
    if (heads.empty()) break;
    after = heads.back().id;
    for (const DocumentHead& head : heads) {
      TRY(const std::string fault, fault_of(connection, head));
      if (!fault.empty()) faults.add(fmt::format("'{}': {}", head.key, fault));
    }
  }
  return std::move(faults).all();
}

}  // namespace plimsoll::postgres
