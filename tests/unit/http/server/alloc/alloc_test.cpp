// A plain handler's request allocates nothing, once the worker has warmed up. FAULTS 63: each allocation fails once.
#include <hocket/core/frame_memory.hpp>

#include "support/alloc.hpp"
#include "unit/http/server/world.hpp"

using namespace hocket_test;

namespace {

http::router routes() {
  http::router all;
  all.get("/hello", [](http::request&) { return http::text("hello"); });
  all.get("/user/{id}", [](http::request& rq) {
    const result<std::string_view> id = rq.path<std::string_view>("id");
    return http::text(id ? *id : "none").set("X-Kind", "user");
  });
  all.post("/echo", [](http::request& rq) { return http::text(rq.body()); });
  all.get("/task", [](http::request&) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(1ms));
    co_return http::text("task");
  });
  all.post("/stream", {.body = http::streamed}, [](http::request& rq) -> task<result<http::response>> {
    std::array<char, 64> buffer;
    std::string body;
    for (;;) {
      const std::size_t n = co_await or_return(rq.stream().read_some(buffer));
      if (n == 0) break;
      body.append(buffer.data(), n);
    }
    co_return http::text(std::move(body));
  });
  all.get("/function", [](http::request&) {
    return http::stream_body("text/plain", [](http::body_writer& out) -> task<result<void>> {
      co_await or_return(out.write("abc"));
      co_return {};
    });
  });
  return all;
}

}  // namespace

