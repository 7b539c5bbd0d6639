// In a scope fibers of every kind are hooked; nothing else is.
#include "blocking.hpp"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <support/death.hpp>
#include <sys/wait.h>
#include <thread>
#include <vector>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;
constexpr auto stream_ends = two_ends::kind::stream;

std::uint64_t calls_so_far() { return hook::collect_statistics().calls; }

// Whether a call of the running coroutine is hooked.
bool is_hooked_here() {
  const auto before = calls_so_far();
  char byte = 0;
  static_cast<void>(::recv(-1, &byte, 1, 0));
  return calls_so_far() != before;
}

}  // namespace

// For an interpreter's lock, for instance.
TEST_CASE("a scope that asks whether the fiber may park hooks the calls for which it may, and so do scopes in it") {
  static bool free = true;
  loop lp;
  spawn(lp, [] {
    const hook::scope in({.may_park = [] { return free; }});
    const hook::scope inner;
    CHECK(is_hooked_here());
    free = false;
    CHECK_FALSE(is_hooked_here());
    free = true;
    CHECK(is_hooked_here());
  });
  lp.run();
}

TEST_CASE("a scope hooks its block, and scopes nest") {
  loop lp;
  auto fiber = spawn(lp, [] {
    CHECK_FALSE(is_hooked_here());
    {
      const hook::scope outer;
      CHECK(is_hooked_here());
      {
        const hook::scope inner;
        CHECK(is_hooked_here());
      }
      CHECK(is_hooked_here());
    }
    CHECK_FALSE(is_hooked_here());
  });
  lp.run();
}

TEST_CASE("hooked() passes arguments, results and exceptions") {
  loop lp;
  std::string word = "by reference";
  auto sums =
      spawn(lp, hook::hooked([](int a, std::unique_ptr<int> b) { return a + *b; }), 1, std::make_unique<int>(2));
  auto refers = spawn(lp, hook::hooked([](std::string& text) { text += "!"; }), std::ref(word));
  auto throws = spawn(lp, hook::hooked([]() -> int { throw std::runtime_error("no"); }));
  lp.run();
  CHECK(sync_wait(sums) == 3);
  CHECK(word == "by reference!");
  CHECK_THROWS_AS(sync_wait(throws), std::runtime_error);
}

TEST_CASE("on a plain thread a scope does nothing") {
  const hook::scope in;
  CHECK_FALSE(is_hooked_here());
  std::thread([] {
    const hook::scope there;
    CHECK_FALSE(is_hooked_here());
  }).join();
}

TEST_CASE("a scope in a task, and in a raw coroutine, is fatal") {
  hocket_test::expect_fatal(
      [] {
        loop lp;
        spawn(lp, []() -> task<> {
          const hook::scope in;
          co_return;
        });
        lp.run();
      },
      "a hook::scope in a task");
  hocket_test::expect_fatal(
      [] {
        coroutine<void()> raw([](auto&) { const hook::scope in; });
        raw.resume();
      },
      "a hook::scope in a raw coroutine");
}

TEST_CASE("a raw coroutine and an eager task that a hooked fiber runs are not hooked") {
  in_fiber([] {
    bool raw_is = true, eager_is = true;
    coroutine<void()> raw([&](auto&) { raw_is = is_hooked_here(); });
    raw.resume();
    auto eager = [&]() -> eager_task<> {
      eager_is = is_hooked_here();
      co_return;
    };
    await(eager());
    CHECK_FALSE(raw_is);
    CHECK_FALSE(eager_is);
    CHECK(is_hooked_here());
  });
}

TEST_CASE("every kind of stack: of 16 KB, hibernating, copied, called") {
  const auto reads = [](const spawn_options& options) {
    two_ends ends(stream_ends);
    std::string text;
    meet([&] { text = read_text(ends.in(), 5); },
         [&] {
           CHECK((hibernate_parked() == 1) == (options.hibernate_after != duration::max()));
           write_text(ends.out(), "hello");
         },
         options);
    CHECK(text == "hello");
  };
  reads({.stack_size = 16 * 1024});
  reads({.hibernate_after = 1h});
  reads({.stack = stack_kind::copied});
  reads({.migratable = false});
  two_ends ends(stream_ends);
  std::string text;
  meet([&] { call_on_big_stack([&] { text = read_text(ends.in()); }); }, [&] { write_text(ends.out(), "hello"); });
  CHECK(text == "hello");
}

TEST_CASE("a copied stack polls and asks the pool") {
  two_ends ends(pipe_ends);
  meet(
      [&] {
        pollfd pfd{ends.in(), POLLIN, 0};
        CHECK(::poll(&pfd, 1, -1) == 1);
        CHECK(pfd.revents == POLLIN);
        const int file = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
        CHECK(file >= 0);
        ::close(file);
      },
      [&] { write_text(ends.out(), "x"); }, {.stack = stack_kind::copied});
}

