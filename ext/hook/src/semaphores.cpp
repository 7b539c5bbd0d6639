// sem_timedwait, sem_clockwait: tried, and again after 1 ms, 2 ms ... 50 ms.
//
// Their callers expect a failure. Callers of sem_wait() do not: many read only EINTR, and would continue without the
// permit. So sem_wait() is not hooked.
#include "caller.hpp"
#include "next.hpp"
#include "times.hpp"

#include <algorithm>
#include <semaphore.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

bool try_acquire(sem_t* semaphore) noexcept { return ::sem_trywait(semaphore) == 0; }

// Reads the clock once: if the clock is set during the wait, the limit does not change.
bool read_limit(clockid_t clock, const timespec& time, time_point& limit) noexcept {
  timespec present{};
  if (time.tv_nsec < 0 || time.tv_nsec >= 1'000'000'000 || ::clock_gettime(clock, &present) != 0) {
    errno = EINVAL;
    return false;
  }
  limit = after(std::max<duration>(duration::zero(), duration_of(time) - duration_of(present)));
  return true;
}

int acquire_until(sem_t* semaphore, clockid_t clock, const timespec& time) noexcept {
  if (!may_begin()) return -1;
  if (try_acquire(semaphore)) return 0;
  time_point limit{};
  if (errno != EAGAIN || !read_limit(clock, time, limit)) return -1;
  for (growing_pause pause;;) {
    if (now() >= limit) return fail<int>(ETIMEDOUT);
    if (wait_until(std::min(limit, pause.end())) != wait_result::ready) return -1;
    if (try_acquire(semaphore)) return 0;
  }
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int sem_timedwait(sem_t* semaphore, const timespec* limit) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.sem_timedwait, "sem_timedwait")(semaphore, limit);
  return hook::quietly([&] { return hook::acquire_until(semaphore, CLOCK_REALTIME, *limit); });
}
int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* limit) {
  if (!hook::is_hooked()) [[likely]]
    return hook::find_next(hook::next.sem_clockwait, "sem_clockwait")(semaphore, clock, limit);
  return hook::quietly([&] { return hook::acquire_until(semaphore, clock, *limit); });
}

}  // extern "C"
