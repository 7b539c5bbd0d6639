// The kernel's calls that move no bytes, and how its calls end.
#pragma once
#include <hocket/io/detail/transfer.hpp>

#include <cerrno>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class open_descriptor;

namespace kernel_calls {

inline call_end ended(transfer& what, call_end how) noexcept {
  what.ended = true;
  return how;
}

// A call that moved nothing.
inline call_end failed(transfer& what, long error) noexcept {
  if (error == -EAGAIN || error == -EWOULDBLOCK) return call_end::blocks;
  what.fail(static_cast<int>(-error));
  return call_end::done;
}

call_end accept(const open_descriptor& at, transfer& what) noexcept;
call_end connect(open_descriptor& at, transfer& what) noexcept;
call_end look(const open_descriptor& at, transfer& what) noexcept;

}  // namespace kernel_calls

}}}  // namespace hocket::detail
