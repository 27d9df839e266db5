#include "base/copy/copy_tables.hpp"

#include "base/checksum.hpp"
#include "base/try.hpp"

namespace plimsoll::base {
namespace {

constexpr std::int64_t rows_at_once = 200;

void add_bytes(Checksum& sum, const void* data, std::size_t size) {
  sum.update({static_cast<const std::byte*>(data), size});
}

void add_row(Checksum& sum, const CopiedRow& row) {
  for (const Cell& cell : row) {
    const auto kind = static_cast<std::uint64_t>(cell.index());
    add_bytes(sum, &kind, sizeof kind);
    if (const auto* number = std::get_if<std::int64_t>(&cell)) add_bytes(sum, number, sizeof *number);
    if (const auto* number = std::get_if<double>(&cell)) add_bytes(sum, number, sizeof *number);
    if (const auto* bytes = std::get_if<std::string>(&cell)) {
      const std::uint64_t size = bytes->size();
      add_bytes(sum, &size, sizeof size);
      add_bytes(sum, bytes->data(), bytes->size());
    }
  }
}

class Copying {
 public:
  Copying(TableRows& from, TableRows& to, const CopyWatch& watch) : from_(from), to_(to), watch_(watch) {}

  Result<CopyReport> run() {
    for (const CopiedTable& table : copied_tables()) {
      TRY(const std::int64_t there, to_.count(table));
      TRY(const std::int64_t wanted, from_.count(table));
      there_.push_back(there);
      progress_.total += 2 * there + (wanted - there) + 2 * wanted;
    }
    // Everything is compared before anything is added.
    std::vector<CopiedRow> last;
    for (std::size_t t = 0; t < there_.size(); ++t) {
      TRY(CopiedRow row, compare_beginning(copied_tables()[t], there_[t]));
      last.push_back(std::move(row));
      if (report_.stopped) return std::move(report_);
    }
    for (std::size_t t = 0; t < there_.size(); ++t) {
      TRY_VOID(copy_rest(copied_tables()[t], std::move(last[t])));
      if (report_.stopped) return std::move(report_);
    }
    TRY_VOID(to_.finish());
    for (const CopiedTable& table : copied_tables()) {
      TRY_VOID(verify(table));
      if (report_.stopped) {
        report_.tables.clear();
        break;
      }
    }
    return std::move(report_);
  }

 private:
  // Returns whether to go on.
  bool show(CopyStep step, const CopiedTable& table, std::size_t rows) {
    progress_.step = step;
    progress_.table = table.name;
    progress_.done += static_cast<std::int64_t>(rows);
    if (!watch_(progress_)) report_.stopped = true;
    return !report_.stopped;
  }

  struct Sum {
    std::int64_t rows = 0;
    std::uint64_t checksum = 0;
    CopiedRow last;
  };
  // Of at most `most` rows.
  Result<Sum> sum_of(TableRows& store, const CopiedTable& table, CopyStep step, std::int64_t most) {
    Checksum checksum;
    Sum sum;
    while (sum.rows < most) {
      TRY(auto rows, store.rows(table, sum.last, std::min(rows_at_once, most - sum.rows)));
      if (rows.empty()) break;
      for (const CopiedRow& row : rows) add_row(checksum, row);
      sum.rows += std::ssize(rows);
      sum.last = std::move(rows.back());
      if (!show(step, table, rows.size())) break;
    }
    sum.checksum = checksum.value();
    return sum;
  }

  // Returns the last row that is there; empty: none.
  Result<CopiedRow> compare_beginning(const CopiedTable& table, std::int64_t there) {
    if (there == 0) return CopiedRow();
    TRY(Sum mine, sum_of(to_, table, CopyStep::comparing, there));
    if (report_.stopped) return CopiedRow();
    TRY(const Sum theirs, sum_of(from_, table, CopyStep::comparing, there));
    if (report_.stopped || (mine.rows == theirs.rows && mine.checksum == theirs.checksum))
      return std::move(mine.last);
    return fail(
        Errc::bad_input,
        "the target has {} rows in '{}' that are not the first rows of the source: copy into an empty "
        "store, or into one where a copy of the same store was interrupted",
        there, table.name);
  }

  Result<void> copy_rest(const CopiedTable& table, CopiedRow last) {
    while (true) {
      TRY(auto rows, from_.rows(table, last, rows_at_once));
      if (rows.empty()) return {};
      TRY_VOID(to_.add(table, rows));
      report_.copied += std::ssize(rows);
      last = std::move(rows.back());
      if (!show(CopyStep::copying, table, rows.size())) return {};
    }
  }

  Result<void> verify(const CopiedTable& table) {
    constexpr std::int64_t all = std::numeric_limits<std::int64_t>::max();
    TRY(const Sum mine, sum_of(to_, table, CopyStep::verifying, all));
    if (report_.stopped) return {};
    TRY(const Sum theirs, sum_of(from_, table, CopyStep::verifying, all));
    if (report_.stopped) return {};
    if (mine.rows != theirs.rows || mine.checksum != theirs.checksum)
      return fail(
          Errc::damaged,
          "'{}' differs: {} rows with checksum {:016x} in the source, {} with {:016x} in the target. Stop "
          "what writes to the source, and copy into an empty store",
          table.name, theirs.rows, theirs.checksum, mine.rows, mine.checksum);
    report_.tables.push_back({std::string(table.name), mine.rows, mine.checksum});
    return {};
  }

  TableRows& from_;
  TableRows& to_;
  const CopyWatch& watch_;
  std::vector<std::int64_t> there_;  // rows that the target has already, by table
  CopyProgress progress_;
  CopyReport report_;
};

}  // namespace

Result<CopyReport> copy_tables(TableRows& from, TableRows& to, const CopyWatch& watch) {
  return Copying(from, to, watch).run();
}

}  // namespace plimsoll::base
