// request: what a client asks for: method, target, fields and body.
//
//   task<result<http::response>> get_user(http::request& rq, database& db) {
//     const int id = co_await or_return(rq.path<int>("id"));              // malformed: 400
//     const auto language = rq.header("Accept-Language").value_or("en");
//     co_return http::json(co_await or_return(db.user(id)));
//   }
//
// Lifetime. A request belongs to its connection: it is neither copied nor moved. All views that it gives are valid
// until the answer is complete, the function of http::stream_body() included.
//
// Decoding. Parameters of the path, the query and forms are percent-decoded at their first use, into memory of the
// request. The decoded texts may contain any byte, also NUL, CR and LF. A query and a form have at most 1,000 pairs. Of
// several pairs or cookies with one name, the first one counts.
//
// Errors. The functions that decode or parse return http::errc::bad_request for malformed text, which is answered with
// 400 if the handler passes the error on. They throw std::bad_alloc.
//
// Thread safety. One thread at a time.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/http/detail/arena.hpp>
#include <hocket/http/detail/pair_table.hpp>
#include <hocket/http/detail/parse_value.hpp>
#include <hocket/http/detail/path_tree.hpp>
#include <hocket/http/detail/request_head.hpp>
#include <hocket/http/errc.hpp>
#include <hocket/http/method.hpp>
#include <hocket/net/address.hpp>
#include <concepts>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

class request_body;

namespace detail {

class route;
struct request_access;

// The connection of a request.
class request_origin {
 public:
  // The address of the peer of the connection.
  virtual const socket_address& peer() noexcept = 0;
  // The client behind trusted proxies, its scheme, and the host that it asked for. Without trusted proxies: the peer,
  // "http" or "https", and "" for the host of the head.
  virtual const socket_address& client() noexcept { return peer(); }
  virtual std::string_view scheme() noexcept { return "http"; }
  virtual std::string_view forwarded_host() noexcept { return {}; }
  virtual bool is_draining() const noexcept = 0;

 protected:
  ~request_origin() = default;
};

// Identifies a type by an address. Not const: linkers merge equal constants.
template <class T>
inline char type_tag = 0;

}  // namespace detail

// A field line.
struct header_line {
  std::string_view name;
  std::string_view value;
};

// The field lines of a request, in their order: `for (auto [name, value] : rq.headers())`.
class header_range {
 public:
  class iterator {
   public:
    using value_type = header_line;
    using difference_type = std::ptrdiff_t;
    using iterator_concept = std::forward_iterator_tag;

    iterator() noexcept = default;
    iterator(const detail::field_table* fields, std::size_t index) noexcept : fields_(fields), index_(index) {}
    header_line operator*() const noexcept { return {fields_->name(index_), fields_->value(index_)}; }
    iterator& operator++() noexcept { return ++index_, *this; }
    iterator operator++(int) noexcept { return {fields_, index_++}; }
    friend bool operator==(const iterator& a, const iterator& b) noexcept { return a.index_ == b.index_; }

   private:
    const detail::field_table* fields_ = nullptr;
    std::size_t index_ = 0;
  };

  explicit header_range(const detail::field_table* fields) noexcept : fields_(fields) {}
  iterator begin() const noexcept { return {fields_, 0}; }
  iterator end() const noexcept { return {fields_, size()}; }
  std::size_t size() const noexcept { return fields_ ? fields_->size() : 0; }

 private:
  const detail::field_table* fields_;
};

// A request; see above.
class request {
 public:
  // By the connection. `head` is complete, or null if it did not parse: then the request has only its peer.
  request(detail::request_origin& origin, const detail::request_head* head) noexcept : origin_(origin), head_(head) {}
  request(const request&) = delete;
  request& operator=(const request&) = delete;
  ~request() = default;

  http::method method() const noexcept { return head_ ? head_->method() : http::method::other; }
  // "GET", also for a method without a value in http::method.
  std::string_view method_name() const noexcept { return head_ ? head_->method_text() : std::string_view{}; }
  // The target as it was sent.
  std::string_view target() const noexcept { return head_ ? head_->target() : std::string_view{}; }
  // The path, decoded. A segment may contain a decoded slash: use raw_path() to split it. "*" for OPTIONS *.
  std::string_view path() const;
  std::string_view raw_path() const noexcept { return head_ ? head_->path() : std::string_view{}; }
  std::string_view raw_query() const noexcept { return head_ ? head_->query() : std::string_view{}; }
  // The host and port that the client asked for.
  std::string_view host() const noexcept;
  int minor_version() const noexcept { return head_ ? head_->minor_version() : 1; }

  // The value of a field, without regard to the case of the name. Lines of the same name are joined by ", ", and by
  // "; " for Cookie. The host of an absolute target replaces the value of Host (RFC 9112, 3.2.2). Throws
  // std::bad_alloc, if there are several lines.
  std::optional<std::string_view> header(std::string_view name) const;
  // All lines, as they were sent.
  header_range headers() const noexcept { return header_range(head_ ? &head_->fields() : nullptr); }

