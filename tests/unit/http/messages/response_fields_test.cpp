// The fields of a response: order, case, memory, and what is refused.
#include <hocket/http/response.hpp>
#include <hocket/http/upgrade.hpp>

#include <array>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

using namespace hocket;
using namespace std::literals;

namespace {

std::string lines_of(const http::response& answer) {
  return std::string(http::detail::response_access::fields(answer).text());
}

template <class F>
void check_refused(F&& change, http::response& answer) {
  answer.set("Present", "1");
  const std::string before = lines_of(answer);
  try {
    change(answer);
    FAIL_CHECK("nothing was thrown");
  } catch (const std::system_error& error) {
    CHECK(error.code() == std::errc::invalid_argument);
  }
  CHECK(lines_of(answer) == before);
}

// CR, LF and NUL at the begin, in the middle and at the end, alone and as pairs; other control characters.
const std::vector<std::string> bad_values = {"\r",
                                             "\n",
                                             "\r\n",
                                             "\0"s,
                                             "a\r\nSet-Cookie: x=1",
                                             "a\nb",
                                             "a\rb",
                                             "a\0b"s,
                                             "ends\r",
                                             "ends\n",
                                             "ends\0"s,
                                             "\r\n\r\n<html>",
                                             "\x01",
                                             "a\x0b"
                                             "b",
                                             "a\x0c"
                                             "b",
                                             "a\x1b"
                                             "b",
                                             "a\x7f"
                                             "b",
                                             "tab\tis fine\x08"};
const std::vector<std::string> bad_names = {"",     " ",     "A B",       "A:",   ":",      "A\r",   "A\n",
                                            "A\0"s, "\r\nA", "A\r\nB: c", "A\tB", "A\"B\"", "(A)",   "A/B",
                                            "A,B",  "A;B",   "A=B",       "A@B",  "[A]",    "A\x80", "\xc3\xa4"};
const std::vector<std::string> server_fields = {"Content-Length",
                                                "content-length",
                                                "CONTENT-LENGTH",
                                                "Transfer-Encoding",
                                                "transfer-encoding",
                                                "Connection",
                                                "connection",
                                                "Keep-Alive",
                                                "Date",
                                                "dAtE",
                                                "Upgrade",
                                                "Trailer",
                                                "Proxy-Connection"};

}  // namespace

TEST_CASE("fields are serialised in the order of the calls") {
  http::response answer;
  answer.set("A", "1").append("B", "2").append("B", "3").set("C", "");
  CHECK(lines_of(answer) == "A: 1\r\nB: 2\r\nB: 3\r\nC: \r\n");
}

TEST_CASE("set replaces every line of the name, in any case") {
  http::response answer;
  answer.append("Vary", "a").append("X", "x").append("VARY", "b").append("vary", "c");
  answer.set("vArY", "d");
  CHECK(lines_of(answer) == "X: x\r\nvArY: d\r\n");
}

TEST_CASE("set takes the value of the field that it replaces") {
  http::response answer;
  answer.set("First", "1").set("Tag", "a long value, which is longer than the inline string of any library");
  answer.set("Tag", *answer.header("Tag"));
  answer.set("First", *answer.header("Tag"));
  CHECK(lines_of(answer) ==
        "Tag: a long value, which is longer than the inline string of any library\r\n"
        "First: a long value, which is longer than the inline string of any library\r\n");
}

TEST_CASE("append takes a view into the fields when they move to the heap") {
  http::response answer;
  answer.set("A", std::string(200, 'a'));
  answer.append("B", *answer.header("A"));
  CHECK(answer.header("B") == std::string(200, 'a'));
}

TEST_CASE("header finds the first line of a name, in any case") {
  http::response answer;
  answer.append("Set-Thing", "1").append("set-thing", "2").append("Set-Thing2", "3");
  CHECK(answer.header("SET-THING") == "1");
  CHECK(answer.header("set-thing2") == "3");
  CHECK(answer.header("Set") == std::nullopt);
  CHECK(answer.header("") == std::nullopt);
}

TEST_CASE("remove removes every line of a name") {
  http::response answer;
  answer.append("A", "1").append("B", "2").append("a", "3");
  CHECK(answer.remove("A"));
  CHECK(lines_of(answer) == "B: 2\r\n");
  CHECK_FALSE(answer.remove("A"));
  CHECK(answer.remove("b"));
  CHECK(lines_of(answer).empty());
}

TEST_CASE("fields of any size keep their bytes, inline and on the heap, and over moves") {
  for (const std::size_t size :
       std::initializer_list<std::size_t>{0, 1, 100, 232, 233, 234, 235, 236, 237, 240, 241, 500, 5000}) {
    http::response answer;
    answer.set("N", std::string(size, 'v'));  // the line has 5 bytes more
    const std::string lines = lines_of(answer);
    CHECK(lines == "N: " + std::string(size, 'v') + "\r\n");
    http::response moved(std::move(answer));
    CHECK(lines_of(moved) == lines);
    http::response assigned;
    assigned.set("Old", std::string(300, 'o'));
    assigned = std::move(moved);
    CHECK(lines_of(assigned) == lines);
    assigned.append("After", "1");
    CHECK(lines_of(assigned) == lines + "After: 1\r\n");
  }
}

TEST_CASE("fields beyond 1 MB are refused") {
  http::response answer;
  answer.set("A", std::string(http::detail::field_buffer::max_size - 5, 'a'));
  CHECK_THROWS_AS(answer.append("B", ""), std::length_error);
  CHECK(answer.header("B") == std::nullopt);
}

