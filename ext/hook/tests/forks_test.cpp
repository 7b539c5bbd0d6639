// A child of fork() is not hooked, not even in fork handlers of other libraries.
#include "blocking.hpp"

#include <pthread.h>
#include <sys/wait.h>

using namespace hooked_tests;

namespace {

constexpr auto pipe_ends = two_ends::kind::pipe;

bool is_hooked_here() {
  const auto before = hook::collect_statistics().calls;
  char byte = 0;
  static_cast<void>(::recv(-1, &byte, 1, 0));
  return hook::collect_statistics().calls != before;
}

// A library's handler for the child of fork(), registered before that of the hooks.
void (*child_handler)() = nullptr;
void run_child_handler() {
  if (child_handler) child_handler();
}
[[gnu::constructor(101)]] void register_early() { ::pthread_atfork(nullptr, nullptr, run_child_handler); }

}  // namespace

TEST_CASE("in a child no call is hooked: not in a library's own handler either") {
  static two_ends* pipe = nullptr;
  two_ends own(pipe_ends), waited_for(pipe_ends);
  pipe = &own;
  static int watched = -1;
  watched = waited_for.in();
  constexpr void (*handlers[])() = {
      [] { ::usleep(1000); },
      [] { ::close(::open("/dev/null", O_WRONLY | O_CLOEXEC)); },
      [] { ::close(watched); },
      [] {
        if (is_hooked_here()) write_text(pipe->out(), "hooked");
      },
  };
  for (void (*const handler)() : handlers) {
    const pid_t parent = ::getpid();
    bool over = false;
    loop lp;
    spawn(lp, [&] {
      while (!over) {
        if (::getpid() != parent) write_text(own.out(), "x");
        await(yield());
      }
    });
    auto waits = spawn(lp, hook::hooked([&] { CHECK(read_text(waited_for.in()) == "still here"); }));
    spawn(lp, hook::hooked([&] {
            await(yield());
            child_handler = handler;
            const pid_t child = ::fork();
            if (child == 0) ::_exit(is_hooked_here() ? 1 : 7);
            child_handler = nullptr;
            REQUIRE(child > 0);
            CHECK(is_hooked_here());
            int status = 0;
            REQUIRE(::waitpid(child, &status, 0) == child);
            CHECK(WIFEXITED(status));
            CHECK(WEXITSTATUS(status) == 7);
            write_text(waited_for.out(), "still here");
            over = true;
          }));
    lp.run();
    sync_wait(waits);
  }
  REQUIRE(::fcntl(own.in(), F_SETFL, O_NONBLOCK) == 0);
  CHECK(read_text(own.in()).empty());
}
