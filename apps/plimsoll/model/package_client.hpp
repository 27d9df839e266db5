// Runs the package client of this machine (pip) to download one package.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "plimsoll/result.hpp"

namespace plimsoll {

// Returns the command that starts pip: `pip3`, `pip`, or `python3 -m pip`. not_found: there is none; the
// error says how to install it.
Result<std::vector<std::string>> find_pip();

struct PackageDownload {
  std::string package;
  std::string version;
  std::filesystem::path folder;  // for the package; the client's own temporary files go here too
};

// Called several times a second with the bytes in the folder. Returns false to stop.
using DownloadWatch = std::function<bool(std::uint64_t bytes)>;

// Downloads a package without its dependencies and returns its file. The error says what to do: unreachable
// (no network), not_found (no such package), io_failed (disk full), timed_out (nothing came for minutes, or
// the watch stopped it), upstream_failed (the rest, with pip's last lines).
Result<std::filesystem::path> download_package(const std::vector<std::string>& pip,
                                               const PackageDownload& wanted, const DownloadWatch& watch);

}  // namespace plimsoll
