// The blocking pool of the options: it opens and reads the files, and the pool of the process has no call.
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/http/server.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/runtime/blocking_pool.hpp>
#include <hocket/runtime/loop.hpp>

#include "unit/http/files/site.hpp"

#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;

namespace {

// Handlers that make an answer of a file and then empty the file. So no byte of it is in the cache, and the server has
// to read on the pool, where it finds the end of the file.
class emptied_file {
 public:
  explicit emptied_file(blocking_pool& pool) : pool_(pool) {}

  result<http::response> by_fd(http::request& rq) const {
    fill();
    auto answer = http::send_file(rq, unique_fd(::open(path().c_str(), O_RDONLY | O_CLOEXEC)), {.pool = &pool_});
    REQUIRE(::truncate(path().c_str(), 0) == 0);
    return answer;
  }
  task<result<http::response>> by_path(http::request& rq) const {
    fill();
    auto sending = http::send_file(rq, path(), {.pool = &pool_});
    result<http::response> answer = co_await std::move(sending);
    REQUIRE(::truncate(path().c_str(), 0) == 0);
    co_return answer;
  }

 private:
  void fill() const { std::ofstream(path(), std::ios::binary) << std::string(100'000, 'x'); }
  std::string path() const { return folder_ / "file"; }

  temporary_folder folder_;
  blocking_pool& pool_;
};

// Sends the request and reads to the end of the connection.
std::string ask(loop& lp, const http::server& server, const std::string& request) {
  auto client = spawn(lp, [&]() -> task<std::string> {
    tcp::stream peer = (co_await tcp::connect(server.local_address())).value();
    static_cast<void>(co_await peer.write_all(request));
    std::array<char, 4096> buffer;
    std::string reply;
    for (;;) {
      const result<std::size_t> n = co_await peer.read_some(buffer);
      if (!n || *n == 0) co_return reply;
      reply.append(buffer.data(), *n);
    }
  });
  lp.run_until(client);
  return sync_wait(client);
}

}  // namespace

// On a socket: virtual time does not wait for the threads of a pool.
TEST_CASE("a file is opened and read on the pool of the options") {
  blocking_pool pool;
  const std::uint64_t others = blocking_pool::process_pool().statistics().begun;
  const emptied_file file(pool);
  http::router routes;
  routes.get("/fd", [&file](http::request& rq) { return file.by_fd(rq); });
  routes.get("/path", [&file](http::request& rq) { return file.by_path(rq); });
  loop lp;
  http::server server = http::serve(lp, "127.0.0.1:0", {}, std::move(routes)).value();
  struct row {
    std::string_view target, range;
    std::uint64_t calls;
  };
  for (const row& expected : {row{"/fd", "", 1}, row{"/fd", "\r\nRange: bytes=0-50000", 1},
                              row{"/fd", "\r\nRange: bytes=0-1,5-9", 1}, row{"/path", "", 2}}) {
    CAPTURE(expected.target);
    CAPTURE(expected.range);
    const std::uint64_t before = pool.statistics().begun;
    std::string request("GET ");
    request.append(expected.target).append(" HTTP/1.1\r\nHost: a").append(expected.range).append("\r\n\r\n");
    static_cast<void>(ask(lp, server, request));
    CHECK(pool.statistics().begun - before == expected.calls);
  }
  CHECK(blocking_pool::process_pool().statistics().begun == others);
  auto ended = spawn(lp, [&]() -> task<> { static_cast<void>(co_await server.graceful_shutdown({})); });
  lp.run_until(ended);
}

TEST_CASE("the files of a folder are read on the pool of its options") {
  blocking_pool pool;
  site files({.pool = &pool});
  files.write("public/large.bin", std::string(100'000, 'x'));
  for (const char* lines : {"", "\nRange: bytes=0-50000"}) {
    CAPTURE(lines);
    const shown_answer answer = files.get("/static/large.bin", lines);
    REQUIRE(http::detail::response_access::body(answer.response).type() == http::detail::response_body::kind::file);
    CHECK(http::detail::response_access::body(answer.response).file().pool == &pool);
  }
}
