// expect: hocket: a service ends a runtime; for one thread: runtime rt\(\{.workers = 1\}\)
#include <hocket/hocket.hpp>
#include <hocket/net.hpp>

#ifdef SHOULD_FAIL
void end_all(hocket::loop& executor) {
#else
void end_all(hocket::runtime& executor) {
#endif
  hocket::service all(executor);
  static_cast<void>(all.run_until({15}));
}
