// A step before the handler returns an optional response.
// expect: hocket: a function of before\(\) returns std::optional<http::response>
#include <hocket/http/router.hpp>

#ifdef SHOULD_FAIL
hocket::http::response authenticate(hocket::http::request&);
#else
std::optional<hocket::http::response> authenticate(hocket::http::request&);
#endif
void add(hocket::http::router& routes) { routes.before(authenticate); }
