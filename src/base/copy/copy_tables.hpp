// Copies everything that one store holds into another of any kind, table by table.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll::base {

enum class ColumnKind : std::uint8_t {
  integer,
  boolean,  // 0 or 1
  real,
  text,  // UTF-8 of our own
  name,  // any bytes, of clients
  blob
};

struct CopiedColumn {
  std::string_view name;
  ColumnKind kind;
};

// A table in the form that all stores can read and write. What a store derives from it is not part of it, and
// the ids of chunks are not either: a chunk is known by its document and its place.
struct CopiedTable {
  std::string_view name;
  std::size_t keys;  // the first columns: unique, and the order of rows
  std::vector<CopiedColumn> columns;
};

// In an order in which rows come after those that they refer to.
std::span<const CopiedTable> copied_tables();

using Cell = std::variant<std::int64_t, double, std::string>;
using CopiedRow = std::vector<Cell>;

// The tables of a store. Not for use by several threads.
class TableRows {
 public:
  TableRows() = default;
  TableRows(const TableRows&) = delete;
  TableRows& operator=(const TableRows&) = delete;
  virtual ~TableRows() = default;

  virtual Result<std::int64_t> count(const CopiedTable& table) = 0;
  // In the order of their keys, above those of the row `after`; empty: from the first.
  virtual Result<std::vector<CopiedRow>> rows(const CopiedTable& table, const CopiedRow& after,
                                              std::int64_t limit) = 0;
  // Adds all rows or none. They come above all rows that are there.
  virtual Result<void> add(const CopiedTable& table, std::span<const CopiedRow> rows) = 0;
  // Makes the store ready for use after the last row.
  virtual Result<void> finish() = 0;
};

enum class CopyStep : std::uint8_t { comparing, copying, verifying };
struct CopyProgress {
  CopyStep step = CopyStep::copying;
  std::string_view table;
  std::int64_t done = 0, total = 0;  // rows of all tables and steps
};
// False: stop. What was copied stays, and the next copy goes on there.
using CopyWatch = std::function<bool(const CopyProgress& progress)>;

struct CopyReport {
  struct Table {
    std::string name;
    std::int64_t rows = 0;
    std::uint64_t checksum = 0;
  };
  std::vector<Table> tables;  // as verified; empty if it was stopped
  std::int64_t copied = 0;    // rows, by this call
  bool stopped = false;
};

// `to` is empty, or has the beginning of a copy of `from`, which is then continued; otherwise bad_input.
// damaged: the copy differs from what `from` has now.
Result<CopyReport> copy_tables(TableRows& from, TableRows& to, const CopyWatch& watch);

}  // namespace plimsoll::base
