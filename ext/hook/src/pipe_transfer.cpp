// tee, vmsplice: between pipes, and between a pipe and memory. SPLICE_F_NONBLOCK tries them without blocking.
#include "attempts.hpp"
#include "next.hpp"

#include <fcntl.h>
#include <sys/uio.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

bool is_empty(int pipe) noexcept {
  pollfd pfd{pipe, POLLIN, 0};
  return raw::poll(&pfd, 1, 0) == 0;
}

// It waits for one pipe at a time: for input until there is some, then for room.
ssize_t tee_hooked(int from, int to, size_t size, unsigned flags) noexcept {
  if (!may_begin()) return -1;
  retry_wait input(from, direction::in), output(to, direction::out);
  for (;;) {
    const ssize_t moved = raw::tee(from, to, size, flags | SPLICE_F_NONBLOCK);
    if (moved >= 0 || !would_block() || (flags & SPLICE_F_NONBLOCK) != 0) return moved;
    if (!(is_empty(from) ? input : output).wait()) return -1;
  }
}

direction direction_of(int pipe) noexcept {
  const int flags = raw::fcntl(pipe, F_GETFL, nullptr);
  return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY ? direction::in : direction::out;
}

ssize_t vmsplice_hooked(int pipe, const iovec* parts, size_t count, unsigned flags) noexcept {
  if (!may_begin()) return -1;
  const auto attempt = [&] { return raw::vmsplice(pipe, parts, count, flags | SPLICE_F_NONBLOCK); };
  return (flags & SPLICE_F_NONBLOCK) != 0 ? attempt() : until_done(pipe, direction_of(pipe), attempt);
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

ssize_t tee(int from, int to, size_t size, unsigned flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.tee(from, to, size, flags);
  return hook::quietly([&] { return hook::tee_hooked(from, to, size, flags); });
}
ssize_t vmsplice(int pipe, const iovec* parts, size_t count, unsigned flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::next.vmsplice(pipe, parts, count, flags);
  return hook::quietly([&] { return hook::vmsplice_hooked(pipe, parts, count, flags); });
}

}  // extern "C"