namespace {

constexpr auto long_enough = 20s;  // a wait that lasts so long is lost

std::string post(const char* target, const char* more) {
  return std::string("POST ") + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + more;
}
std::string get(const char* target) {
  return std::string("GET ") + target + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
}

// Whether the answer is complete. The client allocates what it needs before.
task<bool> ask(const socket_address& at, std::string_view sent) {
  auto peer = co_await within(long_enough, tcp::connect(at));
  if (!peer) co_return false;
  if (!co_await within(long_enough, peer->write_all(sent))) co_return false;
  std::array<char, 1024> buffer{};
  std::size_t size = 0;
  for (;;) {
    const mutable_buffer room(buffer.data() + size, buffer.size() - size);
    const result<std::size_t> n = co_await within(long_enough, peer->read_some(room));
    CHECK((n || n.error() != std::errc::timed_out));
    if (!n || *n == 0) break;
    size += *n;
  }
  co_return std::string_view(buffer.data(), size).starts_with("HTTP/1.1 200 OK\r\n");
}
bool is_answered(loop& lp, const socket_address& at, std::string_view sent) {
  auto answered = spawn(lp, ask, at, sent);
  lp.run_until(answered);
  return sync_wait(answered);
}

// False: it had no memory.
template <class Call>
bool attempt(Call call) {
  try {
    call();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// One server, one client, with the nth allocation failing. Whether there was one.
bool serve_with_failure(std::size_t failing, std::string_view sent) {
  CAPTURE(failing);
  trim_frame_memory();
  loop lp;
  http::server server = http::serve(lp, "127.0.0.1:0", {}, routes()).value();
  bool failed = false, answered = false;
  {
    allocation_watch watch(failing);
    attempt([&] { answered = is_answered(lp, server.local_address(), sent); });
    failed = watch.has_failed();
  }
  CHECK((failed || answered));
  CHECK(is_answered(lp, server.local_address(), sent));
  auto ended =
      spawn(lp, [&]() -> task<> { static_cast<void>(co_await server.graceful_shutdown({.drain = long_enough})); });
  lp.run_until(ended);
  CHECK(server.connections() == 0);
  return failed;
}

}  // namespace

TEST_CASE("requests of plain handlers allocate nothing") {
  const std::string rows[] = {
      "GET /hello HTTP/1.1\r\nHost: a\r\nUser-Agent: b\r\nAccept: */*\r\n\r\n",
      "GET /user/17 HTTP/1.1\r\nHost: a\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc",
      "GET /none HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
  };
  loop lp;
  http::server server = http::serve(lp, "127.0.0.1:0", {}, routes()).value();
  for (const std::string& row : rows) {
    CAPTURE(row);
    auto counted = spawn(lp, [&]() -> task<std::size_t> {
      tcp::stream peer = (co_await tcp::connect(server.local_address())).value();
      std::array<char, 4096> buffer;
      for (int i = 0; i < 20; ++i) {
        static_cast<void>(co_await peer.write_all(row));
        static_cast<void>(co_await peer.read_some(buffer));
      }
      allocation_watch watch;
      for (int i = 0; i < 20; ++i) {
        static_cast<void>(co_await peer.write_all(row));
        const result<std::size_t> n = co_await peer.read_some(buffer);
        CHECK(std::string_view(buffer.data(), n.value_or(0)).starts_with("HTTP/1.1 "));
      }
      co_return watch.allocations();
    });
    lp.run_until(counted);
    CHECK(sync_wait(counted) == 0);
  }
}

TEST_CASE("fault 63: each allocation of a request fails once, and the next client is served") {
  const std::string rows[] = {get("/hello"),
                              get("/user/17"),
                              get("/task"),
                              get("/function"),
                              post("/echo", "Content-Length: 3\r\n\r\nabc"),
                              post("/echo", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),
                              post("/stream", "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")};
  for (const std::string& row : rows) {
    CAPTURE(row);
    std::size_t failing = 1;
    while (serve_with_failure(failing, row)) ++failing;
    CHECK(failing > 3);
  }
}

namespace {

// Writes `count` pieces, each again if there was no memory.
task<result<void>> write_again(http::body_writer& out, int count) {
  const std::string large(http::body_writer::flush_size + 1, 'l'), small(900, 's');
  for (int i = 0; i < count;) {
    result<void> written;
    try {
      if (i % 20 == 19) {
        auto sending = out.write_all(large);
        const result<std::size_t> sent = co_await std::move(sending);
        if (!sent) written = failure(sent.error());
      } else {
        auto collecting = i % 20 == 10 ? out.flush() : out.write(small);
        written = co_await std::move(collecting);
      }
      ++i;
    } catch (const std::bad_alloc&) {
    }
    if (!written) co_return written;
  }
  co_return {};
}

// All bytes until the end of the stream; "" if there was no memory.
task<std::string> ask_all(const socket_address& at, std::string_view sent) {
  auto peer = co_await within(long_enough, tcp::connect(at));
  if (!peer || !co_await within(long_enough, peer->write_all(sent))) co_return std::string();
  std::string all;
  all.reserve(200'000);
  std::array<char, 4096> buffer;
  for (;;) {
    const result<std::size_t> n = co_await within(long_enough, peer->read_some(buffer));
    if (!n || *n == 0) break;
    all.append(buffer.data(), *n);
  }
  co_return all;
}

}  // namespace

TEST_CASE("fault 63: a function that has no memory for a piece may write it again, and the body is what it wrote") {
  static constexpr int count = 60;
  http::router routes;
  routes.get("/chunks", [](http::request&) { return http::stream_body("text/plain", write_again, count); });
  std::string expected;
  for (int i = 0; i < count; ++i) {
    if (i % 20 == 19) expected.append(http::body_writer::flush_size + 1, 'l');
    else if (i % 20 != 10) expected.append(900, 's');
  }
  loop lp;
  http::server server = http::serve(lp, "127.0.0.1:0", {}, std::move(routes)).value();
  const std::string sent = get("/chunks");
  bool failed = true;
  std::size_t complete = 0;
  for (std::size_t failing = 1; failed; ++failing) {
    CAPTURE(failing);
    trim_frame_memory();
    std::string reply;
    {
      allocation_watch watch(failing);
      attempt([&] {
        auto client = spawn(lp, ask_all, server.local_address(), sent);
        lp.run_until(client);
        reply = sync_wait(client);
      });
      failed = watch.has_failed();
    }
    const std::optional<answer> read = answer_reader(reply).next();
    if (!read || read->status != 200 || !read->is_complete) continue;
    ++complete;
    CHECK((read->body == expected));
  }
  CHECK(complete > 10);
  auto ended =
      spawn(lp, [&]() -> task<> { static_cast<void>(co_await server.graceful_shutdown({.drain = long_enough})); });
  lp.run_until(ended);
}
