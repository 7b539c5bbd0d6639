// sendfile, splice: these calls have no reliable flag against blocking.
//
// sendfile() into a socket or pipe moves the bytes through a buffer, by the hooked pread() and write(). Into a file: on
// the pool. A first call for 0 bytes moves nothing and finds the errors of the system: programs fall back to read() and
// write() after EINVAL.
//
// splice(): the fiber waits until both ends are ready, and makes the call on the pool. There it can still block for the
// rest of its bytes. If one wait is ended, both sockets are in doubt (marked_sockets.hpp).
#include "attempts.hpp"
#include "files.hpp"
#include "next.hpp"

#include <algorithm>
#include <fcntl.h>
#include <new>
#include <unistd.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook { namespace {

class buffer {
 public:
  static constexpr size_t size = size_t{64} << 10;
  buffer() noexcept : data_(::operator new(size, std::nothrow)) {}
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  ~buffer() { ::operator delete(data_); }
  void* data() const noexcept { return data_; }

 private:
  void* const data_;
};

// After a failed step of a transfer: an end of the fiber leaves the connection in doubt.
void abandon_if_ended(int fd, close_count begin) noexcept {
  if (errno == ECANCELED || errno == ETIMEDOUT || errno == ECONNABORTED) abandon(fd, begin);
}

constexpr size_t most_bytes = 0x7fff'f000;  // of one call: sendfile(2)

// Moves a block that begins at `at`. Returns its size; 0 at the end of the file. The read may wait: if `to` was closed
// meanwhile, then the number may be another connection's.
ssize_t move_block(int to, int from, off_t at, size_t size, void* through, close_count begin) noexcept {
  const ssize_t count = ::pread64(from, through, size, at);
  if (count <= 0) return count;
  if (was_closed_after(to, begin)) return fail<ssize_t>(EBADF);
  return ::write(to, through, static_cast<size_t>(count));
}

// Moves bytes from `at` on; the file's own position stays.
ssize_t move_from(int to, int from, off_t at, size_t size) noexcept {
  const buffer through;
  if (!through.data()) return fail<ssize_t>(ENOMEM);
  const close_count begin = last_close();
  const watched_fd target(to);
  size_t moved = 0;
  while (moved != size) {
    const size_t block = std::min(size - moved, buffer::size);
    const ssize_t count = move_block(to, from, at + static_cast<off_t>(moved), block, through.data(), begin);
    if (count < 0) abandon_if_ended(to, begin);        // also if the read of the file was ended
    if (count < 0 && errno == EISDIR) errno = EINVAL;  // as sendfile(2): its call for 0 bytes does not find a folder
    if (count < 0) return moved != 0 ? static_cast<ssize_t>(moved) : -1;
    moved += static_cast<size_t>(count);
    if (static_cast<size_t>(count) != block) break;
  }
  return static_cast<ssize_t>(moved);
}

ssize_t sendfile_hooked(int to, int from, off_t* at, size_t size) noexcept {
  if (!may_begin(to)) return -1;
  if (is_file(to)) return on_pool([=] { return raw::sendfile(to, from, at, size); });
  if (!blocks(to)) return raw::sendfile(to, from, at, size);
  if (raw::sendfile(to, from, at, 0) < 0) return -1;
  const off_t begin = at ? *at : ::lseek64(from, 0, SEEK_CUR);
  const ssize_t moved = move_from(to, from, begin, std::min(size, most_bytes));
  if (moved > 0 && at) *at += moved;
  if (moved > 0 && !at) ::lseek64(from, begin + moved, SEEK_SET);
  return moved;
}

// Returns at once for a file.
bool await_ready(int fd, direction way) noexcept {
  pollfd pfd{fd, events_of(way), 0};
  retry_wait waits(fd, way);
  while (raw::poll(&pfd, 1, 0) == 0)
    if (!waits.wait()) return false;
  return true;
}

ssize_t splice_hooked(int from, off_t* from_at, int to, off_t* to_at, size_t size, unsigned flags) noexcept {
  if (!may_begin(from)) {
    abandon(to, last_close());
    return -1;
  }
  if (is_refused(to)) return -1;
  const auto call = [=] { return raw::splice(from, from_at, to, to_at, size, flags); };
  if ((flags & SPLICE_F_NONBLOCK) != 0) return call();
  const close_count begin = last_close();
  const watched_fd source(from), target(to);
  if (!await_ready(from, direction::in)) {
    abandon(to, begin);
    return -1;
  }
  if (!await_ready(to, direction::out)) {
    abandon(from, begin);
    return -1;
  }
  const ssize_t moved = on_pool(call);
  if (moved < 0) {  // on the pool it has not begun
    abandon_if_ended(from, begin);
    abandon_if_ended(to, begin);
  }
  return moved;
}

}  // namespace
}}}  // namespace hocket::hook

namespace hook = hocket::hook;

extern "C" {

ssize_t sendfile64(int to, int from, off64_t* at, size_t size) noexcept {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(to) ? -1 : hook::next.sendfile(to, from, at, size);
  return hook::quietly([&] { return hook::sendfile_hooked(to, from, at, size); });
}
ssize_t sendfile(int to, int from, off_t* at, size_t size) noexcept { return sendfile64(to, from, at, size); }
ssize_t splice(int from, off64_t* from_at, int to, off64_t* to_at, size_t size, unsigned flags) {
  if (!hook::is_hooked()) [[likely]]
    return hook::is_refused(from) || hook::is_refused(to) ? -1
                                                          : hook::next.splice(from, from_at, to, to_at, size, flags);
  return hook::quietly([&] { return hook::splice_hooked(from, from_at, to, to_at, size, flags); });
}

}  // extern "C"
