// A handler that returns a task needs no fiber.
// expect: hocket: a handler that returns a task is awaited: leave out \{.run = http::in_fiber\}
#include <hocket/http/router.hpp>

hocket::task<hocket::http::response> hello(hocket::http::request&);
void add(hocket::http::router& routes) {
#ifdef SHOULD_FAIL
  routes.get("/", {.run = hocket::http::in_fiber}, hello);
#else
  routes.get("/", hello);
#endif
}
