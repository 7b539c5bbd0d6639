// A handler takes the request first, by reference.
// expect: hocket: all requests share one const handler, which is called with http::request& first
#include <hocket/http/router.hpp>

#ifdef SHOULD_FAIL
hocket::http::response hello();
#else
hocket::http::response hello(hocket::http::request&);
#endif
void add(hocket::http::router& routes) { routes.get("/", hello); }
