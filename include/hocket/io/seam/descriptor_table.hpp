// All open descriptors of the process, by index. Memory is never given back: an event of epoll may tell of a descriptor
// that is closed (open_descriptor.hpp).
#pragma once
#include <hocket/io/seam/open_descriptor.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Raises the soft limit of open descriptors (RLIMIT_NOFILE) to the hard limit, once in a process. Further calls do
// nothing. If the system refuses, the limit stays. Any thread.
void raise_descriptor_limit() noexcept;

namespace descriptor_table {

// An open descriptor with that number; null: there is no memory, or there are too many. O(1).
open_descriptor* take(backend& source, int fd, descriptor_kind kind, void* data = nullptr) noexcept;
// It is used no more.
void give_back(open_descriptor& record) noexcept;

// What the driver hands to the system, and what comes back with an event: the descriptor, or null if it has another
// generation by now. Any thread.
std::uint64_t tag_of(const open_descriptor& record) noexcept;
open_descriptor* find(std::uint64_t tag) noexcept;

// open_descriptor::end_when_idle() of all. Any thread.
void end_when_idle(std::uint64_t family) noexcept;

}  // namespace descriptor_table

}}}  // namespace hocket::detail
