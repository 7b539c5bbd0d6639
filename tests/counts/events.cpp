// Operations that are possible at once and spend the budget of their thread (core/wait/seam/operation.hpp): see
// operations.cpp.
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/sync/event.hpp>

#include "still_loop.hpp"

using hocket::await, hocket::spawn, hocket::task;
using std::size_t;

namespace counts {

// An event that is set.
void set_event_in_fiber(size_t k) {
  hocket::event is_set(true);
  still_loop on;
  spawn(on.loop, [&is_set, k] {
    for (size_t i = 0; i < k; ++i) must(await(is_set.wait()).has_value(), "an event that is set was waited for");
  });
}
void set_event_in_task(size_t k) {
  hocket::event is_set(true);
  still_loop on;
  spawn(on.loop, [&is_set, k]() -> task<void> {
    for (size_t i = 0; i < k; ++i) {
      auto seen = co_await is_set.wait();
      must(seen.has_value(), "an event that is set was waited for");
    }
  });
}

}  // namespace counts
