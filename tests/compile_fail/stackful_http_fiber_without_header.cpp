// A handler in a fiber needs the header of fibers.
// expect: <hocket/fiber/spawn.hpp> to spawn any other
// alone
#include <hocket/http/router.hpp>
#ifndef SHOULD_FAIL
#include <hocket/fiber/spawn.hpp>
#endif

hocket::http::response report(hocket::http::request&);
void add(hocket::http::router& routes) { routes.get("/report", {.run = hocket::http::in_fiber}, report); }
