// What a request gives to its handler.
#include "unit/http/made_request.hpp"

#include <hocket/http/request.hpp>

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/death.hpp"

using namespace hocket;
using namespace hocket_test;
using namespace std::literals;

TEST_CASE("a request has the parts of its head") {
  made_request holder("POST /a%20b/c?x=1&y=2 HTTP/1.0\nHost: example.org:80\nX-One: 1", "body");
  const http::request& rq = *holder;
  CHECK(rq.method() == http::method::post);
  CHECK(rq.method_name() == "POST");
  CHECK(rq.target() == "/a%20b/c?x=1&y=2");
  CHECK(rq.path() == "/a b/c");
  CHECK(rq.raw_path() == "/a%20b/c");
  CHECK(rq.raw_query() == "x=1&y=2");
  CHECK(rq.host() == "example.org:80");
  CHECK(rq.minor_version() == 0);
  CHECK(rq.body() == "body");
  CHECK(rq.header("x-one") == "1");
  CHECK(rq.peer().to_string() == "192.0.2.1:4711");
  CHECK(rq.client() == rq.peer());
  CHECK(rq.scheme() == "http");
  CHECK_FALSE(rq.is_draining());
  holder.draining = true;
  CHECK(rq.is_draining());
}

TEST_CASE("a method without a name of ours has its text") {
  made_request holder("PURGE /a HTTP/1.1\nHost: a");
  CHECK(holder->method() == http::method::other);
  CHECK(holder->method_name() == "PURGE");
}

TEST_CASE("a request without a head has only its peer") {
  made_request holder;
  const http::request& rq = *holder;
  CHECK(rq.method() == http::method::other);
  CHECK(rq.method_name().empty());
  CHECK(rq.target().empty());
  CHECK(rq.path().empty());
  CHECK(rq.raw_path().empty());
  CHECK(rq.raw_query().empty());
  CHECK(rq.host().empty());
  CHECK(rq.minor_version() == 1);
  CHECK(rq.body().empty());
  CHECK(rq.header("Host") == std::nullopt);
  CHECK(rq.headers().size() == 0);
  CHECK(rq.headers().begin() == rq.headers().end());
  CHECK(rq.cookie("s") == std::nullopt);
  CHECK(rq.query("q") == failure(http::errc::bad_request));
  CHECK(rq.form("q") == failure(http::errc::unsupported_media_type));
  CHECK(rq.path<int>("id") == failure(http::errc::internal_server_error));
  CHECK(rq.peer().port() == 4711);
}

TEST_CASE("an absolute target replaces Host") {
  made_request holder("GET http://other.example/a?b HTTP/1.1\nHost: example.org");
  CHECK(holder->host() == "other.example");
  CHECK(holder->path() == "/a");
  CHECK(holder->raw_query() == "b");
  CHECK(holder->header("hOST") == "other.example");
  for (const auto [name, value] : holder->headers()) CHECK(value == "example.org");
}

TEST_CASE("lines of one name are joined by commas, those of Cookie by semicolons") {
  made_request holder(
      "GET / HTTP/1.1\nHost: a\nX-List: 1\nCookie: a=1\nAccept: text/html\nx-list: 2, 3\nCOOKIE: b=2\nAccept:\n"
      "X-LIST: 4");
  CHECK(holder->header("X-List") == "1, 2, 3, 4");
  CHECK(holder->header("Cookie") == "a=1; b=2");
  CHECK(holder->header("accept") == "text/html, ");
  CHECK(holder->header("X-Lis") == std::nullopt);
  CHECK(holder->header("") == std::nullopt);
}

TEST_CASE("a single line is a view of the head") {
  made_request holder("GET / HTTP/1.1\nHost: a\nX: the value");
  const std::string_view value = holder->header("X").value();
  CHECK(value.data() >= holder.bytes().data());
  CHECK(value.data() < holder.bytes().data() + holder.bytes().size());
}

TEST_CASE("headers gives every line in its order") {
  made_request holder("GET / HTTP/1.1\nHost: a\nB: 1\nA: 2\nB: 3");
  std::string text;
  for (const auto [name, value] : holder->headers()) text.append(name).append("=").append(value).append(";");
  CHECK(text == "Host=a;B=1;A=2;B=3;");
  CHECK(holder->headers().size() == 4);
}

TEST_CASE("a path is decoded once, and its views live with the request") {
  made_request holder(get("/%41%2f%C3%A4?%41"));
  const std::string_view first = holder->path();
  CHECK(first == "/A/\xc3\xa4");
  CHECK(holder->path().data() == first.data());
  made_request plain(get("/plain"));
  CHECK(plain->path().data() == plain->raw_path().data());
}

