// All requests share one copy of an argument: what a handler changes is passed by std::ref.
// expect: hocket: all requests share one const handler.*std::ref for what the handler changes
#include <hocket/http/router.hpp>
#include <functional>

hocket::http::response count(hocket::http::request&, int& sum) { return ++sum, hocket::http::empty(); }

void add(hocket::http::router& routes, int& sum) {
#ifdef SHOULD_FAIL
  routes.get("/", count, sum);
#else
  routes.get("/", count, std::ref(sum));
#endif
}
