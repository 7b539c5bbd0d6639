// FAULTS 50: a process forks while coroutines wait for I/O. The child shares the epoll with its parent. Whatever it
// does to the descriptors that it got, and whatever I/O it does itself, the parent's waits go on.
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/sockets.hpp"
#include "support/tcp_pair.hpp"
#include "support/waits.hpp"

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr int streams = 10;

task<std::string> read_text(stream& from) {
  std::array<char, 64> buffer;
  const auto got = co_await from.read_some(buffer);
  co_return got ? std::string(buffer.data(), *got) : got.error().message();
}

task<result<void>> talk_to_itself() {
  tcp::listener door = co_await or_return(tcp::listener::bind("127.0.0.1:0"));
  auto near = co_await or_return(tcp::connect(door.local_address()));
  auto far = co_await or_return(door.accept());
  char byte = 0;
  const auto late = co_await within(1ms, far.read_some(std::span(&byte, 1)));
  if (late) co_return failure(std::errc::io_error);
  co_await or_return(near.write_all("x"));
  const std::size_t got = co_await or_return(far.read_some(std::span(&byte, 1)));
  if (got != 1 || byte != 'x') co_return failure(std::errc::bad_message);
  co_return {};
}

// Exit code 0: the body is true.
int exit_code_of_fork(const std::function<bool()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

struct waiting_streams {
  waiting_streams() {
    for (int i = 0; i < streams; ++i) all.push_back(connected());
  }
  template <class Place>
  void begin(Place& where) {
    for (stream_pair& one : all) readers.push_back(spawn(where, read_text, std::ref(one.far)));
  }
  bool all_wait() const {
    for (const stream_pair& one : all) {
      if (!waits(one.far)) return false;
    }
    return true;
  }
  std::vector<stream_pair> all;
  std::vector<join_handle<std::string>> readers;
};

// What a child may do: it closes what it got, and does I/O of its own, on this thread and on a new one.
bool live_as_child(waiting_streams& got, bool on_new_thread) {
  bool good = true;
  const auto use = [&] { good = good && sync_wait(talk_to_itself()).has_value(); };
  use();
  for (stream_pair& one : got.all) {
    one.near.close();
    one.far.close();
  }
  use();
  if (on_new_thread) std::thread(use).join();
  return good;
}

}  // namespace

TEST_CASE("a forked child closes and uses descriptors, and its parent's loop goes on (fault 50)") {
  loop lp;
  waiting_streams ours;
  ours.begin(lp);
  while (!ours.all_wait()) lp.poll();
  const bool threads = detail::sanitizer != detail::sanitizer_kind::tsan;
  CHECK(exit_code_of_fork([&] { return live_as_child(ours, threads); }) == 0);
  for (int i = 0; i < streams; ++i) {
    const auto at = static_cast<std::size_t>(i);
    CHECK_FALSE(ours.readers[at].done());
    sync_wait(ours.all[at].near.write_all("parent")).value();
    lp.run_until(ours.readers[at]);
    CHECK(sync_wait(ours.readers[at]) == "parent");
  }
}

// The child has the memory of workers, and no workers: it closes streams at which they wait, and posts nothing to them.
TEST_CASE("a forked child closes and uses descriptors, and its parent's workers go on (fault 50)") {
  runtime rt({.workers = 2});
  waiting_streams ours;
  ours.begin(rt);
  while (!ours.all_wait()) std::this_thread::yield();
  CHECK(exit_code_of_fork([&] { return live_as_child(ours, false); }) == 0);
  for (int i = 0; i < streams; ++i) {
    const auto at = static_cast<std::size_t>(i);
    sync_wait(ours.all[at].near.write_all("parent")).value();
    CHECK(sync_wait(ours.readers[at]) == "parent");
  }
}

// A child that ends at once, again and again, while data comes.
TEST_CASE("children that end at once do not disturb what their parent reads (fault 50)") {
  runtime rt({.workers = 2});
  tcp_pair tcp = make_tcp_pair();
  constexpr int rounds = 30;
  auto echoes = spawn(rt, [&]() -> task<int> {
    char byte = 0;
    for (int i = 0;; ++i) {
      const auto got = co_await tcp.far.read_exactly(std::span(&byte, 1));
      if (!got) co_return i;
      static_cast<void>(co_await tcp.far.write_all(std::span(&byte, 1)));
    }
  });
  for (int i = 0; i < rounds; ++i) {
    const char sent = static_cast<char>('a' + i % 26);
    char back = 0;
    CHECK(exit_code_of_fork([] { return true; }) == 0);
    sync_wait(tcp.near.write_all(std::span(&sent, 1))).value();
    CHECK(sync_wait(tcp.near.read_exactly(std::span(&back, 1))) == std::size_t{1});
    CHECK(back == sent);
  }
  tcp.near.close();
  CHECK(sync_wait(echoes) == rounds);
}
