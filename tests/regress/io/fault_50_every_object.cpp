// FAULTS 50: what a forked child shares with its parent. For each object of hocket that has an object of the system
// behind it: a coroutine of the parent waits for it, a child uses it on a plain thread, ends, destroys its copy or
// executes a program, and the parent's wait continues as if there was no child.
//
// The rows of docs/io.md, "After a fork", are those of this table.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/children.hpp"
#include "support/death.hpp"
#include "support/numbers.hpp"
#include "support/sockets.hpp"
#include "support/waits.hpp"

#include <array>
#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr auto long_enough = 20s;

// One object. The parent's wait gives `expected` after release().
class object {
 public:
  virtual ~object() = default;
  virtual task<int> wait() = 0;
  virtual void release() = 0;
  // In a child, on a plain thread.
  virtual void use() = 0;
  virtual void destroy() = 0;

  static constexpr int expected = 'p';
};

class of_signals final : public object {
 public:
  task<int> wait() override { co_return (co_await signals_->next()) == SIGUSR1 ? expected : 0; }
  void release() override { ::kill(::getpid(), SIGUSR1); }
  void use() override {
    ::raise(SIGUSR1);
    CHECK(sync_wait(within(long_enough, signals_->next())) == SIGUSR1);
    CHECK(sync_wait(within(0ms, signals_->next())).error_or({}) == std::errc::timed_out);
  }
  void destroy() override { signals_.reset(); }

 private:
  std::optional<signal_set> signals_{std::in_place, std::initializer_list<int>{SIGUSR1}};
};

class of_counter final : public object {
 public:
  task<int> wait() override { co_return static_cast<int>((co_await news_.take()).value_or(0)); }
  void release() override { news_.add(expected).value(); }
  void use() override {
    news_.add(3).value();
    CHECK(sync_wait(within(long_enough, news_.take())) == std::uint64_t{3});
  }
  void destroy() override { news_ = {}; }

 private:
  event_counter news_ = event_counter::make().value();
};

// One byte.
task<int> read_byte(stream& from) {
  char byte = 0;
  const auto received = co_await from.read_exactly(std::span(&byte, 1));
  co_return received ? byte : 0;
}

class of_stream final : public object {
 public:
  explicit of_stream(stream_pair ends) : ends_(std::move(ends)) {}
  task<int> wait() override { return read_byte(ends_.far); }
  void release() override { sync_wait(ends_.near.write_all("p")).value(); }
  void use() override {
    sync_wait(ends_.near.write_all("c")).value();
    CHECK(sync_wait(within(long_enough, read_byte(ends_.far))) == int{'c'});
  }
  void destroy() override { ends_ = {}; }

 private:
  stream_pair ends_;
};

class of_listener final : public object {
 public:
  task<int> wait() override { co_return (co_await door_.accept()) ? expected : 0; }
  void release() override { connected_.push_back(sync_wait(tcp::connect(address_)).value()); }
  void use() override {
    release();
    CHECK(sync_wait(within(long_enough, door_.accept())).has_value());
  }
  void destroy() override { door_.close(); }

 private:
  tcp::listener door_ = tcp::listener::bind("127.0.0.1:0").value();
  socket_address address_ = door_.local_address();
  std::vector<tcp::stream> connected_;
};

class of_datagrams final : public object {
 public:
  task<int> wait() override { return receive(); }
  void release() override { send("p"); }
  void use() override {
    send("c");
    CHECK(sync_wait(within(long_enough, receive())) == int{'c'});
  }
  void destroy() override { door_.close(); }

 private:
  task<int> receive() {
    std::array<char, 16> room{};
    const auto received = co_await door_.receive(room);
    co_return received ? room[0] : 0;
  }
  void send(std::string_view text) {
    auto near = udp::socket::bind("127.0.0.1:0").value();
    sync_wait(near.send(text, address_)).value();
  }
  udp::socket door_ = udp::socket::bind("127.0.0.1:0").value();
  socket_address address_ = door_.local_address();
};

class of_numbers final : public object {
 public:
  task<int> wait() override {
    std::array<pollfd, 1> fds{pollfd{pipe_.in, POLLIN, 0}};
    for (;;) {
      const auto ready = co_await poll_fds(fds);
      char byte = 0;
      if (!ready) co_return 0;
      if (::read(pipe_.in, &byte, 1) == 1) co_return byte;
    }
  }
  void release() override { pipe_.put(); }
  void use() override {
    pipe_.put();
    std::array<pollfd, 1> fds{pollfd{pipe_.in, POLLIN, 0}};
    CHECK(sync_wait(within(long_enough, poll_fds(fds))) == std::size_t{1});
    pipe_.take();
  }
  void destroy() override { stop_polling(pipe_.in); }

 private:
  number_pipe pipe_;
};

class of_process final : public object {
 public:
  task<int> wait() override {
    const auto status = co_await child_.wait();
    co_return status ? status->code() : 0;
  }
  void release() override { child_.in().close(); }
  void use() override {
    CHECK(sync_wait(child_.wait()).error_or({}) == std::errc::no_child_process);
    CHECK(child_.signal(0).has_value());
  }
  void destroy() override { child_ = process(); }

 private:
  process child_ =
      process::start({"sh", "-c", "cat; exit 112"}, {.in = process::pipe, .kill_on_destruction = true}).value();
};
static_assert(object::expected == 112);

// --- what a child does

