// What a child is and has by the options of its start: fds, name, ids, umask, limits, ignored signals, directory.
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/seam/descriptor_table.hpp>

#include "support/child_output.hpp"
#include "support/children.hpp"
#include "support/death.hpp"
#include "support/numbers.hpp"
#include "support/temporary_folder.hpp"
#include "support/waits.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <grp.h>
#include <limits>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

std::string output_of_shell(std::string_view script, const process_options& options = {}) {
  return output_of({"sh", "-c", script}, options);
}

void write_program(const std::string& path, std::string_view text, unsigned mode = 0700) {
  std::ofstream(path) << text;
  REQUIRE(::chmod(path.c_str(), mode) == 0);
}

// Shells know fds of one digit by their numbers.
std::string path_of(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace

// --- fds

TEST_CASE("a child gets further fds by their numbers, and no others" * doctest::skip(starts_no_children())) {
  number_pipe first, second;
  first.put();
  const process_fd fds[] = {{3, first.in}, {7, second.out}};
  CHECK(output_of_shell("head -c 1 <&3; printf q >&7", {.fds = fds}) == "p");
  char byte = 0;
  CHECK(::read(second.in, &byte, 1) == 1);
  CHECK(byte == 'q');
  const process_fd unused[] = {{200, first.in}, {201, second.out}};  // a launcher may have left 3 or 7 open
  const std::string count = "ls /proc/self/fd | wc -l";
  CHECK(std::stoi(output_of_shell(count, {.fds = unused})) == std::stoi(output_of_shell(count)) + 2);
}

TEST_CASE("fds of a child are exchanged with other fds of this process" * doctest::skip(starts_no_children())) {
  expect_return([] {
    number_pipe pipes[2];
    const int low = std::min(pipes[0].out, pipes[1].out), high = std::max(pipes[0].out, pipes[1].out);
    const bool in_order = low == pipes[0].out;
    const process_fd fds[] = {{low, high}, {high, low}};
    const std::string script = "printf l >" + path_of(low) + "; printf h >" + path_of(high);
    CHECK(output_of_shell(script, {.fds = fds}).empty());
    char byte = 0;
    CHECK(::read(pipes[in_order ? 1 : 0].in, &byte, 1) == 1);
    CHECK(byte == 'l');
    CHECK(::read(pipes[in_order ? 0 : 1].in, &byte, 1) == 1);
    CHECK(byte == 'h');
    const process_fd same[] = {{low, low}, {low + 1000, low}};  // closed on exec here, and not there
    const std::string twice = "printf a >" + path_of(low);
    CHECK(output_of_shell(twice, {.fds = std::span(same).first(1)}).empty());
    CHECK(output_of({"true"}, {.fds = same}).empty());
  });
}

TEST_CASE("an fd that leads to one of a standard stream's is what that was before the start" *
          doctest::skip(starts_no_children())) {
  number_pipe pipe;
  expect_return([&] {
    REQUIRE(::dup2(pipe.out, 1) == 1);
    const process_fd fds[] = {{3, 1}};
    process child =
        process::start({"sh", "-c", "printf three >&3; printf one"}, {.out = process::pipe, .fds = fds}).value();
    CHECK(sync_wait(read_all(child.out())) == "one");
    CHECK(sync_wait(child.wait()) == exit_status(0));
  });
  ::close(std::exchange(pipe.out, -1));
  stream from = stream::adopt(std::exchange(pipe.in, -1)).value();
  CHECK(sync_wait(read_all(from)) == "three");
}

TEST_CASE("fds that a child cannot have are refused, and nothing is started" * doctest::skip(starts_no_children())) {
  const process_fd low[] = {{2, 0}};
  const process_fd negative[] = {{-1, 0}};
  const process_fd twice[] = {{5, 0}, {5, 1}};
  const process_fd closed[] = {{5, -1}};
  CHECK(error_of_start({"true"}, {.fds = low}) == std::errc::invalid_argument);
  CHECK(error_of_start({"true"}, {.fds = negative}) == std::errc::invalid_argument);
  CHECK(error_of_start({"true"}, {.fds = twice}) == std::errc::invalid_argument);
  CHECK(error_of_start({"true"}, {.fds = closed}) == std::errc::bad_file_descriptor);
  const process_fd above_all_limits[] = {{std::numeric_limits<int>::max(), 0}};
  CHECK(error_of_start({"true"}, {.fds = above_all_limits}));
}

// --- the program

TEST_CASE("a program gets the name of the option, and is found by its own" * doctest::skip(starts_no_children())) {
  CHECK(output_of({"sh", "-c", "echo $0"}, {.argv0 = "another"}) == "another\n");
  CHECK(output_of({"/bin/sh", "-c", "tr '\\0' '\\n' </proc/$$/cmdline | head -n 1"}, {.argv0 = "-login"}) ==
        "-login\n");
  CHECK(error_of_start({"true"}, {.argv0 = std::string_view("a\0b", 3)}) == std::errc::invalid_argument);
}

TEST_CASE("a program is looked for in the directories of PATH, as execvp does it" *
          doctest::skip(starts_no_children())) {
  expect_return([] {
    temporary_folder denied, good;
    const char* const name = "hocket-test-program";
    write_program(denied / name, "#!/bin/sh\necho denied\n", 0600);
    write_program(good / name, "#!/bin/sh\necho good\n");
    const std::string in_denied = std::filesystem::path(denied / name).parent_path();
    const std::string in_good = std::filesystem::path(good / name).parent_path();
    const auto with_path = [&](const std::string& path) {
      ::setenv("PATH", path.c_str(), 1);
      result<process> started = process::start({name}, {.out = process::pipe});
      if (!started) return started.error().message();
      return sync_wait(read_all(started->out())).value();
    };
    const auto text_of = [](std::errc error) { return std::make_error_code(error).message(); };
    CHECK(with_path(in_denied + ":" + in_good) == "good\n");
    CHECK(with_path("/no/such/directory:/dev/null:" + in_good + ":" + in_denied) == "good\n");
    CHECK(with_path(in_denied + ":/no/such/directory") == text_of(std::errc::permission_denied));
    CHECK(with_path("/no/such/directory") == text_of(std::errc::no_such_file_or_directory));
    CHECK(with_path(std::string(5000, 'x') + ":" + in_good) == "good\n");
    CHECK(with_path("") == text_of(std::errc::no_such_file_or_directory));
    REQUIRE(::chdir(in_good.c_str()) == 0);
    for (const char* const path : {"", ":", "/no/such/directory:", ":/no/such/directory"}) {
      CAPTURE(path);
      CHECK(with_path(path) == "good\n");
    }
    ::unsetenv("PATH");
    CHECK(error_of_start({"true"}) == std::error_code());
    CHECK(error_of_start({name}) == std::errc::no_such_file_or_directory);
  });
}

TEST_CASE("what is no program is an error of the start, and no shell runs it" * doctest::skip(starts_no_children())) {
  temporary_folder folder;
  write_program(folder / "text", "echo a shell runs this\n");
  write_program(folder / "no_interpreter", "#!/no/such/interpreter\n");
  CHECK(error_of_start({folder / "text"}) == std::errc::executable_format_error);
  CHECK(error_of_start({folder / "no_interpreter"}) == std::errc::no_such_file_or_directory);
  CHECK(error_of_start({(folder / "text") + "/below"}) == std::errc::not_a_directory);
  CHECK(error_of_start({"true", std::string(4 << 20, 'x')}) == std::errc::argument_list_too_long);
}

// --- the directory

TEST_CASE("a directory that has been removed is an error of the start, and a removed one of this process is inherited" *
          doctest::skip(starts_no_children())) {
  expect_return([] {
    std::string removed;
    {
      temporary_folder folder;
      removed = std::filesystem::path(folder / "x").parent_path();
      REQUIRE(::chdir(removed.c_str()) == 0);
    }
    CHECK(error_of_start({"true"}, {.directory = removed}) == std::errc::no_such_file_or_directory);
    CHECK(error_of_start({"true"}, {.directory = "below"}) == std::errc::no_such_file_or_directory);
    CHECK(error_of_start({"./true"}) == std::errc::no_such_file_or_directory);
    CHECK(error_of_start({"true"}, {.directory = "/dev/null"}) == std::errc::not_a_directory);
    CHECK(output_of({"echo", "in it"}) == "in it\n");
    CHECK(output_of({"pwd"}, {.directory = "/"}) == "/\n");
  });
}

// --- umask, limits

TEST_CASE("a child has the umask of its options, and this process keeps its own" *
          doctest::skip(starts_no_children())) {
  const mode_t before = ::umask(022);
  CHECK(output_of_shell("umask") == "0022\n");
  CHECK(output_of_shell("umask", {.umask = 077}) == "0077\n");
  CHECK(output_of_shell("umask", {.umask = 0}) == "0000\n");
  CHECK(::umask(before) == 022);
  CHECK(error_of_start({"true"}, {.umask = 01000}) == std::errc::invalid_argument);
  CHECK(error_of_start({"true"}, {.umask = -2}) == std::errc::invalid_argument);
}

TEST_CASE("a child has the limits of its options, and this process keeps its own" *
          doctest::skip(starts_no_children())) {
  rlimit before{}, after{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const resource_limit limits[] = {{RLIMIT_NOFILE, 50, 60}, {RLIMIT_CORE, 0, 0}};
  CHECK(output_of_shell("ulimit -Sn; ulimit -Hn; ulimit -Hc", {.limits = limits}) == "50\n60\n0\n");
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &after) == 0);
  CHECK(before.rlim_cur == after.rlim_cur);
  const resource_limit unknown[] = {{1000, 1, 1}};
  const resource_limit contradictory[] = {{RLIMIT_NOFILE, 60, 50}};
  CHECK(error_of_start({"true"}, {.limits = unknown}) == std::errc::invalid_argument);
  CHECK(error_of_start({"true"}, {.limits = contradictory}) == std::errc::invalid_argument);
  const resource_limit size[] = {{RLIMIT_FSIZE, 0}};  // without the second number: no hard limit
  CHECK(output_of_shell("ulimit -Hf", {.limits = size}) == "unlimited\n");
}

