#include "adapters/postgres/database.hpp"

#include <atomic>
#include <thread>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "adapters/postgres/schema.hpp"
#include "adapters/postgres/testing_server.hpp"
#include "base/temporary_folder.hpp"

namespace plimsoll::postgres {
namespace {

using namespace std::chrono_literals;

// A port of this machine at which a socket is bound, and listens if `listens`.
class BoundPort {
 public:
  explicit BoundPort(bool listens) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    EXPECT_TRUE(!listens || ::listen(socket_, 8) == 0);
    port_ = ntohs(address.sin_port);
  }
  BoundPort(const BoundPort&) = delete;
  BoundPort& operator=(const BoundPort&) = delete;
  ~BoundPort() { ::close(socket_); }
  Options options() const {
    Options out;
    out.url = base::Secret(fmt::format("postgres://annabel:s3cr3t@127.0.0.1:{}/team", port_));
    out.wait = 2'000ms;
    return out;
  }

 private:
  int socket_;
  int port_ = 0;
};

TEST(PostgresAway, SaysThatTheServerCannotBeReached) {
  const BoundPort port(/*listens=*/false);
  const auto opened = Database::open(port.options());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::unreachable);
  EXPECT_NE(opened.error().what.find("onnection refused"), std::string::npos) << opened.error().what;
  EXPECT_EQ(opened.error().what.find("s3cr3t"), std::string::npos);
  EXPECT_EQ(opened.error().what.find("annabel"), std::string::npos);
}

TEST(PostgresAway, DoesNotWaitForeverForAServerThatSaysNothing) {
  const BoundPort port(/*listens=*/true);
  const auto begun = std::chrono::steady_clock::now();
  const auto opened = Database::open(port.options());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, Errc::unreachable);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 20s);
}

// ---- With a server ----

class PostgresDatabase : public testing::Test {
 protected:
  void SetUp() override {
    if (test_server() == nullptr) GTEST_SKIP() << no_server;
    options_ = test_options(folder_.path());
  }
  std::shared_ptr<Database> opened() {
    auto database = Database::open(options_);
    EXPECT_TRUE(database) << database.error().what;
    return database ? *std::move(database) : nullptr;
  }
  static Result<std::int64_t> one(Connection& connection) {
    TRY(const Rows rows, connection.run("SELECT 1::bigint"));
    return rows.integer(0, 0);
  }

  base::TemporaryFolder folder_{"postgres"};
  Options options_;
};

TEST_F(PostgresDatabase, TakesAndReturnsEveryKindOfValue) {
  const auto database = opened();
  ASSERT_TRUE(database);
  const std::string odd("it's\0\xff", 6);
  const std::vector<std::int64_t> numbers{INT64_MIN, -1, 0, INT64_MAX};
  const std::vector<std::string_view> texts{"", "é", "NULL"}, blobs{odd, ""};
  const auto done = database->read([&](Connection& connection) -> Result<void> {
    Values values;
    values.add(INT64_MIN).add(-0.5).add(true).add(std::string_view(odd)).add_null();
    values.add(numbers).add_texts(texts).add_blobs(blobs).add(std::span<const std::int64_t>());
    TRY(const Rows row,
        connection.run(
            "SELECT $1::bigint, $2::double precision, $3::boolean, $4::bytea, $5::bigint, "
            "($6::bigint[])[4], ($7::text[])[2], ($8::bytea[])[1], cardinality($9::bigint[])::bigint",
            values));
    EXPECT_EQ(row.count(), 1);
    EXPECT_EQ(row.integer(0, 0), INT64_MIN);
    EXPECT_EQ(row.real(0, 1), -0.5);
    EXPECT_TRUE(row.boolean(0, 2));
    EXPECT_EQ(row.bytes(0, 3), odd);
    EXPECT_TRUE(row.is_null(0, 4));
    EXPECT_EQ(row.integer(0, 5), INT64_MAX);
    EXPECT_EQ(row.bytes(0, 6), "é");
    EXPECT_EQ(row.bytes(0, 7), odd);
    EXPECT_EQ(row.integer(0, 8), 0);
    return {};
  });
  EXPECT_TRUE(done) << done.error().what;
}

TEST_F(PostgresDatabase, SaysWhatTheServerRefused) {
  const auto database = opened();
  ASSERT_TRUE(database);
  const auto refused =
      database->read([](Connection& connection) { return connection.run("SELECT nothing FROM nowhere"); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Errc::io_failed);
  EXPECT_NE(refused.error().what.find("nowhere"), std::string::npos) << refused.error().what;
  const auto no_text = database->read([](Connection& connection) {
    return connection.run("SELECT $1::text", Values().add(std::string_view("\xff")));
  });
  ASSERT_FALSE(no_text);
  EXPECT_EQ(no_text.error().code, Errc::bad_input);
  EXPECT_EQ(database->read(one), 1);  // the connection is good for more
}

TEST_F(PostgresDatabase, ManyCanOpenItAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      Options mine = options_;  // another URL for the same schema: another database object
      mine.url = base::Secret(mine.url.reveal() + "?application_name=test" + std::to_string(i));
      good += Database::open(mine).has_value() ? 1 : 0;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
}

TEST_F(PostgresDatabase, RefusesTablesOfANewerProgram) {
  {
    const auto database = opened();
    ASSERT_TRUE(database->written([](Connection& connection) -> Result<bool> {
      TRY_VOID(connection.execute("UPDATE schema_version SET version = 1000"));
      return true;
    }));
  }
  const auto again = Database::open(options_);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, Errc::unsupported);
  EXPECT_NE(again.error().what.find("schema 1000"), std::string::npos);
}

