// A plain route allocates nothing, its steps included. With tasks, frames are recycled.
#include "support/alloc.hpp"
#include "unit/http/router/served.hpp"

#include <hocket/core/sync_wait.hpp>

#include <functional>
#include <new>

using namespace hocket;
using namespace hocket_test;

namespace {

http::response hello(http::request&) { return http::text("hello"); }
task<result<http::response>> hello_later(http::request&) { co_return http::text("hello"); }

}  // namespace

TEST_CASE("finding and calling a plain handler allocates nothing") {
  int calls = 0;
  http::router routes;
  routes.before([&calls](http::request&) { ++calls; });
  routes.after([&calls](http::request&, http::response& rs) { rs.set("X-Calls", calls == 1 ? "1" : "2"); });
  routes.get("/users/{id}", hello);
  routes.get("/number/{n}", [](http::request& rq) -> result<http::response> {
    if (const auto n = rq.path<int>("n"); !n) return failure(n.error());
    return http::text("number");
  });
  const served all(std::move(routes));
  for (const char* target : {"/users/7", "/number/42", "/number/x"}) {
    made_request holder(get(target));
    const allocation_watch watch;
    CHECK(all.table().find(*holder) != nullptr);
    CHECK(all.table().is_plain(*holder));
    const http::response answer = all.table().respond_now(*holder);
    CHECK(watch.allocations() == 0);
    CHECK(answer.header("X-Calls").has_value());
  }
}

TEST_CASE("without a route a 404 allocates nothing") {
  const served all{http::router()};
  made_request holder(get("/absent"));
  const allocation_watch watch;
  all.table().find(*holder);
  CHECK(all.table().respond_now(*holder).status() == http::status::not_found);
  CHECK(watch.allocations() == 0);
}

TEST_CASE("each failing allocation of a request gives a response") {
  http::router routes;
  routes.before([](http::request& rq) { rq.emplace<std::string>(std::size_t{100}, 's'); });
  routes.get("/task/{x}", hello_later);
  routes.get("/plain/{x}",
             [](http::request& rq) { return http::text(std::string(200, 'x') + *rq.path<std::string>("x")); });
  const served all(std::move(routes));
  for (const char* target : {"/task/%41", "/plain/%41"}) {
    for (std::size_t nth = 1; nth != 20; ++nth) {
      made_request holder(get(target));
      all.table().find(*holder);
      const allocation_watch watch(nth);
      int status = 0;
      try {
        const http::response answer =
            all.table().is_plain(*holder) ? all.table().respond_now(*holder) : sync_wait(all.table().respond(*holder));
        status = static_cast<int>(answer.status());
      } catch (const std::bad_alloc&) {
        status = -1;  // the frame of respond() itself
      }
      if (!watch.has_failed()) CHECK(status == 200);
      else CHECK((status == 500 || status == -1 || status == 200));
    }
  }
}
