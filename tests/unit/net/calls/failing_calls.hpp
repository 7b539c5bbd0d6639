// Makes one system call of the program fail: the linker leads the calls that are named here to functions of this folder
// (--wrap), which ask whether it is their turn.
#pragma once
#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>

namespace hocket_test {

enum class called : int {
  accept4,
  bind,
  connect,
  epoll_create1,
  epoll_ctl,
  epoll_wait,
  eventfd,
  fcntl,
  getsockname,
  getsockopt,
  listen,
  poll,
  read,
  readv,
  recv,
  recvmmsg,
  recvmsg,
  send,
  sendfile,
  sendmmsg,
  sendmsg,
  setsockopt,
  shutdown,
  socket,
  write,
  writev,
  count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(called::count)> call_names{
    "accept4",    "bind",        "connect",    "epoll_create1", "epoll_ctl", "epoll_wait", "eventfd",
    "fcntl",      "getsockname", "getsockopt", "listen",        "poll",      "read",       "readv",
    "recv",       "recvmmsg",    "recvmsg",    "send",          "sendfile",  "sendmmsg",   "sendmsg",
    "setsockopt", "shutdown",    "socket",     "write",         "writev"};

// From now on the nth call of `which` fails with `error`. 0: none does; they are counted.
void fail_call(called which, int nth, int error) noexcept;
// How many calls of it there were since.
int calls_made() noexcept;
// Asked by each call: true if it is to fail, and errno is set.
bool is_to_fail(called one) noexcept;

}  // namespace hocket_test
