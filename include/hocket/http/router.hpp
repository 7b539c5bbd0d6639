// router: which function answers which request.
//
//   http::router routes;
//   // task<result<http::response>> get_user(http::request&, database&)
//   routes.get("/users/{id}", get_user, std::ref(db));
//   routes.get("/hello", hello);                                 // http::response hello(http::request&)
//   routes.get("/report", {.run = http::in_fiber}, report);      // may await in its fiber: <hocket/fiber/spawn.hpp>
//   routes.post("/upload", {.body = http::streamed}, store);
//   routes.mount("/static", http::files("public"));
//   auto admin = routes.group("/admin");
//   admin.before(authenticate, std::ref(keys));
//   admin.get("/users", list_users, std::ref(db));               // GET /admin/users
//
// Handlers. A handler is called with the request, and then with its stored arguments, which are in the order of spawn.
// It returns http::response or result<http::response>, or a task of either.
//   - A plain function runs in the turn of the connection, without a coroutine. It must not wait: await() there is
//     fatal. Choose {.run = http::in_fiber}.
//   - A function that returns a task is awaited.
//   - With {.run = http::in_fiber} the function runs as a fiber, which is joined before the answer is sent.
// All requests of all connections share the handler and its arguments as const objects, on a runtime on several workers
// at once: pass std::ref for what a handler changes. They live until the server has ended, so a lambda coroutine may
// use its captures.
//
// Patterns. "/users/{id}/posts": `{name}` is one segment that is not empty, `{name...}` at the end is the rest of the
// path. Static text comes before `{name}`, `{name}` before `{name...}`. The path is split before it is decoded, so an
// encoded slash separates nothing. A malformed pattern, a path of a group that does not begin with a slash, a route of
// CONNECT, which has no path, and a second route for the same method and the same paths throw std::invalid_argument.
//
// Methods. HEAD is answered by the route of GET, without its body, and OPTIONS by the router, if there is no route of
// their own. A path that has routes for other methods only is answered with 405 and Allow, a method without a name in
// http::method and without a route with 501, everything else with 404.
//
// Steps. before() of the router runs first, then before() of the groups, the outer group first. A step that returns a
// response ends the chain. after() runs in reverse order for every response of the route. For a response without a
// route (404, 405, and a request that did not parse, which has only its peer) the after() of the router itself run. A
// step applies to all routes of its group, also to those that were added before. A body that is read whole has arrived
// when the first step runs.
//
// Errors. If a step or a handler fails or throws, the error table makes the response: the status of an http::errc; 504
// for hocket::errc::deadline_exceeded; 500 without a text for all others. response::error() tells an after step the
// error.
//
// A router is filled by one thread. http::serve() takes it, and it does not change from then on.
#pragma once
#include <hocket/http/detail/route_table.hpp>
#include <hocket/http/detail/stored_step.hpp>
#include <hocket/http/route_options.hpp>
#include <concepts>
#include <string_view>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

