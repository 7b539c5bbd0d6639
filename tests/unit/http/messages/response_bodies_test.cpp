// The bodies of responses, and who owns their bytes.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/http/body_writer.hpp>
#include <hocket/http/response.hpp>
#include <hocket/http/upgrade.hpp>

#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>

using namespace hocket;
using namespace std::literals;
using kind = http::detail::response_body::kind;

namespace {

http::detail::response_body& body_of(http::response& answer) { return http::detail::response_access::body(answer); }

// The functions here do not write, so there is no connection.
struct no_writer {
  alignas(http::body_writer) std::array<std::byte, sizeof(http::body_writer)> bytes{};
  http::body_writer& get() { return *reinterpret_cast<http::body_writer*>(bytes.data()); }
};

}  // namespace

TEST_CASE("text functions set the content type and view or own the body") {
  const std::string lvalue = "lvalue";
  const std::string_view view = "view";
  struct row {
    http::response answer;
    const char* type;
    const char* body;
  };
  std::array rows{row{http::text("literal"), "text/plain; charset=utf-8", "literal"},
                  row{http::text(view), "text/plain; charset=utf-8", "view"},
                  row{http::text(lvalue), "text/plain; charset=utf-8", "lvalue"},
                  row{http::text("rvalue"s), "text/plain; charset=utf-8", "rvalue"},
                  row{http::html("literal"), "text/html; charset=utf-8", "literal"},
                  row{http::html(lvalue), "text/html; charset=utf-8", "lvalue"},
                  row{http::html("rvalue"s), "text/html; charset=utf-8", "rvalue"},
                  row{http::json("{}"), "application/json", "{}"},
                  row{http::json(lvalue), "application/json", "lvalue"},
                  row{http::json("[1]"s), "application/json", "[1]"},
                  row{http::content("image/png", "literal"), "image/png", "literal"},
                  row{http::content("image/png", lvalue), "image/png", "lvalue"},
                  row{http::content("image/png", "rvalue"s), "image/png", "rvalue"}};
  for (row& each : rows) {
    CAPTURE(each.body);
    CHECK(each.answer.status() == http::status::ok);
    CHECK(each.answer.header("Content-Type") == each.type);
    CHECK(body_of(each.answer).type() == kind::text);
    CHECK(body_of(each.answer).text() == each.body);
    CHECK(body_of(each.answer).size() == std::string_view(each.body).size());
  }
}

TEST_CASE("a view keeps the address of its bytes, a string is copied or moved") {
  const std::string_view view = "the bytes of a view";
  http::response viewed = http::text(view);
  CHECK(body_of(viewed).text().data() == view.data());
  std::string text(100, 't');
  http::response copied = http::text(text);
  CHECK(body_of(copied).text().data() != text.data());
  text[0] = 'x';
  CHECK(body_of(copied).text() == std::string(100, 't'));
  const char* const address = text.data();
  http::response moved = http::text(std::move(text));
  CHECK(body_of(moved).text().data() == address);
}

TEST_CASE("a moved response has the body") {
  for (const std::size_t size : std::initializer_list<std::size_t>{0, 1, 15, 16, 1000}) {
    http::response answer = http::text(std::string(size, 'b'));
    http::response moved(std::move(answer));
    http::response assigned = http::html("old");
    assigned = std::move(moved);
    CHECK(body_of(assigned).text() == std::string(size, 'b'));
  }
}

TEST_CASE("an empty response has no body") {
  http::response answer = http::empty();
  CHECK(answer.status() == http::status::no_content);
  CHECK(body_of(answer).type() == kind::none);
  CHECK(body_of(answer).size() == 0);
  CHECK(http::empty(http::status::accepted).status() == http::status::accepted);
  CHECK(http::response().status() == http::status::ok);
}