TEST_CASE("a migratable fiber stays on its thread while it is hooked") {
  runtime rt({.workers = 4});
  std::vector<std::unique_ptr<two_ends>> all;
  std::vector<join_handle<>> fibers;
  std::atomic<int> moved{0};
  for (int i = 0; i < 50; ++i) {
    all.push_back(std::make_unique<two_ends>(stream_ends));
    two_ends& ends = *all.back();
    fibers.push_back(spawn(rt, {.migratable = true}, hook::hooked([&ends, &moved] {
                             const auto home_thread = std::this_thread::get_id();
                             for (int k = 0; k < 20; ++k) {
                               read_text(ends.in(), 1);
                               moved += home_thread != std::this_thread::get_id();
                             }
                           })));
    fibers.push_back(spawn(rt, {.migratable = true}, [&ends] {
      for (int k = 0; k < 20; ++k) {
        write_text(ends.out(), "x");
        await(yield());
      }
    }));
  }
  for (auto& fiber : fibers) sync_wait(fiber);
  CHECK(moved == 0);
}

TEST_CASE("many fibers on several workers: each byte arrives") {
  for (const std::size_t workers : {1u, 2u, 4u}) {
    runtime rt({.workers = workers});
    std::vector<std::unique_ptr<two_ends>> all;
    std::vector<join_handle<>> fibers;
    std::atomic<int> right{0};
    for (int i = 0; i < 100; ++i) {
      all.push_back(std::make_unique<two_ends>(stream_ends));
      two_ends& ends = *all.back();
      const auto echoes = [](int at, bool begins) {
        int number = 0;
        for (int k = 0; k < 20; ++k) {
          if (begins) CHECK(::write(at, &k, sizeof k) == sizeof k);
          if (::recv(at, &number, sizeof number, MSG_WAITALL) != sizeof number) return -1;
          if (!begins && ::write(at, &number, sizeof number) != sizeof number) return -1;
        }
        return number;
      };
      fibers.push_back(spawn(rt, hook::hooked([&ends, &right, echoes] { right += echoes(ends.in(), true) == 19; })));
      fibers.push_back(spawn(rt, hook::hooked([&ends, &right, echoes] { right += echoes(ends.out(), false) == 19; })));
    }
    for (auto& fiber : fibers) sync_wait(fiber);
    CHECK(right == 200);
  }
}

TEST_CASE("a child by fork or vfork is not hooked: its close loop wakes nobody, and it may execute a program") {
  for (const bool shares : {false, true}) {
    two_ends ends(pipe_ends);
    std::string text;
    loop lp;
    auto waits = spawn(lp, hook::hooked([&] { text = read_text(ends.in()); }));
    auto forks = spawn(lp, hook::hooked([&] {
                         await(yield());
                         const pid_t child = shares ? ::vfork() : ::fork();
                         if (child == 0) {
                           for (int number = 3; number < 100; ++number) ::close(number);
                           ::execl("/bin/true", "true", nullptr);
                           ::_exit(1);
                         }
                         REQUIRE(child > 0);
                         int status = 0;
                         REQUIRE(::waitpid(child, &status, 0) == child);
                         CHECK(WIFEXITED(status));
                         CHECK(WEXITSTATUS(status) == 0);
                         write_text(ends.out(), "still here");
                       }));
    lp.run();
    CHECK(text == "still here");
  }
}

TEST_CASE("a child by fork blocks in a call as it does without hooks") {
  two_ends ends(pipe_ends);
  in_fiber([&] {
    const pid_t child = ::fork();
    if (child == 0) {
      const timespec little{0, 1'000'000};
      ::nanosleep(&little, nullptr);
      char byte = 0;
      ::_exit(::read(ends.in(), &byte, 1) == 1 && !is_hooked_here() ? 0 : 1);
    }
    REQUIRE(child > 0);
    write_text(ends.out(), "x");
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WEXITSTATUS(status) == 0);
  });
}

TEST_CASE("errno and the thread's state of a C library: each fiber that waits finds its own errno") {
  two_ends first(pipe_ends), second(pipe_ends);
  loop lp;
  auto first_reader = spawn(lp, hook::hooked([&] {
                              errno = 1;
                              char byte = 0;
                              CHECK(::read(first.in(), &byte, 1) == 1);
                            }));
  auto second_reader = spawn(lp, hook::hooked([&] {
                               char byte = 0;
                               CHECK(::recv(-1, &byte, 1, 0) == -1);
                               write_text(first.out(), "x");
                               CHECK(::read(second.in(), &byte, 1) == 1);
                             }));
  auto writer = spawn(lp, [&] { write_text(second.out(), "x"); });
  lp.run();
}

TEST_CASE("statistics count calls, waits and what the pool has run") {
  two_ends ends(pipe_ends);
  const hook::statistics before = hook::collect_statistics();
  meet(
      [&] {
        read_text(ends.in());
        ::fsync(ends.in());
      },
      [&] { write_text(ends.out(), "x"); });
  const hook::statistics after = hook::collect_statistics();
  CHECK(after.calls - before.calls == 2);
  CHECK(after.waits - before.waits == 2);
  CHECK(after.pooled - before.pooled == 1);
}
