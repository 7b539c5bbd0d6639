// Pipes.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/death.hpp"

#include <array>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/resource.h>

using namespace hocket;
using namespace hocket_test;

namespace {

task<> write_and_close(stream& to, const std::string& what) {
  auto sent = co_await to.write_all(what);
  CHECK(sent == what.size());
  to.close();
}

}  // namespace

TEST_CASE("the reader of a pipe gets what its writer writes, and then the end") {
  auto [reader, writer] = make_pipe().value();
  const std::string much(1'000'000, 'p');  // more than a pipe holds
  loop lp;
  auto sent = spawn(lp, write_and_close, std::ref(writer), std::cref(much));
  auto got =
      spawn(lp, [](stream& from) -> task<result<std::string>> { co_return co_await read_all(from); }, std::ref(reader));
  lp.run_until(got);
  CHECK(sync_wait(got) == much);
}

TEST_CASE("the ends of a pipe do not block, and are not inherited") {
  auto [reader, writer] = make_pipe().value();
  for (const stream* one : {&reader, &writer}) {
    CHECK((::fcntl(one->native_handle(), F_GETFL) & O_NONBLOCK) != 0);
    CHECK((::fcntl(one->native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

TEST_CASE("read_all of a pipe tells of more than its limit, though the pipe does not end") {
  auto [reader, writer] = make_pipe().value();
  sync_wait(writer.write_all("four more")).value();
  CHECK(sync_wait(read_all(reader, 4)).error_or({}) == std::errc::message_size);
}

TEST_CASE("a write to a pipe without a reader is an error, and no signal") {
  const child_end end = end_of_child([] {
    ::signal(SIGPIPE, SIG_DFL);
    auto [reader, writer] = make_pipe().value();
    reader.close();
    CHECK(sync_wait(writer.write_all("nobody")).error_or({}) == std::errc::broken_pipe);
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

TEST_CASE("a pipe without descriptors is an error") {
  const child_end end = end_of_child([] {
    rlimit none{};
    ::getrlimit(RLIMIT_NOFILE, &none);
    none.rlim_cur = 4;
    ::setrlimit(RLIMIT_NOFILE, &none);
    CHECK(make_pipe().error_or({}) == std::errc::too_many_files_open);
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}
