// What the counted operations run on. The clock stands still and says that it does not: what the real one takes belongs
// to the machine, and a timer wheel that turns now and then would make the count another one each time.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/runtime/loop.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace counts {

// A mistake would only make the operation cheaper.
inline void must(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

struct still_clock final : hocket::clock_source {
  hocket::time_point now() const noexcept override { return {}; }
  bool is_free_running() const noexcept override { return true; }
};

struct still_loop {
  still_clock time;
  hocket::loop loop{{.clock = &time}};

  ~still_loop() {
    loop.run();
    must(loop.live() == 0, "a coroutine has not come to its end");
  }
};

// Operations of channels.cpp, events.cpp, forks.cpp, generators.cpp, heads.cpp, parks.cpp, requests.cpp, selects.cpp
// and timers.cpp.
void channel_item_in_fiber(std::size_t k);
void channel_item_in_task(std::size_t k);
void spsc_channel_item_in_task(std::size_t k);
void channel_trip_in_task(std::size_t k);
void spsc_channel_trip_in_task(std::size_t k);
void task_tree(std::size_t k);
void forked_tasks(std::size_t k);
void forked_callables(std::size_t k);
void forked_each(std::size_t k);
void generator_value(std::size_t k);
void generator_reference(std::size_t k);
void generator_value_100_deep(std::size_t k);
void generator_nested_life(std::size_t k);
void async_generator_value(std::size_t k);
void http_head_of_40_bytes(std::size_t k);
void http_head_of_291_bytes(std::size_t k);
void http_head_in_pieces(std::size_t k);
void set_event_in_fiber(std::size_t k);
void set_event_in_task(std::size_t k);
void park_with_nothing_to_decay(std::size_t k);
void turn_with_nothing_to_run(std::size_t k);
void request_in_task(std::size_t k);
void request_borrowed_in_task(std::size_t k);
void request_in_fiber(std::size_t k);
void select_in_fiber(std::size_t k);
void select_wait_in_fiber(std::size_t k);
void select_wait_in_task(std::size_t k);
void timed_wait_in_task(std::size_t k);
void timer_from_now(std::size_t k);
void timer_at_a_time(std::size_t k);

}  // namespace counts
