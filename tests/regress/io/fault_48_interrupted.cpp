// FAULTS 48: a timer of the system interrupts every call a thousand times a second, by a handler without SA_RESTART.
// All of I/O goes on as if it were not there. Each call interrupted once, for certain: unit/net/calls.
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>

#include "support/children.hpp"
#include "support/death.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <ctime>
#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

std::atomic<int> interruptions{0};  // the handler runs on any thread
void note(int) { ++interruptions; }

// SIGUSR1 to the process, a thousand times a second.
void begin_interruptions() {
  struct sigaction action{};
  action.sa_handler = &note;  // no SA_RESTART
  ::sigaction(SIGUSR1, &action, nullptr);
  sigevent event{};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  timer_t timer{};
  REQUIRE(::timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  itimerspec each{};
  each.it_interval.tv_nsec = each.it_value.tv_nsec = 1'000'000;
  REQUIRE(::timer_settime(timer, 0, &each, nullptr) == 0);
}

task<result<void>> echo(tcp::stream peer) {
  std::vector<char> buffer(5000);
  while (std::size_t n = co_await or_return(peer.read_some(buffer)))
    co_await or_return(peer.write_all(std::span(buffer.data(), n)));
  co_return {};
}

task<result<void>> use_tcp(socket_address at) {
  auto peer = co_await or_return(tcp::connect(at));
  std::string words(100'000, 'w'), answer(words.size(), '\0');
  for (std::size_t done = 0; done != words.size(); done += 20'000) {
    co_await or_return(peer.write_all(std::string_view(words).substr(done, 20'000)));
    co_await or_return(peer.read_exactly(std::span(answer).subspan(done, 20'000)));
  }
  CHECK(answer == words);
  co_return {};
}

task<result<void>> use_udp() {
  auto near = co_await or_return(udp::socket::bind("127.0.0.1:0"));
  auto far = co_await or_return(udp::socket::connect(near.local_address()));
  std::array<char, 16> room{};
  co_await or_return(far.send("datagram"));
  const udp::received_datagram got = co_await or_return(near.receive(room));
  CHECK(got.size == 8);
  co_return {};
}

task<result<void>> use_pipe_and_counter() {
  auto ends = co_await or_return(make_pipe());
  auto counter = co_await or_return(event_counter::make());
  auto late = spawn([&]() -> task<result<void>> {
    static_cast<void>(co_await sleep_for(2ms));  // is tested: an epoll_wait(2) with a limit
    co_await or_return(counter.add(3));
    const std::string much(200'000, 'm');
    co_await or_return(ends.writer.write_all(much));
    ends.writer.close();
    co_return {};
  });
  const std::uint64_t count = co_await or_return(counter.take());
  CHECK(count == 3);
  pollfd wanted{ends.reader.native_handle(), POLLIN, 0};
  const std::size_t ready = co_await or_return(poll_fds({&wanted, 1}));
  CHECK(ready == 1);
  const std::string all = co_await or_return(read_all(ends.reader));
  CHECK(all.size() == 200'000);
  const result<void> written = co_await late.join();
  co_return written;
}

task<result<void>> use_file(std::string path) {
  const std::string text(300'000, 't');
  co_await or_return(write_file(path, text));
  const std::string back = co_await or_return(read_file(path));
  CHECK(back == text);
  co_return {};
}

task<result<void>> use_process() {
  if (starts_no_children()) co_return {};
  auto started = process::start({"cat"}, {.in = process::pipe, .out = process::pipe});
  process& cat = co_await or_return(started);
  co_await or_return(cat.in().write_all("through a child"));
  cat.in().close();
  const std::string text = co_await or_return(read_all(cat.out()));
  CHECK(text == "through a child");
  const exit_status status = co_await or_return(cat.wait());
  CHECK(status.success());
  co_return {};
}

template <class Place, class Wait>
void use_everything(Place& where, const std::string& path, Wait wait) {
  auto server = tcp::serve(where, "127.0.0.1:0", echo).value();
  while (interruptions < 200) {
    std::vector<join_handle<result<void>>> all;
    for (int i = 0; i < 3; ++i) all.push_back(spawn(where, use_tcp, server.local_address()));
    all.push_back(spawn(where, use_udp));
    all.push_back(spawn(where, use_pipe_and_counter));
    all.push_back(spawn(where, use_file, path));
    all.push_back(spawn(where, use_process));
    for (auto& one : all) {
      wait(one);
      const result<void> how = sync_wait(one);
      INFO((how ? std::string() : how.error().message()));
      CHECK(how.has_value());
    }
  }
}

template <class Body>
void expect_undisturbed(Body body) {
  const child_end end = end_of_child([&] {
    temporary_folder folder;
    body(folder / "file");
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

}  // namespace

TEST_CASE("a signal a millisecond disturbs no operation of a loop (fault 48)") {
  expect_undisturbed([](const std::string& path) {
    loop lp;
    begin_interruptions();
    use_everything(lp, path, [&](auto& handle) { lp.run_until(handle); });
  });
}

// This thread blocks the signal, so workers and threads of the pool are interrupted.
TEST_CASE("a signal a millisecond disturbs no operation of a runtime (fault 48)") {
  expect_undisturbed([](const std::string& path) {
    runtime rt({.workers = 3});
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    CHECK(sync_wait(spawn(rt, use_file, path)).has_value());  // the pool has a thread now, which does not block it
    ::pthread_sigmask(SIG_BLOCK, &one, nullptr);
    begin_interruptions();
    use_everything(rt, path, [](auto&) {});
  });
}