TEST_CASE("a child gets fds by numbers above the limit that it gets" * doctest::skip(starts_no_children())) {
  number_pipe pipe;
  const process_fd fds[] = {{40, pipe.out}};
  const resource_limit limits[] = {{RLIMIT_NOFILE, 20, 20}};
  CHECK(output_of({"sh", "-c", "printf x >/proc/self/fd/40"}, {.fds = fds, .limits = limits}).empty());
  pipe.take();
}

TEST_CASE("a child has the soft limit of fds that this process had before hocket raised it, or that of its options" *
          doctest::skip(starts_no_children())) {
  expect_return([] {
    const rlimit low{100, 200};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &low) == 0);
    detail::raise_descriptor_limit();
    CHECK(output_of_shell("ulimit -Sn; ulimit -Hn") == "100\n200\n");
    const resource_limit limits[] = {{RLIMIT_NOFILE, 150, 150}};
    CHECK(output_of_shell("ulimit -Sn; ulimit -Hn", {.limits = limits}) == "150\n150\n");
    const rlimit another{120, 200};
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &another) == 0);
    CHECK(output_of_shell("ulimit -Sn") == "120\n");
  });
}

// --- ids

TEST_CASE("a child has the ids of its options, for good, and enters its directory with them" *
          doctest::skip(starts_no_children() || ::geteuid() != 0)) {
  temporary_folder folder;
  const std::string inside = folder / "closed";
  REQUIRE(::mkdir(inside.c_str(), 0700) == 0);
  const std::uint32_t groups[] = {60001, 60002};
  const std::string ids = "grep -E '^(Uid|Gid|Groups)' /proc/self/status | tr -s ' \\t\\n' ' '";
  CHECK(output_of_shell(ids, {.user = 60000, .group = 60001, .groups = groups}) ==
        "Uid: 60000 60000 60000 60000 Gid: 60001 60001 60001 60001 Groups: 60001 60002 ");
  expect_return([&] {
    const gid_t own[] = {60003};
    REQUIRE(::setgroups(1, own) == 0);
    CHECK(output_of_shell(ids, {.user = 60000, .group = 60001}) ==
          "Uid: 60000 60000 60000 60000 Gid: 60001 60001 60001 60001 Groups: ");
    CHECK(output_of_shell(ids) == "Uid: 0 0 0 0 Gid: 0 0 0 0 Groups: 60003 ");
  });
  CHECK(error_of_start({"true"}, {.directory = inside, .user = 60000}) == std::errc::permission_denied);
  CHECK(::geteuid() == 0);
  expect_return([&] {
    REQUIRE(::setresuid(60000, 60000, 60000) == 0);
    CHECK(error_of_start({"true"}, {.user = 60000}) == std::error_code());
    CHECK(error_of_start({"true"}, {.user = 0}) == std::errc::operation_not_permitted);
    CHECK(error_of_start({"true"}, {.groups = groups}) == std::errc::operation_not_permitted);
  });
}

