// A call of an object that does not fit.
// first: the callable cannot be called with these arguments
// alone
#include <hocket/stackless.hpp>

using namespace hocket;

#ifdef SHOULD_FAIL
auto begin(loop& on) {
  return spawn(on, [](int) -> task<> { co_return; }, "one");
}
#else
auto begin(loop& on) {
  return spawn(on, [](int) -> task<> { co_return; }, 1);
}
#endif