TEST_CASE("a value with CR, LF, NUL or another control character is refused") {
  for (const std::string& value : bad_values) {
    CAPTURE(value);
    http::response answer;
    check_refused([&](http::response& rs) { rs.set("X", value); }, answer);
    check_refused([&](http::response& rs) { rs.append("X", value); }, answer);
    CHECK_THROWS_AS(static_cast<void>(http::content(value, "body"sv)), std::system_error);
    CHECK_THROWS_AS(static_cast<void>(http::content(value, "body"s)), std::system_error);
  }
}

TEST_CASE("blanks, tabs and bytes outside of ASCII are allowed in values") {
  http::response answer;
  for (const auto value : {"a b", "a\tb", "\xc3\xa4", "\xff", ""}) {
    answer.set("X", value);
    CHECK(answer.header("X") == value);
  }
}

TEST_CASE("a name that is no token is refused") {
  for (const std::string& name : bad_names) {
    CAPTURE(name);
    http::response answer;
    check_refused([&](http::response& rs) { rs.set(name, "1"); }, answer);
    check_refused([&](http::response& rs) { rs.append(name, "1"); }, answer);
    check_refused([&](http::response& rs) { rs.set_cookie(name, "1"); }, answer);
  }
}

TEST_CASE("a field that the server writes is refused") {
  for (const std::string& name : server_fields) {
    CAPTURE(name);
    http::response answer;
    check_refused([&](http::response& rs) { rs.set(name, "1"); }, answer);
    check_refused([&](http::response& rs) { rs.append(name, "1"); }, answer);
  }
}

TEST_CASE("a redirect to a target with other characters than visible ASCII is refused") {
  std::vector<std::string> targets = bad_values;
  for (const char* more : {"", " ", "/a b", " /a", "/a ", "/\xc3\xa4", "/a\tb", "/x\r\nSet-Cookie: a=b", "/\x7f"})
    targets.emplace_back(more);
  for (const std::string& target : targets) {
    CAPTURE(target);
    CHECK_THROWS_AS(static_cast<void>(http::redirect(target)), std::system_error);
  }
}

TEST_CASE("a redirect has a target and a status of its class") {
  const http::response answer = http::redirect("/users/7?a=b#c");
  CHECK(answer.status() == http::status::see_other);
  CHECK(answer.header("Location") == "/users/7?a=b#c");
  CHECK(http::redirect("https://example.org/", http::status::moved_permanently).status() ==
        http::status::moved_permanently);
  for (const auto status :
       {http::status::ok, http::status::bad_request, static_cast<http::status>(299), static_cast<http::status>(400)})
    CHECK_THROWS_AS(static_cast<void>(http::redirect("/", status)), std::system_error);
}

TEST_CASE("cookies have secure attributes by default, and those of their options") {
  http::response answer;
  answer.set_cookie("s", "1");
  answer.set_cookie("t", "a=b/c",
                    {.path = "/a",
                     .domain = "example.org",
                     .max_age = 0,
                     .secure = false,
                     .http_only = false,
                     .same_site = http::same_site::unset});
  answer.set_cookie("u", "", {.path = "", .max_age = 60, .same_site = http::same_site::strict});
  answer.set_cookie("v", "2", {.same_site = http::same_site::none});
  CHECK(lines_of(answer) ==
        "Set-Cookie: s=1; Path=/; Secure; HttpOnly; SameSite=Lax\r\n"
        "Set-Cookie: t=a=b/c; Path=/a; Domain=example.org; Max-Age=0\r\n"
        "Set-Cookie: u=; Max-Age=60; Secure; HttpOnly; SameSite=Strict\r\n"
        "Set-Cookie: v=2; Path=/; Secure; HttpOnly; SameSite=None\r\n");
}

TEST_CASE("a cookie with a value or an attribute that ends it is refused") {
  std::vector<std::string> values = bad_values;
  for (const char* more : {"a;b", "a b", "a,b", "\"a\"", "a\\b", ";", " ", "\t", "\xc3\xa4", "a; Domain=x"})
    values.emplace_back(more);
  for (const std::string& value : values) {
    CAPTURE(value);
    http::response answer;
    check_refused([&](http::response& rs) { rs.set_cookie("s", value); }, answer);
  }
  std::vector<std::string> attributes = bad_values;
  for (const char* more : {";", "/a;b", "/; Domain=x"}) attributes.emplace_back(more);
  for (const std::string& attribute : attributes) {
    CAPTURE(attribute);
    http::response answer;
    check_refused([&](http::response& rs) { rs.set_cookie("s", "1", {.path = attribute}); }, answer);
    check_refused([&](http::response& rs) { rs.set_cookie("s", "1", {.domain = attribute}); }, answer);
  }
}

TEST_CASE("a protocol of an upgrade with control characters is refused") {
  const auto run = [](http::upgraded_stream) -> task<result<void>> { co_return {}; };
  CHECK_THROWS_AS(static_cast<void>(http::upgrade("", run)), std::system_error);
  for (const std::string& protocol : bad_values) {
    CAPTURE(protocol);
    CHECK_THROWS_AS(static_cast<void>(http::upgrade(protocol, run)), std::system_error);
  }
}

TEST_CASE("changes of a temporary response give a response to return") {
  const auto holder = [] {
    return http::text("x")
        .set_status(http::status::created)
        .set("A", "1")
        .append("B", "2")
        .set_cookie("c", "3")
        .close_connection();
  };
  const http::response answer = holder();
  CHECK(answer.status() == http::status::created);
  CHECK(answer.header("A") == "1");
  CHECK(answer.header("B") == "2");
  CHECK(answer.header("Set-Cookie").has_value());
  CHECK(answer.closes_connection());
  CHECK_FALSE(http::response().closes_connection());
}
