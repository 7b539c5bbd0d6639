// FAULTS 41: a child process has a copy of a descriptor. Closing a number ends the interest of an epoll only if it was
// the last number of its file: so hocket takes the interest back itself, and the child's copy wakes nobody here.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/process.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/children.hpp"
#include "support/numbers.hpp"
#include "support/sockets.hpp"
#include "support/waits.hpp"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// How many descriptors the epolls of this process watch.
int registered_fds() {
  int count = 0;
  for (const auto& one : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
    std::ifstream file(one.path());
    for (std::string line; std::getline(file, line);) count += line.starts_with("tfd:") ? 1 : 0;
  }
  return count;
}

task<std::error_code> read_in_vain(stream& from) {
  char byte = 0;
  const auto got = co_await from.read_some(std::span(&byte, 1));
  co_return got ? std::error_code() : got.error();
}

// `keep` starts what has a copy of the number given, and returns what ends it.
void close_beside_copy(const std::function<std::function<void()>(int)>& keep) {
  loop lp;
  CHECK_FALSE(sync_wait(within(0ms, connected().far.readable())).has_value());  // this thread has an epoll from now on
  auto [near, far] = connected();
  auto reader = spawn(lp, read_in_vain, std::ref(far));
  while (!waits(far)) lp.poll();
  const int before = registered_fds();
  const std::function<void()> end = keep(far.native_handle());
  far.close();
  CHECK(registered_fds() == before - 1);
  lp.run_until(reader);
  CHECK(sync_wait(reader) == std::errc::operation_canceled);
  sync_wait(near.write_all("for the copy")).value();  // an event of the old file
  auto [fresh_near, fresh_far] = connected();
  auto fresh = spawn(lp, read_in_vain, std::ref(fresh_far));
  for (int i = 0; i < 20; ++i) lp.poll();
  CHECK_FALSE(fresh.done());
  sync_wait(fresh_near.write_all("n")).value();
  lp.run_until(fresh);
  CHECK_FALSE(sync_wait(fresh));
  end();
}

}  // namespace

TEST_CASE("a copy of a closed descriptor in a forked child wakes nobody in its parent (fault 41)") {
  close_beside_copy([](int) -> std::function<void()> {
    auto end = std::make_shared<number_pipe>();
    const pid_t child = ::fork();
    if (child == 0) {
      ::close(end->out);
      char byte = 0;
      ::_exit(static_cast<int>(::read(end->in, &byte, 1)));
    }
    return [end, child] {
      end->put();
      int status = -1;
      CHECK(::waitpid(child, &status, 0) == child);
    };
  });
}

TEST_CASE("a copy of a closed descriptor in a program wakes nobody in the process that started it (fault 41)" *
          doctest::skip(starts_no_children())) {
  close_beside_copy([](int number) -> std::function<void()> {
    const int copy = ::dup(number);  // is inherited
    auto child =
        std::make_shared<process>(process::start({"cat"}, {.in = process::pipe, .out = process::null}).value());
    ::close(copy);
    return [child] {
      child->in().close();
      CHECK(sync_wait(child->wait()) == exit_status(0));
    };
  });
}
