// hook::within(): a limit for the hooked calls of a block; and calls in destructors.
#include <hocket/manager/task_manager.hpp>
#include <hocket/runtime/descriptor_parker.hpp>

#include "connections.hpp"

#include <marked_sockets.hpp>
#include <optional>
#include <poll.h>
#include <stdexcept>
#include <support/death.hpp>
#include <sys/file.h>
#include <sys/mman.h>
#include <thread>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;
constexpr auto stream_ends = two_ends::kind::stream;

template <class T>
bool has_timed_out(const result<T>& ended) {
  return !ended && ended.error() == std::errc::timed_out;
}

ssize_t receive(int fd) {
  char byte = 0;
  return ::recv(fd, &byte, 1, 0);
}

// A destructor that makes a call.
template <class F>
struct at_exit {
  F call;
  ~at_exit() { call(); }
};
template <class F>
at_exit(F) -> at_exit<F>;

}  // namespace

TEST_CASE("within returns the result of its callable, of each kind, if no wait is ended") {
  in_fiber([] {
    two_ends ends(stream_ends);
    write_text(ends.out(), "x");
    CHECK(hook::within(1h, [&] { return receive(ends.in()); }).value() == 1);
    CHECK(hook::within(1h, [&] { return std::make_unique<int>(7); }).value() != nullptr);
    int number = 0;
    result<int&> reference = hook::within(1h, [&]() -> int& { return number; });
    CHECK(&*reference == &number);
    result<void> nothing = hook::within(1h, [&] { number = 1; });
    CHECK(nothing.has_value());
    result<int> flat = hook::within(1h, [&]() -> result<int> { return 5; });
    CHECK(flat.value() == 5);
    result<int> failed = hook::within(1h, [&]() -> result<int> { return failure(std::errc::io_error); });
    CHECK(failed.error() == std::errc::io_error);
    CHECK_THROWS_AS(static_cast<void>(hook::within(1h, []() -> int { throw std::runtime_error("no"); })),
                    std::runtime_error);
    CHECK(hook::within(std::chrono::hours(1'000'000'000), [] { return 1; }).value() == 1);
  });
}

TEST_CASE("within gives timed_out if its limit ended a wait, marks the connection, and leaves the fiber on time") {
  in_fiber([] {
    connection_ends ends, other;
    CHECK(has_timed_out(hook::within(1ms, [&] {
      CHECK(receive(ends.client()) == -1);
      CHECK(errno == ETIMEDOUT);
    })));
    ends.answer();
    CHECK(receive(ends.client()) == -1);
    CHECK(errno == ECONNABORTED);
    spawn([&] { other.answer(); });
    CHECK(receive(other.client()) == 1);  // it waits as before
  });
}

TEST_CASE("the limit of within ends each kind of wait, also an await, and each wait after it") {
  in_fiber([&] {
    two_ends pipe(pipe_ends);
    event never;
    const int first = ::memfd_create("locked", MFD_CLOEXEC);
    const int second = ::open(("/proc/self/fd/" + std::to_string(first)).c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::flock(first, LOCK_EX) == 0);
    const auto expect = [](auto call) {
      CHECK(has_timed_out(hook::within(1ms, [&] {
        CHECK(call() == -1);
        CHECK(errno == ETIMEDOUT);
        CHECK(call() == -1);
        CHECK(errno == ETIMEDOUT);
      })));
    };
    char byte = 0;
    expect([&] { return static_cast<int>(::read(pipe.in(), &byte, 1)); });
    expect([&] { return ::flock(second, LOCK_EX); });
    expect([&] {
      const timespec hour{3600, 0};
      return ::nanosleep(&hour, nullptr);
    });
    expect([&] {
      pollfd pfd{pipe.in(), POLLIN, 0};
      const int ready = ::poll(&pfd, 1, -1);
      if (errno == ECANCELED) errno = ETIMEDOUT;
      return ready;
    });
    // An await has the limit, too, and reports it by itself: no hooked call was ended.
    CHECK(hook::within(1ms, [&] { return has_timed_out(await(never.wait())); }).value());
    ::close(first);
    ::close(second);
  });
}

TEST_CASE("limits nest: the earlier one ends the waits, and only its block has timed out") {
  in_fiber([] {
    two_ends pipe(pipe_ends);
    char byte = 0;
    bool inner_is_over = false;
    const result<bool> outer = hook::within(
        1h, [&] { return has_timed_out(hook::within(1ms, [&] { CHECK(::read(pipe.in(), &byte, 1) == -1); })); });
    CHECK(outer.value());
    CHECK(has_timed_out(hook::within(1ms, [&] {
      const result<ssize_t> inner = hook::within(1h, [&] { return ::read(pipe.in(), &byte, 1); });
      CHECK(inner.value() == -1);
      CHECK(errno == ETIMEDOUT);
      inner_is_over = true;
    })));
    CHECK(inner_is_over);
  });
}

TEST_CASE("a deadline, a cancel or a kill of the fiber is no limit of within: the result is the callable's") {
  for (const ending end : {ending::deadline, ending::cancel, ending::kill}) {
    CAPTURE(std::string(name_of(end)));
    connection_ends ends;
    run_and_end(end, [&] { CHECK(hook::within(1h, [&] { return receive(ends.client()); }).value() == -1); });
  }
}

TEST_CASE("the deadline of a manager is no limit of within, though it passes first: the result is the callable's") {
  connection_ends ends;
  bool is_over = false;
  loop lp;
  task_manager manager(lp);
  auto late = spawn(manager, {.within = 1ms}, hook::hooked([&] {
                      const result<ssize_t> received = hook::within(1h, [&] { return receive(ends.client()); });
                      CHECK(received.value() == -1);
                      CHECK(errno == ETIMEDOUT);
                      is_over = true;
                    }));
  lp.run();
  CHECK(is_over);
}

TEST_CASE("a cancel after the call's own time, before the fiber runs, is neither a limit of within nor a mark") {
  manual_clock clock;
  descriptor_parker parker;
  loop lp({.clock = &clock, .parker = &parker});
  connection_ends ends;
  const timeval time{1, 0};
  REQUIRE(::setsockopt(ends.client(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time) == 0);
  bool is_over = false;
  std::optional<join_handle<>> waiter;
  // The timers of a turn make their fibers ready in an order of their own: one of the two runs before the waiter.
  int cancels_before = 0;
  const auto cancel_at_the_time = [&] {
    static_cast<void>(await(sleep_for(1s)));
    cancels_before += !is_over;
    waiter->cancel();
  };
  spawn(lp, cancel_at_the_time);
  waiter = spawn(lp, hook::hooked([&] {
                   const result<ssize_t> received = hook::within(1h, [&] { return receive(ends.client()); });
                   const int error = errno;
                   is_over = true;
                   CHECK(received.value() == -1);
                   CHECK(error == EAGAIN);
                 }));
  spawn(lp, cancel_at_the_time);
  spawn(lp, [&] {
    for (int i = 0; i < 2000; ++i) await(yield());
    clock.advance(1s);
  });
  lp.run();
  CHECK(is_over);
  CHECK(cancels_before >= 1);
  CHECK_FALSE(hook::has_marks());
}

TEST_CASE("within hooks its block, in a fiber that is not hooked, and is fatal in a task") {
  two_ends pipe(pipe_ends);
  loop lp;
  spawn(lp, [&] {
    char byte = 0;
    CHECK(has_timed_out(hook::within(1ms, [&] { return ::read(pipe.in(), &byte, 1); })));
  });
  lp.run();
  CHECK(hook::within(1h, [] { return 3; }).value() == 3);  // on a plain thread
  hocket_test::expect_fatal(
      [] {
        loop other;
        spawn(other, []() -> task<> {
          static_cast<void>(hook::within(1h, [] { return 3; }));
          co_return;
        });
        other.run();
      },
      "a hook::scope in a task");
}

TEST_CASE("while an ordinary exception unwinds, a call in a destructor waits for its answer") {
  connection_ends ends;
  bool rolled_back = false, caught = false;
  meet(
      [&] {
        try {
          const at_exit rollback{[&] {
            write_text(ends.client(), "rollback");
            pollfd pfd{ends.client(), POLLIN, 0};
            CHECK(::poll(&pfd, 1, -1) == 1);
            CHECK(pfd.revents == POLLIN);
            rolled_back = read_text(ends.client()) == "done";
          }};
          throw std::runtime_error("no funds");
        } catch (const std::runtime_error&) {
          caught = true;
        }
        write_text(ends.client(), "next");
      },
      [&] {
        const hook::scope in;
        CHECK(read_text(ends.server()) == "rollback");
        write_text(ends.server(), "done");
        CHECK(read_text(ends.server()) == "next");
      });
  CHECK(rolled_back);
  CHECK(caught);
}

TEST_CASE("while an exception unwinds, each kind of call waits: sleeps, the pool, locks, a select") {
  in_fiber([] {
    const auto waits_before = hook::collect_statistics().waits, pooled_before = hook::collect_statistics().pooled;
    try {
      const at_exit guard{[] {
        CHECK(::usleep(1000) == 0);
        timeval time{0, 1000};
        CHECK(::select(0, nullptr, nullptr, nullptr, &time) == 0);
        const int file = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
        CHECK(file >= 0);
        ::close(file);
      }};
      throw 1;
    } catch (int) {
    }
    CHECK(hook::collect_statistics().waits - waits_before == 3);
    CHECK(hook::collect_statistics().pooled - pooled_before == 1);
  });
}

TEST_CASE("an exception that unwinds a cancelled fiber: its calls in destructors end at once and mark") {
  connection_ends ends;
  run_and_end(ending::cancel, [&] {
    try {
      const at_exit guard{[&] {
        CHECK(::send(ends.client(), "rollback", 8, 0) == -1);
        CHECK(errno == ECONNABORTED);
      }};
      if (receive(ends.client()) < 0) throw std::runtime_error("no answer");
    } catch (const std::runtime_error&) {
    }
  });
}

TEST_CASE("two fibers that wait in destructors at once each have their own exception") {
  two_ends first(stream_ends), second(stream_ends);
  int caught = 0;
  loop lp;
  const auto unwind = [&](int fd, int number) {
    try {
      const at_exit guard{[&] { CHECK(receive(fd) == 1); }};
      throw number;
    } catch (int value) {
      CHECK(value == number);
      CHECK(std::uncaught_exceptions() == 0);
      ++caught;
    }
  };
  spawn(lp, hook::hooked([&] { unwind(first.in(), 1); }));
  spawn(lp, hook::hooked([&] { unwind(second.in(), 2); }));
  spawn(lp, [&] {
    write_text(first.out(), "x");
    await(yield());
    write_text(second.out(), "x");
  });
  lp.run();
  CHECK(caught == 2);
}
