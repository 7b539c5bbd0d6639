// Children at the edges: many at once, arguments of every kind, a program that is named beside a directory, a parent
// without standard streams, a grandchild that keeps a pipe open, starts that fail.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/children.hpp"
#include "support/death.hpp"
#include "support/temporary_folder.hpp"
#include "support/waits.hpp"

#include <csignal>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<result<std::string>> output_of(std::vector<std::string> arguments) {
  auto started = process::start(arguments, {.out = process::pipe});
  process& child = co_await or_return(started);
  std::string text = co_await or_return(read_all(child.out()));
  const exit_status status = co_await or_return(child.wait());
  if (!status.success()) co_return failure(std::errc::io_error);
  co_return text;
}

}  // namespace

TEST_CASE("a hundred children run at the same time, and each is read and waited for" *
          doctest::skip(starts_no_children())) {
  runtime rt({.workers = 3});
  std::vector<join_handle<result<std::string>>> all;
  for (int i = 0; i < 100; ++i)
    all.push_back(spawn(rt, output_of, std::vector<std::string>{"echo", std::to_string(i)}));
  for (int i = 0; i < 100; ++i) CHECK(sync_wait(all[static_cast<std::size_t>(i)]) == std::to_string(i) + "\n");
}

TEST_CASE("arguments reach a child as they are" * doctest::skip(starts_no_children())) {
  const std::vector<std::string> words{"",      " ", "two words", "\"quoted\"", "back\\slash",
                                       "$HOME", "*", "new\nline", "ä"};
  std::vector<std::string> arguments{"printf", "[%s]"};
  std::string expected;
  for (const std::string& word : words) {
    arguments.push_back(word);
    expected += "[" + word + "]";
  }
  CHECK(sync_wait(output_of(arguments)) == expected);
}

TEST_CASE("exit codes of every size are told, and signals beside them" * doctest::skip(starts_no_children())) {
  for (const int code : {0, 1, 127, 128, 255}) {
    process child = process::start({"sh", "-c", "exit " + std::to_string(code)}).value();
    const exit_status status = sync_wait(child.wait()).value();
    CHECK(status.code() == code);
    CHECK(status.signal() == 0);
  }
  process child = process::start({"sh", "-c", "kill -TERM $$"}).value();
  const exit_status status = sync_wait(child.wait()).value();
  CHECK(status.code() == -1);
  CHECK(status.signal() == SIGTERM);
  CHECK(status == 128 + SIGTERM);
}

TEST_CASE("a program with a relative path is looked for in the directory of the child" *
          doctest::skip(starts_no_children())) {
  temporary_folder folder;
  const std::string script = folder / "script";
  std::ofstream(script) << "#!/bin/sh\necho found\n";
  std::filesystem::permissions(script, std::filesystem::perms::owner_all);
  const std::string directory = std::filesystem::path(script).parent_path();
  process child = process::start({"./script"}, {.out = process::pipe, .directory = directory}).value();
  CHECK(sync_wait(read_all(child.out())) == "found\n");
  CHECK(sync_wait(child.wait()) == exit_status(0));
  CHECK(process::start({"./script"}).error() == std::errc::no_such_file_or_directory);
}

TEST_CASE("starts that fail leave no descriptor open" * doctest::skip(starts_no_children())) {
  const process_options pipes{.in = process::pipe, .out = process::pipe, .err = process::pipe};
  CHECK_FALSE(process::start({"hocket-no-such-program"}, pipes).has_value());
  const std::size_t before = open_numbers();
  for (int i = 0; i < 20; ++i) CHECK_FALSE(process::start({"hocket-no-such-program"}, pipes).has_value());
  CHECK(open_numbers() == before);
}

// Numbers 0 to 2 are those that the pipes would get.
TEST_CASE("a process without standard streams starts children with pipes" * doctest::skip(starts_no_children())) {
  const child_end end = end_of_child([] {
    for (const int closed : {STDIN_FILENO, STDOUT_FILENO}) ::close(closed);
    process child = process::start({"cat"}, {.in = process::pipe, .out = process::pipe}).value();
    CHECK(sync_wait(child.in().write_all("through the pipes")).has_value());
    child.in().close();
    CHECK(sync_wait(read_all(child.out())) == "through the pipes");
    CHECK(sync_wait(child.wait()) == exit_status(0));
    process quiet = process::start({"true"}).value();
    CHECK(sync_wait(quiet.wait()) == exit_status(0));
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

TEST_CASE("a child has ended though its grandchild holds its pipes, which end with that one" *
          doctest::skip(starts_no_children())) {
  process child =
      process::start({"sh", "-c", "exec 3<&0; cat <&3 & exit 3"}, {.in = process::pipe, .out = process::pipe}).value();
  CHECK(sync_wait(child.wait()) == exit_status(3));
  char byte = 0;
  CHECK(sync_wait(within(0ms, child.out().read_some(std::span(&byte, 1)))).error() == std::errc::timed_out);
  CHECK(sync_wait(child.in().write_all("of the grandchild")).has_value());
  child.in().close();
  CHECK(sync_wait(read_all(child.out())) == "of the grandchild");
}

TEST_CASE("a child that closes its input early, and its output, is still waited for" *
          doctest::skip(starts_no_children())) {
  process child =
      process::start({"sh", "-c", "exec 0<&- 1>&-; kill -STOP $$; exit 4"}, {.in = process::pipe, .out = process::pipe})
          .value();
  CHECK(sync_wait(read_all(child.out())) == "");
  const std::string much(1'000'000, 'm');
  CHECK(sync_wait(child.in().write_all(much)).error() == std::errc::broken_pipe);
  CHECK(sync_wait(within(0ms, child.wait())).error() == std::errc::timed_out);
  auto stopped = [&] {
    std::string name, state;
    std::ifstream file("/proc/" + std::to_string(child.id()) + "/stat");
    file >> name >> name >> state;
    return state == "T";
  };
  while (!stopped()) std::this_thread::yield();
  CHECK(child.signal(SIGCONT).has_value());
  CHECK(sync_wait(child.wait()) == exit_status(4));
}
