// A fiber awaits a primitive itself.
// first: say what to wait for: co_await e.wait\(\)
// alone
#include <hocket/hocket.hpp>
#include <functional>

using namespace hocket;

#ifdef SHOULD_FAIL
void until(event& e) { await(e); }
#else
void until(event& e) { static_cast<void>(await(e.wait())); }
#endif
