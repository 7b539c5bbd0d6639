// A parameter that refers to an object of the caller.
// first: pass std::ref\(x\) for a parameter T&
// alone
#include <hocket/stackless.hpp>
#include <functional>

using namespace hocket;

task<> note(int& n) {
  ++n;
  co_return;
}
#ifdef SHOULD_FAIL
auto begin(loop& on, int& n) { return spawn(on, note, n); }
#else
auto begin(loop& on, int& n) { return spawn(on, note, std::ref(n)); }
#endif
