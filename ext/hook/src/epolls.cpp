// epoll_wait, epoll_pwait, epoll_pwait2: the fiber waits until the epoll itself is readable.
//
// epoll_ctl() is not hooked, so the sockets of the set are unknown: a wait that is ended fails with ECANCELED, also
// after a deadline, and marks none. A result of 0 would be taken for the call's own time-out, and the call repeated.
#include "caller.hpp"
#include "next.hpp"
#include "times.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

int epoll_until(int epoll, epoll_event* events, int count, time_point limit) noexcept {
  if (!may_begin()) return fail<int>(ECANCELED);
  for (;;) {
    const int ready = raw::epoll_wait(epoll, events, count, 0);
    if (ready != 0 || limit <= now()) return ready;
    const wait_result end = wait_for(epoll, POLLIN, limit);
    if (end == wait_result::late) return 0;
    if (end == wait_result::ended) return fail<int>(ECANCELED);
    if (end == wait_result::failed) return -1;
  }
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

int epoll_wait(int epoll, epoll_event* events, int count, int milliseconds) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.epoll_wait(epoll, events, count, milliseconds);
  return hook::quietly([&] { return hook::epoll_until(epoll, events, count, hook::after_milliseconds(milliseconds)); });
}
int epoll_pwait(int epoll, epoll_event* events, int count, int milliseconds, const sigset_t* mask) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.epoll_pwait(epoll, events, count, milliseconds, mask);
  return hook::quietly([&] { return hook::epoll_until(epoll, events, count, hook::after_milliseconds(milliseconds)); });
}
int epoll_pwait2(int epoll, epoll_event* events, int count, const timespec* limit, const sigset_t* mask) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.epoll_pwait2(epoll, events, count, limit, mask);
  if (limit && !hook::is_valid(*limit)) return hook::fail<int>(EINVAL);
  return hook::quietly([&] { return hook::epoll_until(epoll, events, count, hook::after(limit)); });
}

}  // extern "C"
