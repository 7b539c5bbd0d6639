// The routes of a server: groups, routes, and the way from a request to its response.
//
// # Two phases
//
// A router builds the table. freeze() then computes the chain of each route: the before steps of its groups, the outer
// group first, and the after steps in reverse order. From then on the table is const, and all connections share it. So
// a step that is added to a group also applies to routes that were added before.
//
// # A request
//
//   find(rq)                  before the body is read: stores the match in the request
//   is_plain(rq)              whether no step of the request can wait
//   respond_now(rq)           makes the response if is_plain(rq), with a route or without
//   respond(rq)               makes the response of any other request: awaited
//   refuse_now(rq, error)     makes a response of the server itself (413, 408, a head that did not parse), if
//                             is_plain_refusal(rq)
//   refuse(rq, error)         the same, awaited
//
// The after steps of the route run for each of these responses. If there is no route, the after steps of the router
// run.
//
// # Errors
//
// An error or exception of a step becomes a response by the error table. An error of an after step replaces the
// response, and the next after step gets the new one. If the error table throws, the response is an empty 500. A kill
// and the cancellation of the connection's coroutine are not caught.
//
// A final status is 200 to 999, and for an upgrade 101 alone. At the end a response with another status is replaced by
// the error table's response to invalid_argument, or by an empty 500 if that status is not final either.
#pragma once
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/http/detail/handler.hpp>
#include <hocket/http/detail/path_tree.hpp>
#include <hocket/http/request.hpp>
#include <hocket/http/route_options.hpp>
#include <span>
#include <string>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace http { namespace detail {

// The options of a route, for the connection.
struct route_settings {
  body_kind body = whole;
  std::size_t max_body = 0;           // 0: the server's
  duration within = duration::max();  // respond() applies it to a handler that is not plain
};

// Routes with a common prefix and common steps.
struct group_node : hocket::detail::from_memory_source {
  group_node(group_node* outer, std::string path) : parent(outer), prefix(std::move(path)) {}
  group_node* const parent;  // null: the router itself
  const std::string prefix;  // of all groups
  std::vector<std::unique_ptr<before_step>> before;
  std::vector<std::unique_ptr<after_step>> after;
};

// A handler with its chain.
class route : public hocket::detail::from_memory_source {
 public:
  route(const group_node& group, std::string pattern, const route_settings& settings, std::unique_ptr<handler> function)
      : group_(group), pattern_(std::move(pattern)), settings_(settings), handler_(std::move(function)) {}

  const std::string& pattern() const noexcept { return pattern_; }
  const route_settings& settings() const noexcept { return settings_; }
  bool runs_in_fiber() const noexcept { return handler_->kind() == step_kind::fiber; }

 private:
  friend class route_table;
  void freeze();

  const group_node& group_;
  const std::string pattern_;
  const route_settings settings_;
  const std::unique_ptr<handler> handler_;
  std::vector<std::string_view> parameters_;  // names, in the tree
  // --- since freeze()
  std::vector<const before_step*> before_;  // in the order of their calls
  std::vector<const after_step*> after_;    // in the order of their calls
  bool is_plain_ = false;                   // the handler and all steps
  bool has_plain_after_ = false;
};

// Makes a response of an error, by the router's error table.
class error_table : public hocket::detail::from_memory_source {
 public:
  virtual ~error_table() = default;
  virtual response make(const request& rq, std::error_code error) const = 0;
};
class route_table : public hocket::detail::from_memory_source {
 public:
  route_table();
  route_table(const route_table&) = delete;
  route_table& operator=(const route_table&) = delete;
  ~route_table();

  // --- building
  group_node& root() noexcept { return *groups_.front(); }
  group_node& add_group(group_node& outer, std::string_view prefix);
  // Throws std::invalid_argument for a malformed pattern, and if another route matches the same requests.
  void add(group_node& group, http::method method, std::string_view path, const route_settings& settings,
           std::unique_ptr<handler> function);
  void set_error_table(std::unique_ptr<error_table> table) noexcept { errors_ = std::move(table); }
  void freeze();

  // --- serving
  // The route, or null: 404, 405, 501, or an OPTIONS that the table answers. The request keeps the match.
  const route* find(request& rq) const noexcept;
  bool is_plain(const request& rq) const noexcept;
  response respond_now(request& rq) const;
  task<response> respond(request& rq) const;
  bool is_plain_refusal(const request& rq) const noexcept;
  response refuse_now(request& rq, std::error_code error) const;
  task<response> refuse(request& rq, std::error_code error) const;
  // The error table's response. Runs no after step.
  response response_of(const request& rq, std::error_code error) const noexcept;

 private:
  using steps = std::span<const before_step* const>;

  std::span<const after_step* const> after_of(const request& rq) const noexcept;
  static std::error_code call_before(steps& next, request& rq, std::optional<response>& answer);
  static task<std::error_code> run_before(steps next, request& rq, std::optional<response>& answer);
  static task<result<response>> start_handler(const route& found, request& rq);
  response without_route(const request& rq) const noexcept;
  response respond_without_route(const request& rq) const;
  void require_final(const request& rq, response& answer) const noexcept;
  response run_after_now(request& rq, response answer) const;
  task<response> run_after(request& rq, response answer) const;

  std::vector<std::unique_ptr<group_node>> groups_;
  std::vector<std::unique_ptr<route>> routes_;
  std::unique_ptr<error_table> errors_;
  path_tree tree_;
  std::vector<const after_step*> own_after_;  // of the router, in the order of their calls
  bool has_plain_own_after_ = true;
};

// The error code of the exception that is being handled: the code of a std::system_error, not_enough_memory for
// std::bad_alloc, hocket::errc::cancelled for hocket::cancelled, state_not_recoverable for others. Rethrows a kill, and
// a `cancelled` of a coroutine that was asked to stop.
std::error_code error_of_exception();

}}}}  // namespace hocket::http::detail
