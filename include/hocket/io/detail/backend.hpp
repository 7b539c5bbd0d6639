// Where a descriptor's bytes come from: the kernel (epoll), or memory (tests and simulations). The seam between
// operations and systems.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/io/detail/transfer.hpp>

namespace hocket::inline HOCKET_ABI::detail {

class io_driver;
class open_descriptor;

class backend {
 public:
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;

  // Any thread, one at a time for each direction. Never blocks. Writes to `what` how it ended, if it did.
  virtual call_end carry_out(open_descriptor& at, transfer& what) noexcept = 0;

  // The driver of the thread that calls, in a coroutine or for a wait of a plain thread; made, if there is none.
  virtual result<io_driver*> driver_here() noexcept = 0;

  // Nobody uses the descriptor any more, and no driver watches it.
  virtual void close(open_descriptor& gone) noexcept = 0;

 protected:
  backend() noexcept = default;
  ~backend() = default;
};

}  // namespace hocket::inline HOCKET_ABI::detail
