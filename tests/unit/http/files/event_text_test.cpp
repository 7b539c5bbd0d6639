// The text of server-sent events.
#include <hocket/http/event_stream.hpp>

#include <chrono>
#include <doctest/doctest.h>
#include <initializer_list>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;
using http::server_event;
using http::detail::serialize_event;

namespace {

struct row {
  server_event event;
  std::string_view text;
};

}  // namespace

TEST_CASE("an event has a line for each field, and for each line of its data") {
  for (const row& expected : {
           row{{.data = "hello"}, "data: hello\n\n"},
           row{{}, "data: \n\n"},
           row{{.event = "tick", .data = "1"}, "event: tick\ndata: 1\n\n"},
           row{{.event = "tick"}, "event: tick\ndata: \n\n"},
           row{{.data = "a\nb"}, "data: a\ndata: b\n\n"},
           row{{.data = "a\r\nb\rc"}, "data: a\ndata: b\ndata: c\n\n"},
           row{{.data = "a\n\nb"}, "data: a\ndata: \ndata: b\n\n"},
           row{{.data = "a\n"}, "data: a\ndata: \n\n"},
           row{{.data = "\r\n"}, "data: \ndata: \n\n"},
           row{{.data = ": no comment"}, "data: : no comment\n\n"},
           row{{.data = "x", .id = "7"}, "id: 7\ndata: x\n\n"},
           row{{.comment = "ping"}, ": ping\n\n"},
           row{{.comment = "a\nevent: forged"}, ": a\n: event: forged\n\n"},
           row{{.retry = 1500ms}, "retry: 1500\n\n"},
           row{{.data = "x", .retry = 1us}, "retry: 1\ndata: x\n\n"},
           row{{.data = "x", .retry = -1s}, "data: x\n\n"},
       }) {
    CAPTURE(expected.text);
    CHECK(serialize_event(expected.event) == std::string(expected.text));
  }
}

TEST_CASE("a line end in a type or an id is refused, and so is NUL in an id") {
  using namespace std::string_view_literals;
  for (std::string_view text : {"a\nb"sv, "a\rb"sv, "\n"sv, "a\r\ndata: x"sv, "a\n\n"sv}) {
    CAPTURE(text);
    CHECK_FALSE(serialize_event({.event = text}).has_value());
    CHECK_FALSE(serialize_event({.id = text}).has_value());
  }
  CHECK_FALSE(serialize_event({.id = "a\0b"sv}).has_value());
}
