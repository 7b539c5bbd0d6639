// A handler returns a response.
// expect: hocket: a handler returns http::response or hocket::result<http::response>, or a task of one of them
#include <hocket/http/router.hpp>

#ifdef SHOULD_FAIL
const char* hello(hocket::http::request&);
#else
hocket::http::response hello(hocket::http::request&);
#endif
void add(hocket::http::router& routes) { routes.get("/", hello); }
