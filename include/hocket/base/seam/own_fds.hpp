// The numbers of the library's own descriptors: never 0, 1 or 2.
//
// Hazard. If a program begins with one of its standard streams closed, then the next descriptor that is made gets that
// number. Whatever writes to standard output or standard error then writes into a socket or an eventfd, and a child
// inherits the descriptor as its standard stream. Prevented by these functions: each call of the library that makes a
// descriptor passes the result through one of them. A descriptor of the user's keeps its number.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <array>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr int first_own_fd = 3;

// Copies the fd behind the standard streams, close-on-exec, and closes it. Returns -1 and sets errno, if there is none.
[[nodiscard, HOCKET_COLD, HOCKET_NOINLINE]] int move_behind_standard(int fd) noexcept;

// What a system call has returned: an fd, which is moved if it is one of the standard streams', or -1 with errno.
[[nodiscard]] inline int own_fd(int returned) noexcept {
  return returned >= first_own_fd || returned < 0 ? returned : move_behind_standard(returned);
}

// The same for both fds of pipe2(2) or socketpair(2), which returned 0. On an error both are closed.
[[nodiscard]] int own_fds(int returned, std::array<int, 2>& ends) noexcept;

}}}  // namespace hocket::detail
