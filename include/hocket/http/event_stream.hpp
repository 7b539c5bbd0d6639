// Server-sent events: an answer that does not end, with an event from time to time, which a browser reads by
// EventSource.
//
//   task<result<void>> tick(http::event_writer& out) {
//     for (;;) {
//       const std::string now = time_of_day();
//       co_await or_return(out.send({.event = "tick", .data = now}));
//       if (co_await within(1s, out.drain_requested())) co_return {};
//     }
//   }
//   http::response clock(http::request&) { return http::event_stream(tick); }
//
// The end. The function runs in a coroutine of the connection. It is cancelled when the client is gone: at once after a
// reset, and within two seconds after the end of the client's stream. A client that has closed the connection looks
// like one that has shut down writing, and an EventSource never shuts down writing alone. Events that were sent before
// may be lost. When the server drains, drain_requested() completes, and the function should return: the client connects
// again, to another server. A function that waits for something else selects over both:
//
//   auto next = co_await select(news.receive(), out.drain_requested());
//
// Events. Each one is sent at once. The text of `data` may have several lines; each line becomes a line `data:`. A line
// ends with LF, CR or both. `event` and `id` have no line ends, and `id` has no NUL: send() fails with
// invalid_argument, and nothing is sent.
//
// Answer. Content-Type: text/event-stream, Cache-Control: no-store, and X-Accel-Buffering: no, so that nginx sends each
// event at once.
//
// Errors: the errors of body_writer. Source: WHATWG HTML, 9.2 "Server-sent events".
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/http/body_writer.hpp>
#include <hocket/http/response.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// An event. Empty texts are not sent. But an empty line `data:` is sent if `event` is set, or if nothing is set:
// clients drop an event without a line `data:`. So an event with only `id`, `retry` or `comment` calls no listener.
struct server_event {
  std::string_view event{};  // its type; empty: "message"
  std::string_view data{};
  std::string_view id{};       // the client sends the last one in Last-Event-ID when it connects again
  std::string_view comment{};  // ignored by clients
  duration retry{};            // the client's pause before it connects again; 0: unchanged
};
static_assert(hocket::detail::owns_nothing<server_event>);

// Writes events. One operation at a time.
class event_writer {
 public:
  explicit event_writer(body_writer& out) noexcept : out_(out) {}
  event_writer(const event_writer&) = delete;
  event_writer& operator=(const event_writer&) = delete;

  // Sends an event. The texts are copied before the call returns. Throws std::bad_alloc.
  task<result<void>> send(const server_event& event);
  // Sends a comment, so that proxies do not take the connection for a dead one.
  task<result<void>> keep_alive() { return send({.comment = "keep-alive"}); }

  // Completes when the server drains; then at once.
  auto drain_requested(call_site site = this_call_site()) noexcept { return out_.drain_requested(site); }
  body_writer& body() noexcept { return out_; }

 private:
  body_writer& out_;
};

namespace detail {

// The text of an event. Nothing: it is malformed.
std::optional<std::string> serialize_event(const server_event& event);
// Sets the fields of an answer by stream_body(), and how it ends.
void complete_event_stream(response& answer);

template <bool leaves_temporaries, class Function>
task<result<void>> write_events(body_writer& out, Function& write) {
  event_writer events(out);
  auto writing = write.template start<leaves_temporaries>(events);
  if constexpr (std::is_same_v<decltype(writing), task<void>>) {
    co_await std::move(writing);
    co_return {};
  } else {
    co_return co_await std::move(writing);
  }
}

}  // namespace detail

// An answer whose body is written by `write(event_writer&, args...)`, which returns task<result<void>> or task<>.
// Callable and arguments are stored by value.
template <class F, class... Args>
response event_stream(F&& write, Args&&... args) {
  using parameters = detail::given_first<event_writer&>;
  constexpr bool is_callable = detail::is_callable_once<parameters, F, Args...>;
  static_assert(is_callable,
                "hocket: a function that writes events is called with http::event_writer& first, and then with its "
                "arguments, which are stored by value: pass std::ref(x) for a parameter T&");
  if constexpr (is_callable) {
    using call = detail::stored_function_for<parameters, F, Args...>;
    using stored = typename call::type;
    using returned = std::invoke_result_t<stored&, event_writer&>;
    static_assert(std::is_same_v<returned, task<result<void>>> || std::is_same_v<returned, task<void>>,
                  "hocket: a function that writes events returns hocket::task<hocket::result<void>> or hocket::task<>");
    response answer = stream_body("text/event-stream", &detail::write_events<call::leaves_temporaries, stored>,
                                  stored(std::in_place, std::forward<F>(write), std::forward<Args>(args)...));
    detail::complete_event_stream(answer);
    return answer;
  } else {
    return response();
  }
}

}}}  // namespace hocket::http
