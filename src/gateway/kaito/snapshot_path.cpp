#include "gateway/kaito/snapshot_path.hpp"

#include <algorithm>

namespace plimsoll::gateway {
namespace {

namespace fs = std::filesystem;

// Encodes a name as one path component; special characters become %XX.
std::string as_file_name(std::string_view name) {
  const bool only_dots = name.find_first_not_of('.') == std::string_view::npos;
  std::string out;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || c == '%' || byte < 0x20 || byte == 0x7F || (only_dots && c == '.'))
      out += fmt::format("%{:02X}", byte);
    else
      out += c;
  }
  return out;
}

bool is_below(const fs::path& path, const fs::path& root) {
  const auto [at_root, at_path] = std::ranges::mismatch(root, path);
  return at_root == root.end() && at_path != path.end();
}

// Without a final slash, which would count as another component.
Result<fs::path> resolved(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) return fail(Errc::bad_input, "Path is not usable: {} ({})", path.string(), error.message());
  return real.has_filename() ? real : real.parent_path();
}

constexpr std::string_view private_folder = ".keys";

// `path` must be below the root.
bool is_private(const fs::path& path, const fs::path& root) {
  return *std::ranges::mismatch(root, path).in2 == private_folder;
}

}  // namespace

fs::path private_root(const fs::path& root, std::string_view owner) {
  return root / private_folder / as_file_name(owner);
}

Result<SnapshotPath> snapshot_path(const fs::path& root, const std::optional<std::string>& given,
                                   std::string_view index) {
  const auto real_root = resolved(root);
  if (!real_root) return tl::unexpected(real_root.error());
  const std::string own = as_file_name(index);
  SnapshotPath usual{*real_root / own, (root / own).string()};
  const auto is_taken = [&] {
    return fail(Errc::bad_input, "{} below the snapshot folder is reserved for keys; use another path",
                private_folder);
  };
  const auto usual_place = [&]() -> Result<SnapshotPath> {
    if (own == private_folder) return is_taken();
    return usual;
  };
  if (!given || given->empty() || *given == root.string()) return usual_place();
  if (given->find('\0') != std::string::npos) return fail(Errc::bad_input, "Path has a zero byte in it.");
  const auto real = resolved(fs::path(*given).is_absolute() ? fs::path(*given) : root / *given);
  if (!real) return tl::unexpected(real.error());
  if (*real == *real_root) return usual_place();
  if (!is_below(*real, *real_root))
    return fail(Errc::bad_input,
                "Path is outside of the snapshot folder: {}. Use one below {} "
                "(default_vector_db_persist_dir).",
                *given, root.string());
  if (is_private(*real, *real_root)) return is_taken();
  return SnapshotPath{*real, *given};
}

}  // namespace plimsoll::gateway
