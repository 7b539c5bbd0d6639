// All requests share one handler, perhaps on several threads.
// expect: hocket: all requests share one const handler.*no mutable lambda
#include <hocket/http/router.hpp>

void add(hocket::http::router& routes) {
  routes.get("/", [n = 0](hocket::http::request&)
#ifdef SHOULD_FAIL
                      mutable { return hocket::http::text(++n > 1 ? "again" : "first"); });
#else
             { return hocket::http::text(n > 1 ? "again" : "first"); });
#endif
}
