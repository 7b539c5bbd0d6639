// How children are started: their streams, environment, signals, numbers; and children that nobody waits for.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/child_output.hpp"
#include "support/children.hpp"
#include "support/death.hpp"
#include "support/temporary_folder.hpp"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

bool is_there(int id) { return ::kill(id, 0) == 0; }

}  // namespace

TEST_CASE("a child that cannot be started is the error of its start" * doctest::skip(starts_no_children())) {
  temporary_folder folder;
  const std::string plain = folder / "plain";
  ::close(::open(plain.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
  CHECK(error_of_start({folder / "none"}) == std::errc::no_such_file_or_directory);
  CHECK(error_of_start({"hocket-no-such-program"}) == std::errc::no_such_file_or_directory);
  CHECK(error_of_start({plain}) == std::errc::permission_denied);
  CHECK(error_of_start({"true"}, {.directory = "/no/such/directory"}) == std::errc::no_such_file_or_directory);
  CHECK(error_of_start({}) == std::errc::invalid_argument);
  CHECK(error_of_start({""}) == std::errc::invalid_argument);
  CHECK(error_of_start({"true", std::string_view("a\0b", 3)}) == std::errc::invalid_argument);
  const std::string_view no_variable[] = {"no variable"};
  CHECK(error_of_start({"true"}, {.environment = no_variable}) == std::errc::invalid_argument);
  CHECK(error_of_start({"true"}, {.directory = std::string_view("/\0tmp", 5)}) == std::errc::invalid_argument);
  CHECK(error_of_start({"true"}, {.out = process::to_out}) == std::errc::invalid_argument);
  CHECK(error_of_start({"true"}, {.in = process::use_fd(-1)}) == std::errc::bad_file_descriptor);
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left
}

TEST_CASE("a child's streams lead where the options say, also crosswise" * doctest::skip(starts_no_children())) {
  CHECK(output_of({"sh", "-c", "echo out; echo err >&2"}, {.err = process::to_out}) == "out\nerr\n");
  CHECK(output_of({"sh", "-c", "cat; echo end"}, {.in = process::null}) == "end\n");
  CHECK(output_of(std::vector<std::string>{"echo", "-n", "a  b", ""}) == "a  b ");

  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  // Where numbers 0 to 2 lead is exchanged in the child.
  const child_end end = end_of_child([&] {
    ::dup2(ends[1], 0);
    process child = process::start({"sh", "-c", "echo through 2 >&2; echo through 1"},
                                   {.in = process::null, .out = process::use_fd(0), .err = process::use_fd(0)})
                        .value();
    CHECK(sync_wait(child.wait()) == 0);
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
  ::close(ends[1]);
  stream from = stream::adopt(ends[0]).value();
  CHECK(sync_wait(read_all(from)) == "through 2\nthrough 1\n");
}

TEST_CASE("both outputs of a child are read at the same time, however much it writes" *
          doctest::skip(starts_no_children())) {
  loop lp;
  auto work = spawn(lp, []() -> task<> {
    process child = process::start({"sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"},
                                   {.out = process::pipe, .err = process::pipe})
                        .value();
    auto both = co_await when_all(read_all(child.out()), read_all(child.err()));
    REQUIRE(both.has_value());
    CHECK(std::get<0>(*both).size() == 300'000);
    CHECK(std::get<1>(*both).size() == 300'000);
    auto status = co_await child.wait();
    CHECK(status == 0);
  });
  lp.run_until(work);
}

TEST_CASE("a child runs in its directory and has its environment" * doctest::skip(starts_no_children())) {
  CHECK(output_of({"pwd"}, {.directory = "/"}) == "/\n");
  ::setenv("HOCKET_TEST_VARIABLE", "of the parent", 1);
  CHECK(output_of({"sh", "-c", "echo $HOCKET_TEST_VARIABLE"}) == "of the parent\n");
  const std::string_view two[] = {"HOCKET_TEST_VARIABLE=of the child", "OTHER=1"};
  CHECK(output_of({"sh", "-c", "echo $HOCKET_TEST_VARIABLE $OTHER"}, {.environment = two}) == "of the child 1\n");
  const std::vector<std::string> single{"ONE=1"};
  CHECK(output_of({"env"}, {.environment = single, .inherit_environment = false}) == "ONE=1\n");
  CHECK(output_of({"env"}, {.inherit_environment = false}).empty());
  ::unsetenv("HOCKET_TEST_VARIABLE");
}

TEST_CASE("a child has the default action of SIGPIPE, no blocked signals, and no number of hocket's" *
          doctest::skip(starts_no_children())) {
  const child_end end = end_of_child([] {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGUSR1, SIG_IGN);
    std::string inherited(8, '\0');  // what the C library's own children have: what this program was started with
    std::FILE* const counts = ::popen("ls /proc/self/fd | wc -l", "re");
    inherited.resize(std::fread(inherited.data(), 1, inherited.size(), counts));
    ::pclose(counts);
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_BLOCK, &all, nullptr);
    const std::string status = output_of({"grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"});
    CHECK(status.find("SigBlk:\t0000000000000000") != std::string::npos);
    const std::size_t at = status.find("SigIgn:\t") + 8;
    const unsigned long long ignored = std::stoull(status.substr(at, 16), nullptr, 16);
    CHECK((ignored >> (SIGPIPE - 1) & 1) == 0);
    CHECK((ignored >> (SIGUSR1 - 1) & 1) == 1);

    auto waits = process::start({"cat"}, {.in = process::pipe, .out = process::pipe, .err = process::pipe}).value();
    CHECK(output_of({"sh", "-c", "ls /proc/self/fd | wc -l"}, {.in = process::null}) == inherited);
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

TEST_CASE("a child may have a process group, or a session, of its own" * doctest::skip(starts_no_children())) {
  const auto group_of = [](const process_options& options) {
    process child = process::start({"cat"}, options).value();
    const std::pair<bool, bool> own{::getpgid(child.id()) == child.id(), ::getsid(child.id()) == child.id()};
    child.in().close();
    CHECK(sync_wait(child.wait()) == 0);
    return own;
  };
  CHECK(group_of({.in = process::pipe}) == std::pair(false, false));
  CHECK(group_of({.in = process::pipe, .new_group = true}) == std::pair(true, false));
  CHECK(group_of({.in = process::pipe, .new_session = true}) == std::pair(true, true));
}

TEST_CASE("a child that nobody waits for goes on, and is reaped by a later start" *
          doctest::skip(starts_no_children())) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  stream from = stream::adopt(ends[0]).value();
  int id = -1;
  {
    process child =
        process::start({"sh", "-c", "read line; echo $line"}, {.in = process::pipe, .out = process::use_fd(ends[1])})
            .value();
    id = child.id();
    sync_wait(child.in().write_all("still here\n")).value();
  }
  ::close(ends[1]);
  CHECK(sync_wait(read_all(from)) == "still here\n");
  while (is_there(id)) CHECK(output_of({"true"}).empty());
}

TEST_CASE("a child ends with its object, if that was asked for" * doctest::skip(starts_no_children())) {
  int id = -1;
  {
    process child = process::start({"cat"}, {.in = process::pipe, .kill_on_destruction = true}).value();
    id = child.id();
    process moved = std::move(child);
    CHECK_FALSE(static_cast<bool>(child));
    CHECK(is_there(id));
    stream input = std::move(moved.in());  // so that nothing but the kill ends it
    static_cast<void>(input.native_handle());
    moved = process();
    while (is_there(id)) CHECK(output_of({"true"}).empty());
  }
}

TEST_CASE("operations on no child are errors") {
  process none;
  CHECK(none.id() == -1);
  CHECK(sync_wait(none.wait()).error_or({}) == std::errc::bad_file_descriptor);
  CHECK(none.signal(SIGTERM).error_or({}) == std::errc::bad_file_descriptor);
  CHECK(sync_wait(none.in().write_all("x")).error_or({}) == std::errc::bad_file_descriptor);
}

TEST_CASE("whoever ignores the ends of children starts none, and a status that was taken away is an error" *
          doctest::skip(starts_no_children())) {
  const child_end end = end_of_child([] {
    process child = process::start({"true"}).value();
    int status = 0;
    CHECK(::waitpid(-1, &status, 0) == child.id());
    CHECK(sync_wait(child.wait()).error_or({}) == std::errc::no_child_process);
    ::signal(SIGCHLD, SIG_IGN);
    CHECK(error_of_start({"true"}) == std::errc::no_child_process);
    struct sigaction without_wait{};
    without_wait.sa_handler = SIG_DFL;
    without_wait.sa_flags = SA_NOCLDWAIT;
    ::sigaction(SIGCHLD, &without_wait, nullptr);
    CHECK(error_of_start({"true"}) == std::errc::no_child_process);
    without_wait.sa_flags = 0;
    ::sigaction(SIGCHLD, &without_wait, nullptr);
    CHECK(output_of({"echo", "again"}) == "again\n");
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

// UndefinedBehaviorSanitizer checks each virtual call through a pipe of its own, which it does not get here.
TEST_CASE("a child cannot be started without descriptors for its pipes" *
          doctest::skip(starts_no_children() || detail::sanitizer != detail::sanitizer_kind::plain)) {
  const child_end end = end_of_child([] {
    static_cast<void>(error_of_start({"true"}));
    rlimit usual{};
    ::getrlimit(RLIMIT_NOFILE, &usual);
    for (rlim_t most = 3; most != 12; ++most) {
      const rlimit limit{most, usual.rlim_max};
      ::setrlimit(RLIMIT_NOFILE, &limit);
      const std::error_code error = error_of_start({"true"}, {.in = process::pipe, .out = process::pipe});
      ::setrlimit(RLIMIT_NOFILE, &usual);
      CHECK((error == std::error_code() || error == std::errc::too_many_files_open));
    }
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

TEST_CASE("a fork of this process does not wait for its children, and kills none of them" *
          doctest::skip(starts_no_children())) {
  process child = process::start({"cat"}, {.in = process::pipe, .kill_on_destruction = true}).value();
  const child_end end = end_of_child([&] {
    CHECK(sync_wait(child.wait()).error_or({}) == std::errc::no_child_process);
    child = process();
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
  CHECK(is_there(child.id()));
  child.in().close();
  CHECK(sync_wait(child.wait()) == 0);
}
