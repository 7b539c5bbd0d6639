// The process group of a child: signals to it, its end with the object, and terminate().
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/children.hpp"
#include "support/death.hpp"
#include "support/waits.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <doctest/doctest.h>
#include <functional>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// A child with a grandchild, which both hold the pipe of the output, and end with the input. Both are there then.
process start_family(process_options options, std::string_view of_grandchild = "", std::string_view of_child = "") {
  options.out = process::pipe;
  std::string script = "exec 3<&0; ";
  script.append(of_child).append(" (").append(of_grandchild).append(" echo g; exec cat <&3) & wait");
  options.in = process::pipe;
  process child = process::start({"sh", "-c", script}, options).value();
  char byte = 0;
  CHECK(sync_wait(child.out().read_some(std::span(&byte, 1))) == std::size_t{1});
  CHECK(byte == 'g');
  return child;
}

// All that held the pipe have ended.
bool all_have_ended(stream& out) { return sync_wait(within(20s, read_all(out))).has_value(); }
bool some_run(stream& out) {
  std::array<char, 16> buffer{};
  for (;;) {
    const auto size = sync_wait(within(0ms, out.read_some(buffer)));
    if (!size) return size.error() == std::errc::timed_out;
    if (*size == 0) return false;
  }
}

// A system before Linux 6.9, which knows no groups of pidfds.
void refuse_groups_of_pidfds() {
  constexpr unsigned call = 424, whole_group = 1u << 2;
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[3])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, whole_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(rules)), rules};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    ::_exit(77);  // as a body that returns: there is no seccomp
}

// On this system, and on one before Linux 6.9.
void on_each_system(const std::function<void()>& body) {
  expect_return(body);
  expect_return([&] {
    refuse_groups_of_pidfds();
    body();
  });
}

bool knows_groups_of_pidfds() {
  static const bool known = [] {
    const process child = process::start({"true"}, {.new_group = true}).value();
    const long fd = ::syscall(434L, child.id(), 0);
    const bool is_known = ::syscall(424L, fd, 0, nullptr, 1u << 2) == 0 || errno != EINVAL;
    ::close(static_cast<int>(fd));
    return is_known;
  }();
  return known;
}

}  // namespace

TEST_CASE("a signal to the group of a child reaches what the child has started" * doctest::skip(starts_no_children())) {
  on_each_system([] {
    for (const process_options& options : {process_options{.new_group = true}, process_options{.new_session = true}}) {
      process child = start_family(options);
      CHECK(child.signal_group(0).has_value());
      CHECK(child.signal_group(SIGTERM).has_value());
      CHECK(all_have_ended(child.out()));
      CHECK(sync_wait(child.wait()).value().signal() == SIGTERM);
    }
  });
}

TEST_CASE("a signal to a child alone leaves the rest of its group" * doctest::skip(starts_no_children())) {
  on_each_system([] {
    process child = start_family({.new_group = true});
    CHECK(child.signal(SIGKILL).has_value());
    CHECK(some_run(child.out()));
    CHECK(child.signal_group(SIGKILL).has_value());  // the child is not reaped
    CHECK(all_have_ended(child.out()));
    CHECK(sync_wait(child.wait()).value().signal() == SIGKILL);
  });
}

TEST_CASE("a group that outlives its child is reached after the child was reaped, where the system can" *
          doctest::skip(starts_no_children())) {
  expect_return([] {
    process child = start_family({.new_group = true});
    CHECK(child.signal(SIGKILL).has_value());
    CHECK(sync_wait(child.wait()).value().signal() == SIGKILL);
    CHECK(some_run(child.out()));
    const auto sent = child.signal_group(SIGKILL);
    CHECK((sent.has_value() ? knows_groups_of_pidfds() : sent.error() == std::errc::no_such_process));
    if (!sent) child.in().close();
    CHECK(all_have_ended(child.out()));
  });
  expect_return([] {
    refuse_groups_of_pidfds();
    process child = start_family({.new_group = true});
    CHECK(child.signal(SIGKILL).has_value());
    CHECK(sync_wait(child.wait()).value().signal() == SIGKILL);
    CHECK(child.signal_group(SIGKILL).error_or({}) == std::errc::no_such_process);
    CHECK(some_run(child.out()));
    child.in().close();
    CHECK(all_have_ended(child.out()));
  });
}

