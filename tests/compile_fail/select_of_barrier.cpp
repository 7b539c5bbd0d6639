// A select could not tell whether an arrival at a barrier has counted.
// expect: an arrival at a barrier cannot be given up for another wait
#include <hocket/sync/barrier.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>

inline auto wait_for(hocket::barrier& all, hocket::event& stop) {
#ifdef SHOULD_FAIL
  return select(stop.wait(), all.arrive_and_wait());
#else
  static_cast<void>(all.arrive());
  return select(stop.wait());
#endif
}
