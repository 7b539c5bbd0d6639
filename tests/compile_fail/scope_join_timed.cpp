// Nothing but the end of the children ends the join of a scope, so a deadline for it would do nothing.
// expect: cannot be ended by a deadline
#include <hocket/coro/scope.hpp>
#include <hocket/time/within.hpp>

hocket::task<> joins(hocket::scope& all) { static_cast<void>(co_await all.join()); }
#ifdef SHOULD_FAIL
hocket::task<> in_time(hocket::scope& all) {
  static_cast<void>(co_await hocket::within(std::chrono::seconds(1), all.join()));
}
#endif
