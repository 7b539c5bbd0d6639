// SQLite has no server, and holds thread mutexes while it waits for the disk: it belongs on the pool of blocking().
#include "clients.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <sqlite3.h>
#include <support/temporary_folder.hpp>

using namespace client_tests;

namespace {

using database = std::unique_ptr<sqlite3, decltype(&sqlite3_close)>;

database open_file(const std::string& name) {
  sqlite3* opened = nullptr;
  sqlite3_open(name.c_str(), &opened);
  sqlite3_busy_timeout(opened, 60'000);
  return {opened, &sqlite3_close};
}

// The values of all rows, or the error.
std::string run(const database& db, const char* text) {
  std::string words;
  char* wrong = nullptr;
  const auto add = [](void* into, int count, char** values, char**) {
    for (int i = 0; i < count; ++i) static_cast<std::string*>(into)->append(values[i]).append(" ");
    return 0;
  };
  if (sqlite3_exec(db.get(), text, add, &words, &wrong) == SQLITE_OK) return words;
  words = wrong;
  sqlite3_free(wrong);
  return words;
}

}  // namespace

TEST_CASE("SQLite on the pool: fibers and tasks write to one file, and the loop goes on") {
  const hocket_test::temporary_folder folder;
  const std::string name = folder / "file.db";
  run(open_file(name), "create table t(a)");
  const auto adds = [&] { return run(open_file(name), "begin immediate; insert into t values(1); commit; select 1"); };
  int right = 0, ticks = 0;
  duration latest{};
  loop lp;
  for (int i = 0; i < 20; ++i) {
    spawn(lp, [&] { right += await(blocking(adds)).value() == "1 "; });
    spawn(lp, [&]() -> task<> { right += (co_await blocking(adds)).value() == "1 "; });
  }
  spawn(lp, [&] {
    time_point due = lp.now();
    while (right != 40) {
      await(sleep_until(due += 1ms));
      latest = std::max<duration>(latest, steady_clock().now() - due);
      ++ticks;
    }
  });
  lp.run();
  CHECK(right == 40);
  CHECK(ticks != 0);
  MESSAGE("a tick of 1 ms was at most ", std::chrono::duration_cast<std::chrono::microseconds>(latest).count(),
          " us late");
  CHECK(run(open_file(name), "select count(*) from t") == "40 ");
}

TEST_CASE("SQLite in hooked fibers, one at a time, gives what it gives on a thread") {
  const hocket_test::temporary_folder folder;
  const std::string name = folder / "file.db";
  std::string output;
  const auto session = [&] {
    const database db = open_file(name);
    return run(
        db, "create table if not exists t(a); insert into t values(7); select count(*), sum(a) from t; delete from t");
  };
  const std::string plain = session();
  in_fiber([&] { output = session(); }, {.stack_size = 64 * 1024});
  CHECK(plain == "1 7 ");
  CHECK(output == plain);
}

TEST_CASE("SQLite in hooked fibers that own its mutexes: they share one connection") {
  const hocket_test::temporary_folder folder;
  const database db = open_file(folder / "file.db");
  run(db, "pragma synchronous = full; create table t(a)");  // a commit holds the mutex while it waits for the disk
  int right = 0;
  const auto waits = waits_of([&] {
    loop lp;
    for (int i = 0; i < 20; ++i)
      static_cast<void>(spawn(
          lp, hook::hooked([&] { right += run(db, "insert into t values(1); select 1") == "1 "; }, {.mutexes = true})));
    lp.run();
  });
  CHECK(right == 20);
  CHECK(run(db, "select count(*) from t") == "20 ");
  CHECK(waits > 20);
}
