// A step after the handler takes the response, too.
// expect: hocket: all requests share one const function of after\(\), which is called with http::request& and
#include <hocket/http/router.hpp>

#ifdef SHOULD_FAIL
void record(hocket::http::request&);
#else
void record(hocket::http::request&, hocket::http::response&);
#endif
void add(hocket::http::router& routes) { routes.after(record); }