  // The parameter `{name}` or `{name...}` of the route's pattern, decoded. T is an integer type, std::string_view or
  // std::string. Errors: bad_request, if the text is no T; internal_server_error, if the pattern has no such parameter.
  template <class T>
  result<T> path(std::string_view name) const {
    return parse<T>(path_text(name));
  }
  // A pair of the query. Errors: bad_request, if the query is malformed, has no such pair, or its value is no T.
  template <class T = std::string_view>
  result<T> query(std::string_view name) const {
    return parse<T>(query_text(name));
  }
  // The same, with a value for a query without this pair.
  template <class T>
  result<T> query(std::string_view name, T if_absent) const {
    return parse_or<T>(query_text(name), std::move(if_absent));
  }
  result<std::string_view> query(std::string_view name, const char* if_absent) const {
    return query<std::string_view>(name, if_absent);
  }
  // A field of a form: a whole body of the type application/x-www-form-urlencoded. Errors: as query();
  // unsupported_media_type for another type of body.
  template <class T = std::string_view>
  result<T> form(std::string_view name) const {
    return parse<T>(form_text(name));
  }
  template <class T>
  result<T> form(std::string_view name, T if_absent) const {
    return parse_or<T>(form_text(name), std::move(if_absent));
  }
  result<std::string_view> form(std::string_view name, const char* if_absent) const {
    return form<std::string_view>(name, if_absent);
  }
  // The value of a cookie, as it was sent, but without quotes around it.
  std::optional<std::string_view> cookie(std::string_view name) const noexcept;

  // The whole body; empty without a body, and on a route with a streamed body.
  std::string_view body() const noexcept { return body_; }
  // The body of a route with {.body = http::streamed}; fatal on other routes. Its first read sends 100 Continue, if the
  // client waits for it.
  request_body& stream() const;

  // The other end of the connection.
  const socket_address& peer() const noexcept { return origin_.peer(); }
  // The client: the peer, or the address that trusted proxies name.
  const socket_address& client() const noexcept { return origin_.client(); }
  // "http" or "https", of the client's connection.
  std::string_view scheme() const noexcept { return origin_.scheme(); }
  // Whether the server ends, and waits for the last answers.
  bool is_draining() const noexcept { return origin_.is_draining(); }

  // Objects of the request, one for each type: a function of before() stores the user that the handler then reads.
  // emplace() makes an object that is destroyed with the request. If there is an object of the type, the new one
  // replaces it for get(), and the old one lives on. Throws std::bad_alloc, and the exceptions of the constructor.
  template <class T, class... Args>
  T& emplace(Args&&... args) {
    T& object = arena_.make<T>(std::forward<Args>(args)...);
    set(object);
    return object;
  }
  // Stores a reference to an object that outlives the answer. Throws std::bad_alloc.
  template <class T>
  void set(T& object) {
    static_assert(!std::is_const_v<T>, "hocket: get<T>() gives a T*: store an object that is not const");
    set_object(&detail::type_tag<T>, &object);
  }
  // The object of the type; null if there is none.
  template <class T>
  T* get() const noexcept {
    return static_cast<T*>(find_object(&detail::type_tag<T>));
  }

 private:
  friend struct detail::request_access;
  struct object_slot {
    object_slot* next;
    const void* tag;
    void* object;
  };

  template <class T>
  static result<T> parse(const result<std::optional<std::string_view>>& text) {
    if (!text) return failure(text.error());
    if (!*text) return failure(errc::bad_request);
    return detail::parse_value<T>(**text);
  }
  template <class T>
  static result<T> parse_or(const result<std::optional<std::string_view>>& text, T&& if_absent) {
    if (!text) return failure(text.error());
    if (!*text) return result<T>(std::in_place, std::move(if_absent));
    return detail::parse_value<T>(**text);
  }
  result<std::optional<std::string_view>> path_text(std::string_view name) const;
  result<std::optional<std::string_view>> query_text(std::string_view name) const;
  result<std::optional<std::string_view>> form_text(std::string_view name) const;
  std::string_view decode_path(std::string_view raw) const;
  std::string_view join_lines(std::size_t first, std::string_view separator) const;
  void set_object(const void* tag, void* object);
  void* find_object(const void* tag) const noexcept;

  detail::request_origin& origin_;
  const detail::request_head* head_;
  std::string_view body_{};
  request_body* stream_ = nullptr;
  const detail::route* route_ = nullptr;            // null: none matches
  std::span<const std::string_view> parameters_{};  // the names of the route's parameters
  detail::path_tree::match match_{};
  detail::path_tree::outcome outcome_ = detail::path_tree::outcome::not_found;
  object_slot* objects_ = nullptr;
  mutable detail::arena arena_;
  mutable std::string_view path_{};  // empty: not decoded yet
  mutable detail::pair_table query_;
  mutable detail::pair_table form_;
};

namespace detail {

// For the connection and the route table.
struct request_access {
  static const request_head* head(const request& rq) noexcept { return rq.head_; }
  static void set_body(request& rq, std::string_view whole) noexcept { rq.body_ = whole; }
  static void set_stream(request& rq, request_body& stream) noexcept { rq.stream_ = &stream; }
  static arena& memory(request& rq) noexcept { return rq.arena_; }
  // Written by route_table::find().
  static void set_route(request& rq, const route* matched, std::span<const std::string_view> parameters) noexcept {
    rq.route_ = matched;
    rq.parameters_ = parameters;
  }
  static const route* matched_route(const request& rq) noexcept { return rq.route_; }
  static path_tree::match& match(request& rq) noexcept { return rq.match_; }
  static const path_tree::match& match(const request& rq) noexcept { return rq.match_; }
  static path_tree::outcome& outcome(request& rq) noexcept { return rq.outcome_; }
  static path_tree::outcome outcome(const request& rq) noexcept { return rq.outcome_; }
};

}  // namespace detail

}}}  // namespace hocket::http
