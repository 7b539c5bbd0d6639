#include "io_memory/memory_object.hpp"

#include <hocket/io/seam/descriptor_table.hpp>

#include <cerrno>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <new>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

// These options change how the kernel sends. Neither side of a connection observes them.
bool has_no_effect(int level, int name) noexcept {
  if (level == IPPROTO_TCP)
    return name == TCP_NODELAY || name == TCP_KEEPIDLE || name == TCP_KEEPINTVL || name == TCP_KEEPCNT;
  return level == SOL_SOCKET && (name == SO_KEEPALIVE || name == SO_RCVBUF || name == SO_SNDBUF);
}

}  // namespace

descriptor memory_object::make_descriptor(std::unique_ptr<memory_object> object) {
  open_descriptor* const record =
      descriptor_table::take(object->medium->sockets(), -1, descriptor_kind::other, object.get());
  if (!record) throw std::bad_alloc();
  object->tag = descriptor_table::tag_of(*record);
  object.release();
  return descriptor_access::make(*record);
}

int memory_object::set_option(int level, int name, const void*, std::size_t) noexcept {
  return has_no_effect(level, name) ? 0 : EOPNOTSUPP;
}

int memory_object::shut_down(int) noexcept { return ENOTCONN; }

void memory_object::schedule_all_edges() noexcept {
  for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer})
    medium->schedule_edge(medium->now(), tag, side);
}

}}}  // namespace hocket::detail