namespace detail {

struct router_access;

// One message with the remedy for a callable that is no step, and nothing after it.
template <class Step, class F, class... Args>
struct checked_step {
  static constexpr bool is_callable = is_callable_as_step<Step, F, Args...>;
  static constexpr bool returns_response = [] {
    if constexpr (!is_callable) return true;
    else return stored_call_of_step<Step, F, Args...>::is_plain || stored_call_of_step<Step, F, Args...>::is_task;
  }();
  static constexpr bool is_possible = is_callable && returns_response;
};

template <class F, class... Args>
constexpr bool check_handler() {
  using checked = checked_step<handler, F, Args...>;
  static_assert(
      checked::is_callable,
      "hocket: all requests share one const handler, which is called with http::request& first, and then with "
      "one const copy of each argument: no mutable lambda, and std::ref for what the handler changes");
  static_assert(checked::returns_response,
                "hocket: a handler returns http::response or hocket::result<http::response>, or a task of one of them");
  return checked::is_possible;
}
template <class F, class... Args>
constexpr bool check_fiber_handler() {
  if constexpr (check_handler<F, Args...>()) {
    constexpr bool is_task = stored_call_of_step<handler, F, Args...>::is_task;
    static_assert(!is_task, "hocket: a handler that returns a task is awaited: leave out {.run = http::in_fiber}");
    return !is_task;
  } else {
    return false;
  }
}
template <class F, class... Args>
constexpr bool check_before() {
  using checked = checked_step<before_step, F, Args...>;
  static_assert(checked::is_callable,
                "hocket: all requests share one const function of before(), which is called with http::request& first, "
                "and then with one const copy of each argument: no mutable lambda, and std::ref for what it changes");
  static_assert(checked::returns_response,
                "hocket: a function of before() returns std::optional<http::response>, a hocket::result of it, void or "
                "hocket::result<void>, or a task of one of them");
  return checked::is_possible;
}
template <class F, class... Args>
constexpr bool check_after() {
  using checked = checked_step<after_step, F, Args...>;
  static_assert(checked::is_callable,
                "hocket: all requests share one const function of after(), which is called with http::request& and "
                "http::response& first, and then with one const copy of each argument: no mutable lambda, and std::ref "
                "for what it changes");
  static_assert(checked::returns_response,
                "hocket: a function of after() returns void or hocket::result<void>, or a task of one of them");
  return checked::is_possible;
}

template <class Function>
class stored_error_table final : public error_table {
 public:
  template <class... Args>
  explicit stored_error_table(Args&&... args) : function_(std::in_place, std::forward<Args>(args)...) {}
  response make(const request& rq, std::error_code error) const override { return function_(rq, error); }

 private:
  const Function function_;
};

template <class F, class... Args>
constexpr bool check_error_table() {
  constexpr bool is_possible =
      requires(const std::decay_t<F>& f, const request& rq, std::error_code error, const std::decay_t<Args>&... args) {
        { f(rq, error, args...) } -> std::same_as<response>;
      };
  static_assert(is_possible,
                "hocket: all requests share one const error table, which is called with const http::request& and "
                "std::error_code first, and then with one const copy of each argument, and returns http::response");
  return is_possible;
}

}  // namespace detail

// What can be mounted: an object that adds its routes to a group, below a prefix.
template <class M>
concept mountable = requires(M&& mounted, class router_group& routes, std::string_view prefix) {
  std::forward<M>(mounted).add_to(routes, prefix);
};

