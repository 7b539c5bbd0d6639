#include <hocket/core/spawn/detail/registry.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "unit/runtime/dump_table.hpp"
#include "unit/runtime/gate.hpp"

#include <cerrno>
#include <cstring>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

unsigned line_of_pass;

task<void> pass(gate& at) {
  line_of_pass = __LINE__ + 1;
  [[maybe_unused]] auto passed = co_await at.pass();
}

task<void> pass_within(gate& at, duration time) { [[maybe_unused]] auto passed = co_await at.pass().within(time); }

task<void> join(join_handle<void>& other) { [[maybe_unused]] auto joined = co_await other.join(); }

task<void> nest(gate& at, int depth) {
  if (depth == 0) co_await pass(at);
  else co_await nest(at, depth - 1);
}

task<void> yield_for_ever() {
  for (;;) co_await yield();
}

task<void> dump_oneself(loop& lp, std::string& text) {
  text = dump_text(lp);
  co_return;
}

// A loop of a clock that stands still: it runs until nobody is ready.
struct still_loop {
  manual_clock time;
  loop lp{{.name = "still", .clock = &time}};
};

}  // namespace

TEST_CASE("a loop without coroutines is one line") {
  loop lp({.name = "idle"});
  CHECK(dump_text(lp) == "loop \"idle\": 0 live, 0 begun (0 running, 0 ready, 0 waiting), 0 not begun, 0 timers\n");
}

TEST_CASE("what a coroutine waited for may be gone while its alarm still stands") {
  loop lp;
  alignas(gate) std::byte room[sizeof(gate)];
  auto* at = new (room) gate;
  auto waits = spawn(lp, {.name = "late"}, pass_within, std::ref(*at), duration(1h));
  lp.step();
  std::thread other([&] { at->open(); });  // leaves the alarm to the loop
  other.join();
  at->~gate();
  std::memset(room, 0, sizeof room);
  const dump_table table(lp);
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].state == "waiting");
  CHECK(table.rows[0].awaited == "-");
  lp.run();
}

TEST_CASE("a wait without a deadline has none before the epoch of a clock, either") {
  manual_clock early{time_point(-1h)};
  loop lp({.clock = &early});
  gate at;
  spawn(lp, pass, std::ref(at));
  spawn(lp, pass_within, std::ref(at), duration(5s));
  lp.step();
  lp.step();
  const dump_table table(lp);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].awaited.find("left") == std::string::npos);
  CHECK(table.rows[1].awaited.find("left") != std::string::npos);
  at.open();
  lp.run();
}

TEST_CASE("coroutines that have not begun are counted, not listed") {
  still_loop on;
  spawn(on.lp, yield_for_ever);
  spawn(on.lp, yield_for_ever);
  CHECK(dump_text(on.lp) == "loop \"still\": 2 live, 0 begun (0 running, 0 ready, 0 waiting), 2 not begun, 0 timers\n");
}

TEST_CASE("a task that waits: what for, and where") {
  gate at;
  still_loop on;
  spawn(on.lp, {.name = "guest"}, pass, std::ref(at));
  on.lp.run();
  dump_table seen(on.lp);
  CHECK(seen.header == "loop \"still\": 1 live, 1 begun (0 running, 0 ready, 1 waiting), 0 not begun, 0 timers");
  const dump_row& guest = seen["guest"];
  CHECK(guest.kind == "task");
  CHECK(guest.state == "waiting");
  CHECK(guest.awaited == "gate " + address_of(static_cast<primitive::wait_source*>(&at)));
  CHECK(ends_with(guest.suspended, place(__FILE__, line_of_pass)));
  at.open();
}

TEST_CASE("a wait with a deadline tells how much of it is left") {
  gate at;
  still_loop on;
  spawn(on.lp, {.name = "patient"}, pass_within, std::ref(at), 90s);
  on.lp.run();
  on.time.advance(30s + 1us);
  dump_table seen(on.lp);
  CHECK(ends_with(seen["patient"].awaited, ", 59.999999s left"));
  CHECK(ends_with(seen.header, "1 timers"));
  on.time.advance(60s);
  CHECK(ends_with(dump_table(on.lp)["patient"].awaited, ", overdue"));
}

TEST_CASE("a deadline that is further away than a duration can tell is told as far away") {
  gate at;
  manual_clock time(time_point::min());
  loop lp({.clock = &time});
  spawn(lp, {.name = "patient"}, pass_within, std::ref(at), duration::max() - 1ns);
  lp.run();
  time.advance(1h);
  CHECK(dump_table(lp)["patient"].awaited.find("s left") != std::string::npos);
}

TEST_CASE("a join names the coroutine that is joined") {
  gate at;
  still_loop on;
  auto worker = spawn(on.lp, {.name = "worker"}, pass, std::ref(at));
  spawn(on.lp, {.name = "boss"}, join, std::ref(worker));
  on.lp.run();
  CHECK(dump_table(on.lp)["boss"].awaited == "the end of a coroutine \"worker\"");
  at.open();
  on.lp.run();
}

TEST_CASE("tasks that await one another are one coroutine, shown where the innermost waits") {
  gate at;
  still_loop on;
  spawn(on.lp, {.name = "outer"}, nest, std::ref(at), 5);
  on.lp.run();
  dump_table seen(on.lp);
  CHECK(seen.rows.size() == 1);
  CHECK(ends_with(seen["outer"].suspended, place(__FILE__, line_of_pass)));
}

