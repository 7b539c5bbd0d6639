// Both would unlock the mutex, and both would wait for it before the select ends.
// expect: a select of two conditions
#include <hocket/sync/condition.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>

inline auto wait_for(hocket::condition& one, hocket::condition& other, hocket::event& stop, hocket::mutex::guard& in) {
#ifdef SHOULD_FAIL
  return select(one.wait(in), other.wait(in));
#else
  static_cast<void>(other.notify_one());
  return select(one.wait(in), stop.wait());
#endif
}