TEST_CASE("ids that do not exist are refused" * doctest::skip(starts_no_children())) {
  for (const std::int64_t wrong : {std::int64_t{-2}, std::int64_t{0xffff'ffff}, std::int64_t{1} << 40}) {
    CHECK(error_of_start({"true"}, {.user = wrong}) == std::errc::invalid_argument);
    CHECK(error_of_start({"true"}, {.group = wrong}) == std::errc::invalid_argument);
  }
}

// --- all at once

TEST_CASE("a start that fails at any of its options leaves no child and no fd" * doctest::skip(starts_no_children())) {
  const process_fd fds[] = {{9, 0}};
  const resource_limit unknown[] = {{1000, 1, 1}};
  const process_options failing[] = {
      {.in = process::pipe, .out = process::pipe, .fds = fds, .directory = "/no/such/directory"},
      {.in = process::pipe, .out = process::pipe, .fds = fds, .limits = unknown},
      {.in = process::pipe, .out = process::pipe, .err = process::use_fd(-1), .fds = fds},
  };
  CHECK(output_of({"true"}).empty());
  const std::size_t before = open_numbers();
  for (const process_options& options : failing) {
    CHECK(error_of_start({"true"}, options));
    CHECK(open_numbers() <= before);  // fewer: a child of before is reaped
  }
}