TEST_CASE("a coroutine that has yielded, or was woken, is ready") {
  gate at;
  still_loop on;
  spawn(on.lp, {.name = "yielder"}, yield_for_ever);
  spawn(on.lp, {.name = "guest"}, pass, std::ref(at));
  on.lp.step();
  on.lp.step();
  CHECK(dump_table(on.lp)["guest"].state == "waiting");
  at.open();
  dump_table seen(on.lp);
  CHECK(seen["yielder"].state == "ready");
  CHECK(seen["guest"].state == "ready");
  CHECK(seen["guest"].awaited == "-");
  CHECK(seen["guest"].suspended == "-");
}

TEST_CASE("a coroutine can dump its own loop, where it is the one that runs") {
  gate at;
  still_loop on;
  std::string text;
  spawn(on.lp, {.name = "guest"}, pass, std::ref(at));
  spawn(on.lp, {.name = "reporter"}, dump_oneself, std::ref(on.lp), std::ref(text));
  on.lp.run();
  dump_table seen(text);
  CHECK(seen["reporter"].state == "running");
  CHECK(seen["guest"].state == "waiting");
  CHECK(seen.header.find("(1 running, 0 ready, 1 waiting)") != std::string::npos);
}

TEST_CASE("where a coroutine was spawned: file and line if told, else an address in a module") {
  gate at;
  still_loop on;
  const unsigned line = __LINE__ + 1;
  spawn(on.lp, {.name = "told"}, pass, std::ref(at));
  spawn(on.lp, {.name = "untold", .location = {}}, pass, std::ref(at));
  on.lp.run();
  dump_table seen(on.lp);
  CHECK(ends_with(seen["told"].spawned, place(__FILE__, line)));
  CHECK(seen["untold"].spawned.find("+0x") != std::string::npos);
}

TEST_CASE("a name of any kind leaves a line a line") {
  gate at;
  still_loop on;
  const std::string endless(1000, 'x');
  spawn(on.lp, {.name = "two\nlines\t\x1b[31m"}, pass, std::ref(at));
  spawn(on.lp, {.name = outliving_name(endless.c_str())}, pass, std::ref(at));
  spawn(on.lp, {.name = ""}, pass, std::ref(at));
  on.lp.run();
  std::string text = dump_text(on.lp);
  CHECK(text.find("two?lines??[31m  ") != std::string::npos);
  CHECK(text.find(std::string(45, 'x').append("...  task")) != std::string::npos);
  CHECK(text.find("\n                          task   waiting") != std::string::npos);
  CHECK(lines_of(text).size() == 6);  // the loop, the columns, three rows, and that nothing will wake them
}

// --- the descriptor

namespace {

struct pipe_ends {
  int read = -1, write = -1;
  explicit pipe_ends(int flags = 0) {
    int both[2];
    REQUIRE(::pipe2(both, O_CLOEXEC | flags) == 0);
    read = both[0];
    write = both[1];
  }
  ~pipe_ends() {
    ::close(read);
    if (write >= 0) ::close(write);
  }
};

std::string read_to_end(int fd) {
  std::string text;
  char part[1000];
  for (;;) {
    ssize_t size = ::read(fd, part, sizeof part);
    if (size == 0) return text;
    if (size > 0) text.append(part, static_cast<std::size_t>(size));
    else std::this_thread::yield();
  }
}

// More than a pipe holds.
void check_large_dump(int flags) {
  constexpr std::size_t many = 3000;
  gate at;
  still_loop on;
  for (std::size_t i = 0; i < many; ++i) spawn(on.lp, {.name = "one of many"}, pass, std::ref(at));
  on.lp.run();
  pipe_ends ends(flags);
  std::string text;
  std::thread reader([&] { text = read_to_end(ends.read); });
  on.lp.dump(ends.write);
  ::close(std::exchange(ends.write, -1));
  reader.join();
  CHECK(text.size() > 64 * 1024);
  dump_table seen(text);
  CHECK(seen.rows.size() == many);
  for (const std::string& line : lines_of(text)) CHECK(line.size() < 400);
}

}  // namespace

TEST_CASE("a table that is larger than a pipe comes through whole") { check_large_dump(0); }
TEST_CASE("the same through a descriptor that does not block") { check_large_dump(O_NONBLOCK); }

TEST_CASE("a descriptor that cannot be written is ignored, and errno left alone") {
  gate at;
  still_loop on;
  for (int i = 0; i < 100; ++i) spawn(on.lp, pass, std::ref(at));
  on.lp.run();
  errno = 4711;
  on.lp.dump(-1);
  CHECK(errno == 4711);
}

// --- the live registry

TEST_CASE("every loop stands in the list of the process from its beginning to its end") {
  detail::registry* before = detail::live_registries.first;
  {
    loop older({.name = "older"});
    CHECK(detail::live_registries.first == older.coroutines());
    std::optional<loop> newer(std::in_place, loop_options{.name = "newer"});
    CHECK(std::string(detail::live_registries.first->name()) == "newer");
    newer.reset();
    CHECK(std::string(detail::live_registries.first->name()) == "older");
  }
  CHECK(detail::live_registries.first == before);
}
