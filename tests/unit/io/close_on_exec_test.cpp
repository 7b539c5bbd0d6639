// Every fd that hocket makes is closed on exec: a program that this process executes inherits none of them.
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/io/standard_streams.hpp>
#include <hocket/runtime/descriptor_parker.hpp>
#include <hocket/time/within.hpp>

#include "support/children.hpp"
#include "support/death.hpp"
#include "support/numbers.hpp"

#include <array>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

std::set<int> open_fds() {
  std::set<int> fds;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    fds.insert(std::stoi(entry.path().filename()));
  std::set<int> open;
  for (const int fd : fds) {
    if (::fcntl(fd, F_GETFD) >= 0) open.insert(fd);  // not the iterator's
  }
  return open;
}

// An eventfd, an epoll, a pidfd: hocket keeps some of them for later use, so they may be older.
bool is_anonymous(int fd) {
  std::error_code error;
  const auto target = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(fd), error);
  return target.native().starts_with("anon_inode:");
}

// Standard streams are opened anew, unless they are shared.
void replace_standard_streams() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  ::dup2(ends[0], 0);
  ::dup2(ends[1], 1);
  for (const int fd : ends) ::close(fd);
}

// --- makers, each of which calls the check while its fds are there

using fd_check = std::function<void()>;

void make_signal_set(const fd_check& check) {
  const signal_set signals{SIGUSR1};
  check();
  expect_return(check);
}
void make_counter(const fd_check& check) {
  const auto counter = event_counter::make();
  check();
}
void make_pipes(const fd_check& check) {
  const auto ends = make_pipe();
  check();
}
void make_file(const fd_check& check) {
  const auto opened = sync_wait(file::open("/dev/null"));
  check();
}
void make_standard_streams(const fd_check& check) {
  expect_return([&] {
    replace_standard_streams();
    const auto in = standard_input(), out = standard_output(), error = standard_error();
    check();
  });
}
void wait_on_thread(const fd_check& check) {
  std::thread([&] {
    event_counter counter = event_counter::make().value();
    static_cast<void>(sync_wait(within(0ms, counter.take())));
    const number_pipe pipe;
    std::array<pollfd, 1> fds{pollfd{pipe.in, POLLIN, 0}};
    static_cast<void>(sync_wait(within(0ms, poll_fds(fds))));
    check();
  }).join();
}
void make_parker(const fd_check& check) {
  const descriptor_parker parker;
  check();
}
void make_process(const fd_check& check) {
  if (starts_no_children()) return;
  process child = process::start({"cat"}, {.in = process::pipe, .out = process::pipe, .err = process::pipe}).value();
  check();
  child.in().close();
  CHECK(sync_wait(child.wait()) == exit_status(0));
}

struct maker {
  std::string_view name;
  void (*make)(const fd_check& check);
};
constexpr maker makers[] = {
    {"a signal_set, also in a forked child", &make_signal_set},
    {"an event_counter", &make_counter},
    {"a pipe", &make_pipes},
    {"a file", &make_file},
    {"standard streams", &make_standard_streams},
    {"waits of a thread, for a descriptor and for fds", &wait_on_thread},
    {"a descriptor_parker", &make_parker},
    {"a process with pipes", &make_process},
};

}  // namespace

TEST_CASE("every fd that hocket makes is closed on exec") {
  for (const maker& entry : makers) {
    CAPTURE(entry.name);
    const std::set<int> before = open_fds();
    entry.make([&] {
      for (const int fd : open_fds()) {
        if (fd <= 2 || (before.contains(fd) && !is_anonymous(fd))) continue;
        CAPTURE(fd);
        CHECK((::fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0);
      }
    });
  }
}
