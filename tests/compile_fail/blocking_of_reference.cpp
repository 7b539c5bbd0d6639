// A blocking call stores its arguments, too.
// first: pass std::ref\(x\) for a parameter T&
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

int measure(int& n) { return ++n; }
#ifdef SHOULD_FAIL
task<> work(int& n) { static_cast<void>(co_await blocking(measure, n)); }
#else
task<> work(int& n) { static_cast<void>(co_await blocking(measure, std::ref(n))); }
#endif