// Routes below a common prefix, with common steps: a reference to a part of a router, valid until http::serve() takes
// the router. For each function see above.
class router_group {
 public:
  // Routes of one method: get(path, [options,] handler, arguments...).
  template <class F, class... Args>
  void get(std::string_view path, F&& handler, Args&&... args) {
    add(method::get, path, route_options{}, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void get(std::string_view path, const route_options& options, F&& handler, Args&&... args) {
    add(method::get, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void get(std::string_view path, const fiber_route_options& options, F&& handler, Args&&... args) {
    add(method::get, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void post(std::string_view path, F&& handler, Args&&... args) {
    add(method::post, path, route_options{}, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void post(std::string_view path, const route_options& options, F&& handler, Args&&... args) {
    add(method::post, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void post(std::string_view path, const fiber_route_options& options, F&& handler, Args&&... args) {
    add(method::post, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void put(std::string_view path, F&& handler, Args&&... args) {
    add(method::put, path, route_options{}, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void put(std::string_view path, const route_options& options, F&& handler, Args&&... args) {
    add(method::put, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void put(std::string_view path, const fiber_route_options& options, F&& handler, Args&&... args) {
    add(method::put, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void patch(std::string_view path, F&& handler, Args&&... args) {
    add(method::patch, path, route_options{}, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void patch(std::string_view path, const route_options& options, F&& handler, Args&&... args) {
    add(method::patch, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void patch(std::string_view path, const fiber_route_options& options, F&& handler, Args&&... args) {
    add(method::patch, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void delete_(std::string_view path, F&& handler, Args&&... args) {
    add(method::delete_, path, route_options{}, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void delete_(std::string_view path, const route_options& options, F&& handler, Args&&... args) {
    add(method::delete_, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void delete_(std::string_view path, const fiber_route_options& options, F&& handler, Args&&... args) {
    add(method::delete_, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  // A route of any method. http::method::other is each method that has no name there: request::method_name() has it.
  template <class F, class... Args>
  void route(http::method method, std::string_view path, F&& handler, Args&&... args) {
    add(method, path, route_options{}, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void route(http::method method, std::string_view path, const route_options& options, F&& handler, Args&&... args) {
    add(method, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }
  template <class F, class... Args>
  void route(http::method method, std::string_view path, const fiber_route_options& options, F&& handler,
             Args&&... args) {
    add(method, path, options, std::forward<F>(handler), std::forward<Args>(args)...);
  }

  // A group below this one. Its prefix is empty, or begins with a slash and ends without one; it may have parameters.
  // Throws std::invalid_argument for other prefixes.
  router_group group(std::string_view prefix);
  // Adds the routes of a mounted object, as http::files().
  template <mountable M>
  void mount(std::string_view prefix, M&& mounted) {
    std::forward<M>(mounted).add_to(*this, prefix);
  }

  // `step(request&, args...)` runs before the handler. It returns std::optional<response>, or nothing.
  template <class F, class... Args>
  void before(F&& step, Args&&... args) {
    if constexpr (detail::check_before<F, Args...>()) {
      node().before.push_back(
          detail::make_step<detail::before_step>(std::forward<F>(step), std::forward<Args>(args)...));
    }
  }
  // `step(request&, response&, args...)` runs after the handler, and may change the response.
  template <class F, class... Args>
  void after(F&& step, Args&&... args) {
    if constexpr (detail::check_after<F, Args...>()) {
      node().after.push_back(detail::make_step<detail::after_step>(std::forward<F>(step), std::forward<Args>(args)...));
    }
  }

 protected:
  router_group(detail::route_table& table, detail::group_node& node) noexcept : table_(&table), node_(&node) {}
  void forget() noexcept { table_ = nullptr, node_ = nullptr; }
  detail::group_node& node() const noexcept;

 private:
  template <class F, class... Args>
  void add(http::method method, std::string_view path, const route_options& options, F&& handler, Args&&... args) {
    if constexpr (detail::check_handler<F, Args...>()) {
      insert(method, path, {options.body, options.max_body, options.within},
             detail::make_step<detail::handler>(std::forward<F>(handler), std::forward<Args>(args)...));
    }
  }
  template <class F, class... Args>
  void add(http::method method, std::string_view path, const fiber_route_options& options, F&& handler,
           Args&&... args) {
    if constexpr (detail::check_fiber_handler<F, Args...>()) {
      insert(method, path, {options.body, options.max_body, options.within},
             detail::make_fiber_handler(options.fiber, std::forward<F>(handler), std::forward<Args>(args)...));
    }
  }
  void insert(http::method method, std::string_view path, const detail::route_settings& settings,
              std::unique_ptr<detail::handler> handler);

  detail::route_table* table_;  // null: the router was moved
  detail::group_node* node_;
};

// All routes of a server. The router itself is the outermost group.
class router : public router_group {
 public:
  // Throws std::bad_alloc.
  router();
  router(router&& other) noexcept;
  router& operator=(router&& other) noexcept;
  ~router();

  // Replaces the error table by `table(const request&, std::error_code, args...)`, which returns a response. The code
  // is that of the error, or of the exception: not_enough_memory for std::bad_alloc, state_not_recoverable for
  // exceptions without a code. http::default_error_response() is the default.
  template <class F, class... Args>
  void set_error_table(F&& table, Args&&... args) {
    if constexpr (detail::check_error_table<F, Args...>()) {
      using call = detail::stored_function_for<detail::given_first<const request&, std::error_code>, F, Args...>;
      using stored = detail::stored_error_table<typename call::type>;
      set_table(std::make_unique<stored>(std::forward<F>(table), std::forward<Args>(args)...));
    }
  }

 private:
  friend struct detail::router_access;
  explicit router(std::unique_ptr<detail::route_table> table) noexcept;
  void set_table(std::unique_ptr<detail::error_table> table);

  std::unique_ptr<detail::route_table> owned_;
};

namespace detail {

// For the server.
struct router_access {
  // The frozen table. The router is empty then. Throws std::bad_alloc.
  static std::unique_ptr<const route_table> freeze(router&& routes);
};

}  // namespace detail

}}}  // namespace hocket::http
