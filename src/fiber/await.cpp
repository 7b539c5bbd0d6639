#include <hocket/fiber/await.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// A yield that does not look at the stop: the wait after it does.
struct pause {
  struct awaiter : yield::awaiter {
    void await_resume() noexcept { restore_context(); }
  };
  awaiter operator co_await() const noexcept { return {}; }
};

}  // namespace

wait_end pause_fiber(stop_level ignore, duration::rep until) {
  thread_state& thread = this_thread();
  if (ignore >= stop_level::kill || !is_scheduled(running_fiber(thread))) {
    refill_budget(thread);
    return wait_end::none;
  }
  if (!can_pause()) return wait_end::none;
  if (const yield_way way = prepare_yield(); way.own) park_for_yield(way);
  else await(pause{});
  return ended_already(ignore, time_point(duration(until)));
}

}}}  // namespace hocket::detail
