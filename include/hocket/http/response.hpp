// response: the answer to a request: a status, fields and a body.
//
//   http::response hello(http::request&) { return http::text("hello"); }
//   http::response made(http::request& rq) {
//     return http::json(to_json(rq)).set_status(http::status::created).set("Location", "/users/7");
//   }
//
// Bodies. Nothing, text that is viewed or owned, a part of a file, or a function that writes. A std::string is owned:
// an rvalue is moved, an lvalue is copied. Any other text (a literal, a std::string_view) is viewed: its bytes live
// until the answer is complete, as all bytes of the request do. A view of a local array of the handler dangles.
//
// Fields. Each field is serialised when it is set. The first 240 bytes of field lines need no allocation, so a small
// answer with a viewed body allocates nothing.
//
// Fields of the server. Content-Length, Transfer-Encoding, Connection, Keep-Alive, Upgrade and Date are written by the
// server, from the body, the request and the clock. A handler cannot set them: close_connection() closes the connection
// behind the answer, and http::upgrade() changes its protocol.
//
// Errors. A name that is no token, a value with control characters (CR, LF and NUL among them), and a field of the
// server throw std::system_error with std::errc::invalid_argument, and change nothing. So text of a peer cannot add
// fields or end the head. If a handler does not catch the exception, the answer is 500.
//
// Thread safety. One thread at a time.
#pragma once
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/http/detail/field_buffer.hpp>
#include <hocket/http/detail/response_body.hpp>
#include <hocket/http/status.hpp>
#include <concepts>
#include <string>
#include <string_view>
#include <system_error>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {
struct response_access;
}  // namespace detail

// When a browser sends a cookie with requests from other sites.
enum class same_site : std::uint8_t { unset, strict, lax, none };

// Attributes of a cookie (RFC 6265, section 4.1.2). Empty texts are not sent.
struct cookie_options {
  std::string_view path = "/";
  std::string_view domain{};
  // The lifetime in seconds; 0 deletes the cookie, a negative number keeps it until the browser ends.
  std::int64_t max_age = -1;
  bool secure = true;
  bool http_only = true;
  http::same_site same_site = http::same_site::lax;
};
static_assert(hocket::detail::owns_nothing<cookie_options>);

// An answer; see above.
class response {
 public:
  explicit response(http::status status = http::status::ok) noexcept : status_(status) {}
  response(response&&) noexcept = default;
  response& operator=(response&&) noexcept = default;
  ~response() = default;

  // A final status: a response below 200 or above 999 is answered with 500, except the 101 of http::upgrade().
  http::status status() const noexcept { return status_; }
  response& set_status(http::status status) & noexcept { return status_ = status, *this; }
  response&& set_status(http::status status) && noexcept { return std::move(set_status(status)); }

  // Replaces the lines of the field by one line.
  response& set(std::string_view name, std::string_view value) &;
  response&& set(std::string_view name, std::string_view value) && { return std::move(set(name, value)); }
  // Adds a line, beside others of the same name.
  response& append(std::string_view name, std::string_view value) &;
  response&& append(std::string_view name, std::string_view value) && { return std::move(append(name, value)); }
  // Removes all lines of the field. True: there was one.
  bool remove(std::string_view name) noexcept { return fields_.remove(name); }
  // The value of the first line of the field, without regard to case. The view is valid until the fields change.
  std::optional<std::string_view> header(std::string_view name) const noexcept { return fields_.find(name); }

  // Adds a Set-Cookie. The name is a token. The value has no blank, quote, comma, semicolon or backslash, and no byte
  // outside of ASCII: encode other values.
  response& set_cookie(std::string_view name, std::string_view value, const cookie_options& options = {}) &;
  response&& set_cookie(std::string_view name, std::string_view value, const cookie_options& options = {}) && {
    return std::move(set_cookie(name, value, options));
  }

  // The connection is closed behind this answer.
  response& close_connection() & noexcept { return closes_ = true, *this; }
  response&& close_connection() && noexcept { return std::move(close_connection()); }
  bool closes_connection() const noexcept { return closes_; }

  // The error from which the error table made this answer; otherwise 0. It is not sent.
  std::error_code error() const noexcept { return error_; }

 private:
  friend struct detail::response_access;

  detail::field_buffer fields_;
  http::status status_;
  bool closes_ = false;
  std::error_code error_{};
  detail::response_body body_;
};

