// Operations of select: see operations.cpp.
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/select.hpp>

#include "still_loop.hpp"

using hocket::await, hocket::select, hocket::spawn, hocket::task;
using std::size_t;

namespace counts {
namespace {

using four_events = hocket::auto_reset_event[4];

auto any_of(four_events& events) {
  return select(events[0].wait(), events[1].wait(), events[2].wait(), events[3].wait());
}

}  // namespace

// Four events, one of which is set in turn, and so found at once.
void select_in_fiber(size_t k) {
  four_events events;
  still_loop on;
  spawn(on.loop, [&events, k] {
    for (size_t i = 0; i < k; ++i) {
      events[i % 4].set();
      auto got = await(any_of(events));
      must(got && got->index() == i % 4, "a select took another event than the one that was set");
    }
  });
}

// Two coroutines set one of four events for one another: a unit is one select that suspends.
void select_wait_in_fiber(size_t k) {
  four_events events[2];
  still_loop on;
  for (size_t me : {size_t{0}, size_t{1}})
    spawn(on.loop, [&events, me, k] {
      for (size_t i = 0; i < k / 2; ++i) {
        if (me == 0) events[1][i % 4].set();
        auto got = await(any_of(events[me]));
        must(got && got->index() == i % 4, "a select was granted another event than the one that was set");
        if (me == 1) events[0][i % 4].set();
      }
    });
}
void select_wait_in_task(size_t k) {
  four_events events[2];
  still_loop on;
  for (size_t me : {size_t{0}, size_t{1}})
    spawn(on.loop, [&events, me, k]() -> task<void> {
      for (size_t i = 0; i < k / 2; ++i) {
        if (me == 0) events[1][i % 4].set();
        auto got = co_await any_of(events[me]);
        must(got && got->index() == i % 4, "a select was granted another event than the one that was set");
        if (me == 1) events[0][i % 4].set();
      }
    });
}

}  // namespace counts