TEST_F(PostgresDatabase, ReadsAndBeginsAgainWhereTheServerClosedTheConnections) {
  const auto database = opened();
  Options other = options_;
  other.url = base::Secret(other.url.reveal() + "?application_name=killer");
  const auto killer = Database::open(other);
  ASSERT_TRUE(database && killer);
  const auto kill = [&] {
    const auto killed = (*killer)->read([](Connection& connection) {
      return connection.run(
          "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> "
          "pg_backend_pid() AND application_name = 'plimsoll' AND datname = current_database()");
    });
    ASSERT_TRUE(killed);
    EXPECT_GT(killed->count(), 0);
  };
  for (int round = 0; round < 3; ++round) {
    EXPECT_EQ(database->read(one), 1);
    kill();
    EXPECT_EQ(database->written(one), 1);
    kill();
    EXPECT_EQ(database->once(one), 1);
  }
  // One that is cut in the middle is an error, and changes nothing.
  const auto cut = database->written([&](Connection& connection) -> Result<bool> {
    TRY_VOID(connection.execute("INSERT INTO forget_orders (at_ms, model) VALUES (1, '')"));
    kill();
    TRY_VOID(connection.execute("INSERT INTO forget_orders (at_ms, model) VALUES (2, '')"));
    return true;
  });
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, Errc::unreachable);
  EXPECT_EQ(database->read([](Connection& connection) -> Result<std::int64_t> {
    TRY(const Rows rows, connection.run("SELECT count(*) FROM forget_orders"));
    return rows.integer(0, 0);
  }),
            0);
}

TEST_F(PostgresDatabase, DoesNotWaitForeverForAConnection) {
  options_.connections = 1;
  options_.wait = 100ms;
  const auto database = opened();
  ASSERT_TRUE(database);
  const auto outer = database->written([&](Connection& connection) -> Result<std::int64_t> {
    const auto inner = database->read(one);
    EXPECT_FALSE(inner);
    EXPECT_TRUE(inner || inner.error().code == Errc::unreachable);
    return one(connection);
  });
  EXPECT_EQ(outer, 1);
  EXPECT_EQ(database->read(one), 1);
}

TEST_F(PostgresDatabase, DoesNotWaitForeverForAReply) {
  options_.statement = 300ms;
  const auto database = opened();
  ASSERT_TRUE(database);
  const auto slow =
      database->once([](Connection& connection) { return connection.run("SELECT pg_sleep(20)"); });
  ASSERT_FALSE(slow);
  EXPECT_EQ(database->read(one), 1);
}

TEST_F(PostgresDatabase, RepeatsATransactionAfterADeadlock) {
  const auto database = opened();
  ASSERT_TRUE(database->written([](Connection& connection) -> Result<bool> {
    TRY_VOID(connection.execute(
        "INSERT INTO keys (id, name, hash, created_ms, private_indexes, requests_per_minute, "
        "tokens_per_minute, tokens_per_day, revoked) SELECT i, i, i, 0, false, 0, 0, 0, false "
        "FROM unnest(ARRAY['a', 'b']) AS i"));
    return true;
  }));
  std::atomic<int> runs = 0, waiting = 0;
  const auto both = [&](const char* first, const char* second) {
    const auto done = database->written([&](Connection& connection) -> Result<bool> {
      const bool is_first_run = ++runs <= 2;
      const auto raise = [&](const char* name) {
        return connection.run("UPDATE keys SET created_ms = created_ms + 1 WHERE name = $1",
                              Values().add(std::string_view(name)));
      };
      TRY_VOID(raise(first));
      ++waiting;
      while (is_first_run && waiting < 2) std::this_thread::sleep_for(1ms);
      TRY_VOID(raise(second));
      return true;
    });
    EXPECT_TRUE(done) << done.error().what;
  };
  std::thread other([&] { both("a", "b"); });
  both("b", "a");
  other.join();
  EXPECT_GE(runs, 3);  // one of the two was taken back
  EXPECT_EQ(database->read([](Connection& connection) -> Result<std::int64_t> {
    TRY(const Rows rows, connection.run("SELECT sum(created_ms)::bigint FROM keys"));
    return rows.integer(0, 0);
  }),
            4);
}

}  // namespace
}  // namespace plimsoll::postgres