TEST_CASE("a child without a group of its own has none to signal" * doctest::skip(starts_no_children())) {
  process child = process::start({"cat"}, {.in = process::pipe}).value();
  CHECK(child.signal_group(SIGTERM).error_or({}) == std::errc::invalid_argument);
  child.in().close();
  CHECK(sync_wait(child.wait()) == exit_status(0));
  CHECK(process().signal_group(SIGTERM).error_or({}) == std::errc::bad_file_descriptor);
  process grouped = process::start({"cat"}, {.in = process::pipe, .new_group = true}).value();
  CHECK(grouped.signal_group(65).error_or({}) == std::errc::invalid_argument);
}

TEST_CASE("a group ends with the object of its child, if that was asked for" * doctest::skip(starts_no_children())) {
  on_each_system([] {
    for (const bool is_asked : {false, true}) {
      process child = start_family({.new_group = true, .kill_on_destruction = is_asked});
      stream out = std::move(child.out());
      stream in = std::move(child.in());
      child = process();
      if (is_asked) CHECK(all_have_ended(out));
      else CHECK(some_run(out));
      in.close();
      CHECK(all_have_ended(out));
    }
  });
}

TEST_CASE("a child that is killed with its object leaves what it has started, without a group of its own" *
          doctest::skip(starts_no_children())) {
  process child = start_family({.kill_on_destruction = true});
  stream out = std::move(child.out());
  stream in = std::move(child.in());
  child = process();
  CHECK(some_run(out));
  in.close();
  CHECK(all_have_ended(out));
}

// --- terminate()

TEST_CASE("a child that heeds SIGTERM is ended by it, and its group, too" * doctest::skip(starts_no_children())) {
  on_each_system([] {
    process child = start_family({.new_group = true});
    CHECK(sync_wait(child.terminate(20s)).value().signal() == SIGTERM);
    CHECK(all_have_ended(child.out()));
  });
}

TEST_CASE("a child that ignores SIGTERM gets SIGKILL after the grace, and its group, too" *
          doctest::skip(starts_no_children())) {
  on_each_system([] {
    process child = start_family({.new_group = true}, "trap '' TERM;", "trap '' TERM;");
    CHECK(sync_wait(child.terminate(1ms)).value().signal() == SIGKILL);
    CHECK(all_have_ended(child.out()));
  });
}

TEST_CASE("a child may use the grace to end in its own way" * doctest::skip(starts_no_children())) {
  process child = process::start({"sh", "-c", "trap 'exit 9' TERM; exec 3<&0; cat <&3 & echo; wait"},
                                 {.in = process::pipe, .out = process::pipe})
                      .value();
  char byte = 0;
  CHECK(sync_wait(child.out().read_some(std::span(&byte, 1))) == std::size_t{1});
  CHECK(sync_wait(child.terminate(20s)) == exit_status(9));
  CHECK(sync_wait(child.terminate(20s)) == exit_status(9));  // it has ended
}

TEST_CASE("no child is ended by terminate() of an empty object") {
  process none;
  CHECK(sync_wait(none.terminate(0ms)).error_or({}) == std::errc::bad_file_descriptor);
}

TEST_CASE("a cancel ends the grace: the child gets SIGKILL at once; in shielded code the grace goes on" *
          doctest::skip(starts_no_children())) {
  for (const bool shields : {false, true}) {
    process child = start_family({.new_group = true}, "", shields ? "" : "trap '' TERM;");
    loop lp;
    auto end = spawn(lp, [&]() -> task<int> {
      auto status = shields ? co_await shielded(child.terminate(10min)) : co_await child.terminate(10min);
      co_return status ? status->signal() : status.error() == std::errc::operation_canceled ? -1 : -2;
    });
    end.cancel();
    lp.run_until(end);
    CHECK(sync_wait(end) == (shields ? SIGTERM : -1));
    CHECK(sync_wait(child.wait()).value().signal() == (shields ? SIGTERM : SIGKILL));
  }
}