void uses(object& it) { it.use(); }
// ThreadSanitizer starts no threads in the child of a process that has some.
void uses_twice_and_destroys(object& it) {
  it.use();
  if (detail::sanitizer == detail::sanitizer_kind::tsan) it.use();
  else std::thread([&] { it.use(); }).join();
  it.destroy();
}
void destroys(object& it) { it.destroy(); }
void ends(object&) {}
void has_a_child_that_uses_it(object& it) {
  it.use();
  expect_return([&] { it.use(); });
  it.use();
}
void executes(object&) {
  ::execl("/bin/sh", "sh", "-c", "exit 77", static_cast<char*>(nullptr));  // as a body that returned
}

using act = void (*)(object&);

// --- places where the parent waits

struct on_loop {
  loop where;
  void settle() {
    for (int i = 0; i < 20; ++i) where.poll();
  }
  void finish(join_handle<int>& handle) { where.run_until(handle); }
};

// Every other thread sleeps. A fork copies the locks that threads have, so none may have any.
bool all_others_sleep() {
  const std::string own = std::to_string(::getpid());
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    if (entry.path().filename() == own) continue;
    std::string text;
    std::getline(std::ifstream(entry.path() / "stat") >> std::ws, text);
    const std::size_t at = text.rfind(") ");
    if (at != std::string::npos && text[at + 2] != 'S') return false;
  }
  return true;
}

struct on_runtime {
  runtime where{{.workers = 2}};
  void settle() {
    while (!all_others_sleep()) std::this_thread::yield();
  }
  void finish(join_handle<int>&) {}
};

template <class Place>
void check_beside(std::unique_ptr<object> it, act action) {
  Place place;
  auto begun = std::make_shared<std::atomic<bool>>(false);
  auto waits = spawn(
      place.where,
      [](object& waited, std::shared_ptr<std::atomic<bool>> is_begun) -> task<int> {
        *is_begun = true;
        co_return co_await waited.wait();
      },
      std::ref(*it), begun);
  for (place.settle(); !*begun; place.settle()) std::this_thread::yield();
  const child_end end = end_of_child([&] { action(*it); });
  INFO(end.errors);
  REQUIRE(end.returned);
  place.settle();
  CHECK_FALSE(waits.done());
  it->release();
  place.finish(waits);
  CHECK(sync_wait(waits) == object::expected);
}

// --- the table

template <class Object, class... Parts>
std::unique_ptr<object> make(Parts... parts) {
  return std::make_unique<Object>(std::move(parts)...);
}

struct row {
  std::string_view name, in_parent, in_child, at_end;  // as in docs/io.md
  std::unique_ptr<object> (*make)();
  bool is_divided;      // what one process takes the other does not get: parent and child may not take at once
  bool needs_children;  // of process::start()
};

constexpr std::string_view continues = "continues", nothing = "nothing";
constexpr row rows[] = {
    {"`signal_set`", "continues, for signals of the parent", "receives the signals of the child", nothing,
     [] { return make<of_signals>(); }, false, false},
    {"`event_counter`", continues, "shares the count with the parent", nothing, [] { return make<of_counter>(); }, true,
     false},
    {"`stream`", continues, "takes bytes from the parent", nothing, [] { return make<of_stream>(connected()); }, true,
     false},
    {"a pipe", continues, "takes bytes from the parent", nothing, [] { return make<of_stream>(piped()); }, true, false},
    {"`tcp::listener`", continues, "takes connections from the parent", nothing, [] { return make<of_listener>(); },
     true, false},
    {"`udp::socket`", continues, "takes datagrams from the parent", nothing, [] { return make<of_datagrams>(); }, true,
     false},
    {"`poll_fds()`", continues, "waits for the fds of both", nothing, [] { return make<of_numbers>(); }, true, false},
    {"`process`", continues, "`wait()` fails with no_child_process", "nothing, also with `kill_on_destruction`",
     [] { return make<of_process>(); }, false, true},
};

bool is_possible(const row& entry) { return !entry.needs_children || !starts_no_children(); }

template <class Place>
void check_rows(bool (*possible)(const row&), std::initializer_list<act> acts) {
  for (const row& entry : rows) {
    CAPTURE(entry.name);
    if (!is_possible(entry) || !possible(entry)) continue;
    for (const act action : acts) check_beside<Place>(entry.make(), action);
  }
}

}  // namespace

TEST_CASE("a child uses each object of its parent on a plain thread, and the parent's wait continues (fault 50)") {
  check_rows<on_loop>([](const row&) { return true; }, {&uses, &uses_twice_and_destroys, &has_a_child_that_uses_it});
}

TEST_CASE("a child that ends, destroys its copies or executes a program ends no wait of its parent (fault 50)") {
  check_rows<on_loop>([](const row&) { return true; }, {&ends, &destroys, &executes});
}

// On workers, which would take what the child sends to itself.
TEST_CASE("a child of a process with workers ends no wait of theirs, and uses what is not divided (fault 50)") {
  check_rows<on_runtime>([](const row&) { return true; }, {&ends, &destroys, &executes});
  check_rows<on_runtime>([](const row& entry) { return !entry.is_divided; }, {&uses, &uses_twice_and_destroys});
}

TEST_CASE("docs/io.md has the table of what a forked child shares (fault 50)") {
  std::ifstream file(HOCKET_TEST_DOCS "/io.md");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (const row& entry : rows) {
    std::string line = "|";
    for (const std::string_view cell : {entry.name, entry.in_parent, entry.in_child, entry.at_end})
      line.append(" ").append(cell).append(" |");
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  }
}