namespace detail {

// For the connection, and for functions that make responses.
struct response_access {
  static response_body& body(response& answer) noexcept { return answer.body_; }
  static const response_body& body(const response& answer) noexcept { return answer.body_; }
  static const field_buffer& fields(const response& answer) noexcept { return answer.fields_; }
  // `lines` are whole lines that are known to be valid.
  static void append_lines(response& answer, std::string_view lines) { answer.fields_.append_lines(lines); }
  // `name` and `value` are known to be valid.
  static void append_field(response& answer, std::string_view name, std::string_view value) {
    answer.fields_.append_line(name, value);
  }
  static void set_error(response& answer, std::error_code error) noexcept { answer.error_ = error; }
};

template <class T>
concept string_object = std::same_as<std::remove_cvref_t<T>, std::string>;

// `type_line` is a whole Content-Type line.
response viewed(std::string_view type_line, std::string_view body);
response owned(std::string_view type_line, std::string&& body);

inline constexpr std::string_view text_line = "Content-Type: text/plain; charset=utf-8\r\n";
inline constexpr std::string_view html_line = "Content-Type: text/html; charset=utf-8\r\n";
inline constexpr std::string_view json_line = "Content-Type: application/json\r\n";

response with_function(std::string_view content_type, std::optional<std::uint64_t> size,
                       std::unique_ptr<body_function> function);

template <class F, class... Args>
std::unique_ptr<body_function> store_body_function(F&& write, Args&&... args) {
  using parameters = given_first<body_writer&>;
  static_assert(is_callable_once<parameters, F, Args...>,
                "hocket: a function that writes a body is called with http::body_writer& first, and then with its "
                "arguments, which are stored by value: pass std::ref(x) for a parameter T&");
  if constexpr (is_callable_once<parameters, F, Args...>) {
    using call = stored_function_for<parameters, F, Args...>;
    using returned = std::invoke_result_t<typename call::type&, body_writer&>;
    static_assert(std::is_same_v<returned, task<result<void>>> || std::is_same_v<returned, task<void>>,
                  "hocket: a function that writes a body returns hocket::task<hocket::result<void>> or hocket::task<>");
    using stored = stored_body_function<typename call::type, call::leaves_temporaries>;
    return std::make_unique<stored>(std::forward<F>(write), std::forward<Args>(args)...);
  } else {
    return nullptr;
  }
}

}  // namespace detail

// Text with Content-Type text/plain. Throws std::bad_alloc.
inline response text(std::string_view body) { return detail::viewed(detail::text_line, body); }
template <detail::string_object T>
response text(T&& body) {
  return detail::owned(detail::text_line, std::string(std::forward<T>(body)));
}
// The same with text/html.
inline response html(std::string_view body) { return detail::viewed(detail::html_line, body); }
template <detail::string_object T>
response html(T&& body) {
  return detail::owned(detail::html_line, std::string(std::forward<T>(body)));
}
// The same with application/json.
inline response json(std::string_view body) { return detail::viewed(detail::json_line, body); }
template <detail::string_object T>
response json(T&& body) {
  return detail::owned(detail::json_line, std::string(std::forward<T>(body)));
}

// Bytes of any content type.
response content(std::string_view content_type, std::string_view body);
template <detail::string_object T>
response content(std::string_view content_type, T&& body) {
  response answer = content(content_type, std::string_view{});
  detail::response_access::body(answer).set_text(std::string(std::forward<T>(body)));
  return answer;
}

// A status without a body.
inline response empty(http::status status = http::status::no_content) noexcept { return response(status); }

// Sends the client to another address: an absolute URL, or a path. The target consists of visible ASCII: other bytes,
// also blanks, throw std::system_error with std::errc::invalid_argument. Do not pass on a target of a peer unchecked.
response redirect(std::string_view location, http::status status = http::status::see_other);

// `size` bytes of a regular file from `offset` on. send_file() in files.hpp opens a file by its path. Bytes that are
// not in the system's cache are read on a thread of `pool`, which outlives the response; null: the pool of the process.
response file_range(std::string_view content_type, unique_fd file, std::uint64_t offset, std::uint64_t size,
                    blocking_pool* pool = nullptr);

// A body that `write(body_writer&, args...)` writes, a function that returns task<result<void>> or task<>. It is called
// after the head has been sent, and may use the request. The callable and its arguments are stored until the body is
// complete. If it fails, or throws, the connection is closed, so that the peer sees that the body is incomplete. If the
// client asked by HEAD, it is not called.
template <class F, class... Args>
  requires(!std::is_integral_v<std::remove_cvref_t<F>>)
response stream_body(std::string_view content_type, F&& write, Args&&... args) {
  return detail::with_function(content_type, std::nullopt,
                               detail::store_body_function(std::forward<F>(write), std::forward<Args>(args)...));
}
// A body of a known size. Writing more, or less, is an error that closes the connection.
template <class F, class... Args>
response stream_body(std::string_view content_type, std::uint64_t size, F&& write, Args&&... args) {
  return detail::with_function(content_type, size,
                               detail::store_body_function(std::forward<F>(write), std::forward<Args>(args)...));
}

// The response to an error of a handler by the default error table, for tables that change a part of it
// (router::set_error_table()). An http::errc gives its status, with the reason as text.
// hocket::errc::deadline_exceeded gives 504. All other errors give 500 without a text, because an error of the server
// tells a peer nothing.
response default_error_response(std::error_code error);

}}}  // namespace hocket::http
