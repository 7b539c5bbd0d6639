// upgrade: answers a request by a change of the connection's protocol (RFC 9110, section 7.8).
//
//   http::response open_socket(http::request&) {
//     return http::upgrade("echo", [](http::upgraded_stream peer) -> task<result<void>> {
//       std::array<char, 512> buffer;
//       while (std::size_t n = co_await or_return(peer.read_some(buffer)))
//         co_await or_return(peer.write_all(std::span(buffer.data(), n)));
//       co_return {};
//     });
//   }
//
// The function is called after the answer (101) has been sent. It owns the upgraded_stream: the connection, with the
// bytes that were read behind the request's head. Its task runs in a coroutine of the connection, and the connection
// ends with it. The server's limits of time and rate no longer apply, and the function is not cancelled when the peer
// is gone: its reads and writes fail, and closed() of stream() completes. A shutdown that drains does not end the
// stream: see drain_requested() of stream().
//
// Errors, cancellation, threads of the stream: io/stream.hpp.
#pragma once
#include <hocket/coro/task.hpp>
#include <hocket/http/response.hpp>
#include <hocket/io/byte_stream.hpp>
#include <hocket/net/tcp.hpp>
#include <string>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// The connection of an upgraded request; see above.
class upgraded_stream {
 public:
  // `first` was read from the stream, and is read again first. Throws std::bad_alloc.
  upgraded_stream(tcp::stream stream, std::string_view first) : stream_(std::move(stream)), first_(first) {}
  upgraded_stream(upgraded_stream&&) noexcept = default;
  upgraded_stream& operator=(upgraded_stream&&) noexcept = default;

  // Reads at least one byte, as soon as there is one. 0: the end.
  task<result<std::size_t>> read_some(mutable_buffer buffer);
  auto write_some(const_buffer data, call_site site = this_call_site()) noexcept {
    return stream_.write_some(data, site);
  }
  auto write_all(const_buffer data, call_site site = this_call_site()) noexcept {
    return stream_.write_all(data, site);
  }
  result<void> shutdown_write() noexcept { return stream_.shutdown_write(); }

  // The bytes that read_some() returns before it reads from the stream.
  std::string_view unread() const noexcept { return std::string_view(first_).substr(taken_); }
  // The connection. Its own reads miss the bytes of unread().
  tcp::stream& stream() noexcept { return stream_; }

 private:
  tcp::stream stream_;
  std::string first_;
  std::size_t taken_ = 0;
};
static_assert(byte_stream<upgraded_stream>);

namespace detail {

response with_upgrade(std::string_view protocol, std::unique_ptr<upgrade_function> function);
// Adds the fields that a 426 must have, unless it has them.
void offer_upgrade(response& answer, std::string_view protocol);

template <class Function, bool leaves_temporaries>
class stored_upgrade final : public upgrade_function {
 public:
  template <class... Stored>
  explicit stored_upgrade(Stored&&... stored) : function_(std::in_place, std::forward<Stored>(stored)...) {}

  task<result<void>> run(upgraded_stream&& connection) override {
    return function_.template start_with<leaves_temporaries>(std::move(connection));
  }

 private:
  Function function_;
};

}  // namespace detail

// An answer 101 with `Upgrade: protocol`. After it `run(upgraded_stream, args...)` owns the connection: a function that
// returns task<result<void>>. It lives with its arguments until its task has ended. If the request does not offer the
// protocol in its field Upgrade (in any case of the letters), the server answers 426 with `Upgrade: protocol` instead.
// Errors: those of response::set() for the protocol.
template <class F, class... Args>
response upgrade(std::string_view protocol, F&& run, Args&&... args) {
  using parameters = detail::given_first<upgraded_stream>;
  constexpr bool is_callable = requires(std::decay_t<F>& f, upgraded_stream peer, std::decay_t<Args>&... stored) {
    { f(std::move(peer), stored...) } -> std::same_as<task<result<void>>>;
  };
  static_assert(is_callable,
                "hocket: the function of an upgrade is called with http::upgraded_stream by value first, and then with "
                "its arguments, which are stored by value, and returns hocket::task<hocket::result<void>>");
  if constexpr (is_callable) {
    using call = detail::stored_function_for<parameters, F, Args...>;
    using stored = detail::stored_upgrade<typename call::type, call::leaves_temporaries>;
    return detail::with_upgrade(protocol, std::make_unique<stored>(std::forward<F>(run), std::forward<Args>(args)...));
  } else {
    return response();
  }
}

// The answer 426 to a client that has to change to the protocol: it names the protocol, as RFC 9110, 15.5.22 asks for.
// errc::upgrade_required cannot name one. Errors: as upgrade().
response upgrade_required(std::string_view protocol);

}}}  // namespace hocket::http