TEST_CASE("the first cookie of a name counts, without its quotes") {
  struct row {
    const char* lines;
    const char* name;
    std::optional<std::string_view> value;
  };
  const std::array rows{
      row{"Cookie: a=1; b=2", "a", "1"},
      row{"Cookie: a=1; b=2", "b", "2"},
      row{"Cookie: a=1; a=2", "a", "1"},
      row{"Cookie: a=1\nCookie: b=2", "b", "2"},
      row{"Cookie: a=\"x y\"", "a", "x y"},
      row{"Cookie: a=\"", "a", "\""},
      row{"Cookie: a=\"\"", "a", ""},
      row{"Cookie: a=", "a", ""},
      row{"Cookie: a", "a", std::nullopt},
      row{"Cookie: a; b=1", "b", "1"},
      row{"Cookie: =1", "", "1"},
      row{"Cookie: a=b=c", "a", "b=c"},
      row{"Cookie:  a = 1 ;b=2", "a", "1"},
      row{"Cookie: a=1;b=2", "b", "2"},
      row{"Cookie: A=1", "a", std::nullopt},
      row{"Cookie: aa=1", "a", std::nullopt},
      row{"Cookie: a=%41", "a", "%41"},
      row{"Cookie: ;;; a=1", "a", "1"},
      row{"Cookie:", "a", std::nullopt},
      row{"X: a=1", "a", std::nullopt},
      row{"Cookie: a=1,b=2", "a", "1,b=2"},
      row{"Cookie: x=a=1; a=2", "a", "2"},
  };
  for (const row& each : rows) {
    CAPTURE(each.lines);
    made_request holder("GET / HTTP/1.1\nHost: a\n" + std::string(each.lines));
    CHECK(holder->cookie(each.name) == each.value);
  }
}

TEST_CASE("objects of a request are found by their types") {
  struct user {
    std::string name;
  };
  made_request holder(get("/"));
  http::request& rq = *holder;
  CHECK(rq.get<user>() == nullptr);
  user& stored = rq.emplace<user>(user{"ada"});
  CHECK(rq.get<user>() == &stored);
  CHECK(rq.get<int>() == nullptr);
  int number = 7;
  rq.set(number);
  CHECK(rq.get<int>() == &number);
  CHECK(rq.get<unsigned>() == nullptr);
  user& second = rq.emplace<user>(user{"grace"});
  CHECK(rq.get<user>() == &second);
  CHECK(stored.name == "ada");
}

TEST_CASE("objects of a request are destroyed with it, the last one first") {
  std::string order;
  struct noisy {
    std::string* log;
    char id;
    noisy(std::string& to, char name) : log(&to), id(name) {}
    noisy(const noisy&) = delete;
    ~noisy() { *log += id; }
  };
  struct other : noisy {
    using noisy::noisy;
  };
  {
    made_request holder(get("/"));
    holder->emplace<noisy>(order, 'a');
    holder->emplace<other>(order, 'b');
    holder->emplace<noisy>(order, 'c');
    CHECK(order.empty());
  }
  CHECK(order == "cba");
}

TEST_CASE("an object whose constructor throws is not destroyed") {
  struct failing {
    failing() { throw 7; }
    ~failing() { FAIL("destroyed"); }
  };
  made_request holder(get("/"));
  CHECK_THROWS_AS(holder->emplace<failing>(), int);
  CHECK(holder->get<failing>() == nullptr);
}

TEST_CASE("the arena gives aligned memory of any size, which does not overlap") {
  http::detail::arena memory;
  std::vector<std::pair<char*, std::size_t>> parts;
  for (const std::size_t size : std::initializer_list<std::size_t>{1, 15, 16, 17, 100, 255, 256, 257, 1000, 1024, 1025,
                                                                   5000, 3, 200, 200, 200, 200}) {
    char* const text = memory.allocate_text(size);
    CHECK(reinterpret_cast<std::uintptr_t>(text) % __STDCPP_DEFAULT_NEW_ALIGNMENT__ == 0);
    std::fill_n(text, size, static_cast<char>(parts.size()));
    parts.emplace_back(text, size);
  }
  for (std::size_t i = 0; i != parts.size(); ++i)
    CHECK(std::string_view(parts[i].first, parts[i].second) == std::string(parts[i].second, static_cast<char>(i)));
  memory.clear();
  CHECK(memory.allocate(1) != nullptr);
}

TEST_CASE("the stream of a body that is read whole is fatal, with the remedy") {
  made_request holder(get("/"));
  expect_fatal([&] { static_cast<void>(holder->stream()); }, "{.body = http::streamed}");
}