TEST_CASE("a file range owns its fd") {
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  {
    http::response answer = http::file_range("image/png", unique_fd(fd), 7, 9);
    http::response moved(std::move(answer));
    CHECK(body_of(moved).type() == kind::file);
    CHECK(body_of(moved).file().file.native_handle() == fd);
    CHECK(body_of(moved).file().offset == 7);
    CHECK(body_of(moved).size() == 9);
    CHECK(::fcntl(fd, F_GETFD) >= 0);
  }
  CHECK(::fcntl(fd, F_GETFD) < 0);
}

TEST_CASE("a function of a writer is called with its stored arguments, and its error is passed on") {
  int calls = 0;
  const auto write = [](http::body_writer&, int& count, const std::string& text) -> task<result<void>> {
    ++count;
    if (text == "fail") co_return std::errc::io_error;
    if (text == "throw") throw std::runtime_error("thrown");
    co_return {};
  };
  no_writer writer;
  for (const char* text : {"succeed", "fail", "throw"}) {
    http::response holder = http::stream_body("text/plain", write, std::ref(calls), text);
    http::response answer(std::move(holder));
    CHECK(answer.header("Content-Type") == "text/plain");
    CHECK(body_of(answer).type() == kind::function);
    CHECK(body_of(answer).size() == std::nullopt);
    const int before = calls;
    if (text == "throw"sv) {
      CHECK_THROWS_AS(static_cast<void>(sync_wait(body_of(answer).function().write(writer.get()))), std::runtime_error);
    } else {
      const result<void> done = sync_wait(body_of(answer).function().write(writer.get()));
      CHECK(done.has_value() == (text == "succeed"sv));
    }
    CHECK(calls == before + 1);
  }
}

TEST_CASE("a function of a writer may return a plain task, and its captures live with the response") {
  auto value = std::make_shared<int>(7);
  const std::weak_ptr<int> observed = value;
  {
    http::response answer =
        http::stream_body("text/plain", 100, [value = std::move(value)](http::body_writer&) -> task<> {
          CHECK(*value == 7);
          co_return;
        });
    CHECK(body_of(answer).size() == 100);
    no_writer writer;
    CHECK(sync_wait(body_of(answer).function().write(writer.get())).has_value());
    CHECK_FALSE(observed.expired());
  }
  CHECK(observed.expired());
}

namespace {

class converted {
 public:
  converted(const std::string& text) : text_(text) {}
  ~converted() { text_ = "destroyed"; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};
task<> copy_later(http::body_writer&, std::string& to, const converted& text) {
  co_await yield();
  to = text.text();
}

}  // namespace

TEST_CASE("a temporary that the call of a writer makes of an argument lives until its task has ended") {
  std::string to;
  http::response answer = http::stream_body("text/plain", copy_later, std::ref(to), "text"s);
  no_writer writer;
  CHECK(sync_wait(body_of(answer).function().write(writer.get())).has_value());
  CHECK(to == "text");
}

TEST_CASE("an upgrade is a 101 with its protocol and its function") {
  http::response answer =
      http::upgrade("echo", [](http::upgraded_stream, int) -> task<result<void>> { co_return {}; }, 7);
  CHECK(answer.status() == http::status::switching_protocols);
  CHECK(answer.header("Upgrade") == "echo");
  CHECK(body_of(answer).type() == kind::upgrade);
}

TEST_CASE("a new body replaces the old one of any kind") {
  const std::array makers{
      +[] { return http::text("a"); }, +[] { return http::text("b"s); },
      +[] { return http::file_range("a/b", unique_fd(), 0, 5); },
      +[] { return http::stream_body("a/b", 5, [](http::body_writer&) -> task<> { co_return; }); },
      +[] { return http::upgrade("p", [](http::upgraded_stream) -> task<result<void>> { co_return {}; }); }};
  for (const auto& make : makers) {
    http::response answer = make();
    body_of(answer).set_view("view");
    CHECK(body_of(answer).type() == kind::text);
    CHECK(body_of(answer).text() == "view");
    answer = make();
    body_of(answer).set_text("owned");
    CHECK(body_of(answer).text() == "owned");
    answer = make();
    body_of(answer).clear();
    CHECK(body_of(answer).type() == kind::none);
    CHECK(body_of(answer).size() == 0);
  }
}
