#include "io_memory/memory_object.hpp"

#include <hocket/io/seam/descriptor_table.hpp>

#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <new>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// They change how the kernel sends, and nothing that the two sides see.
bool makes_no_difference(int level, int name) noexcept {
  if (level == IPPROTO_TCP)
    return name == TCP_NODELAY || name == TCP_KEEPIDLE || name == TCP_KEEPINTVL || name == TCP_KEEPCNT;
  return level == SOL_SOCKET && (name == SO_KEEPALIVE || name == SO_RCVBUF || name == SO_SNDBUF);
}

}  // namespace

descriptor memory_object::own(std::unique_ptr<memory_object> unowned) {
  open_descriptor* const owner =
      descriptor_table::take(unowned->medium->sockets(), -1, descriptor_kind::other, unowned.get());
  if (!owner) throw std::bad_alloc();
  unowned->tag = descriptor_table::tag_of(*owner);
  unowned.release();
  return descriptor_access::make(*owner);
}

int memory_object::set_option(int level, int name, const void*, std::size_t) noexcept {
  return makes_no_difference(level, name) ? 0 : EOPNOTSUPP;
}

int memory_object::shut_down(int) noexcept { return ENOTCONN; }

void memory_object::tell_all() noexcept {
  for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer})
    medium->arrives(medium->now(), tag, side);
}

}}}  // namespace hocket::detail
