#include "contract/index/index_contract.hpp"
#include "search/open.hpp"

namespace plimsoll {
namespace {

using Opened = Result<std::unique_ptr<Index>>;

Opened open(Store& store, const IndexInfo& info, const std::filesystem::path& folder) {
  search::OpenOptions options;
  options.folder = folder;
  options.snapshot_chunks = 4;
  auto opened = search::open_index(store, info, options);
  if (!opened) return tl::unexpected(opened.error());
  return Opened(*std::move(opened));
}

Opened open_in_memory(Store& store, const IndexInfo& info, const std::filesystem::path& /*folder*/) {
  return open(store, info, {});
}

INSTANTIATE_TEST_SUITE_P(Search, IndexContract,
                         testing::Values(IndexMaker{"InMemory", open_in_memory},
                                         IndexMaker{"WithSnapshots", open}),
                         [](const auto& made) { return made.param.name; });

}  // namespace
}  // namespace plimsoll
