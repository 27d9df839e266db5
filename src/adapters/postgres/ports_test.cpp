// Every port over PostgreSQL against its contract.
#include <gtest/gtest.h>

#include "adapters/postgres/documents.hpp"
#include "adapters/postgres/facts.hpp"
#include "adapters/postgres/keys.hpp"
#include "adapters/postgres/limits.hpp"
#include "adapters/postgres/sessions.hpp"
#include "adapters/postgres/testing_server.hpp"
#include "adapters/postgres/traces.hpp"
#include "contract/facts/facts_contract.hpp"
#include "contract/keys/keys_contract.hpp"
#include "contract/limits/limits_contract.hpp"
#include "contract/sessions/sessions_contract.hpp"
#include "contract/store/store_contract.hpp"
#include "contract/traces/traces_contract.hpp"

namespace plimsoll {
namespace {

using Folder = std::filesystem::path;
using postgres::test_options;

template <typename Maker>
std::vector<Maker> with_server(Maker maker) {
  return postgres::test_server() != nullptr ? std::vector<Maker>{std::move(maker)} : std::vector<Maker>{};
}
constexpr auto name_in = [](const auto& made) { return made.param.name; };

}  // namespace

TEST(PostgresPorts, NeedAServer) {
  if (postgres::test_server() == nullptr) GTEST_SKIP() << postgres::no_server;
}

// Without a server no contract has a maker.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(KeysContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TracesContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SessionsContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FactsContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LimitsContract);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StoreContract);

INSTANTIATE_TEST_SUITE_P(
    Postgres, KeysContract,
    testing::ValuesIn(with_server(KeysMaker{
        "Postgres", [](const Folder& folder) { return postgres::open_keys(test_options(folder)); },
        [](const Folder& folder) { return postgres::open_traces(test_options(folder)); }})),
    name_in);

INSTANTIATE_TEST_SUITE_P(
    Postgres, TracesContract,
    testing::ValuesIn(with_server(TracesMaker{
        "Postgres", [](const Folder& folder) { return postgres::open_traces(test_options(folder)); }})),
    name_in);

INSTANTIATE_TEST_SUITE_P(
    Postgres, SessionsContract,
    testing::ValuesIn(with_server(SessionsMaker{
        "Postgres", [](const Folder& folder) { return postgres::open_sessions(test_options(folder)); }})),
    name_in);

INSTANTIATE_TEST_SUITE_P(
    Postgres, FactsContract,
    testing::ValuesIn(with_server(FactsMaker{
        "Postgres", [](const Folder& folder) { return postgres::open_facts(test_options(folder)); }})),
    name_in);

INSTANTIATE_TEST_SUITE_P(
    Postgres, LimitsContract,
    testing::ValuesIn(with_server(LimitsMaker{
        "Postgres", [](const Folder& folder) { return postgres::open_limits(test_options(folder)); }})),
    name_in);

INSTANTIATE_TEST_SUITE_P(
    Postgres, StoreContract,
    testing::ValuesIn(with_server(StoreMaker{
        "Postgres", [](const Folder& folder) { return postgres::open_documents(test_options(folder)); }})),
    name_in);

}  // namespace plimsoll
