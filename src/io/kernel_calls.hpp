// The kernel's calls that move no bytes, and the results of its calls.
#pragma once
#include <hocket/io/seam/transfer.hpp>

#include <cerrno>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class open_descriptor;

namespace kernel_calls {

inline call_end ended(transfer& operation, call_end end) noexcept {
  operation.ended = true;
  return end;
}

// The result of a call that moved nothing.
inline call_end failed(transfer& operation, long error) noexcept {
  if (error == -EAGAIN || error == -EWOULDBLOCK) return call_end::blocks;
  operation.fail(static_cast<int>(-error));
  return call_end::done;
}

call_end accept(const open_descriptor& record, transfer& operation) noexcept;
call_end connect(open_descriptor& record, transfer& operation) noexcept;
call_end poll_once(const open_descriptor& record, transfer& operation) noexcept;

}  // namespace kernel_calls

}}}  // namespace hocket::detail
