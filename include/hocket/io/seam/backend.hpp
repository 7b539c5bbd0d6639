// Where a descriptor's bytes come from: the kernel (epoll), or memory (tests and simulations). The seam between
// operations and systems. A backend on top of another one is a stacked_backend (io/seam/stacked_backend.hpp).
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/io/seam/transfer.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class io_driver;
class open_descriptor;

// Whose address.
enum class socket_side : std::uint8_t { local, peer };

class backend {
 public:
  backend(const backend&) = delete;
  backend& operator=(const backend&) = delete;

  // For people. A literal.
  virtual const char* name() const noexcept = 0;

  // Any thread, one at a time for each direction; accepts: any number. Never blocks. Writes to `what` how it ended, if
  // it did.
  virtual call_end carry_out(open_descriptor& at, transfer& operation) noexcept = 0;

  // The driver of the thread that calls, in a coroutine or for a wait of a plain thread; made, if there is none.
  virtual result<io_driver*> driver_here() noexcept = 0;

  // Nobody uses the descriptor any more, and no driver watches it.
  virtual void close(open_descriptor& closed) noexcept = 0;

  // Calls on sockets that are no transfers, with the arguments of setsockopt(2), getsockopt(2), shutdown(2),
  // getsockname(2) and getpeername(2). Any thread, while the descriptor is in use (used_fd). They return an error
  // number, or 0. EOPNOTSUPP, unless a backend overrides them.
  virtual int set_option(open_descriptor& at, int level, int name, const void* value, std::size_t size) noexcept;
  virtual int get_option(open_descriptor& at, int level, int name, void* value, std::size_t& size) noexcept;
  virtual int shut_down(open_descriptor& at, int directions) noexcept;
  virtual int address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept;
  // How many written bytes the peer's system does not have yet (SIOCOUTQ); 0 if the backend cannot tell. Any thread.
  virtual std::size_t unsent(open_descriptor& at) noexcept;

 protected:
  backend() noexcept = default;
  ~backend() = default;
};

// The answers of a backend to transfers that consist of reads. The caller has the direction's word.

// call_kind::read_all: one read by `reader`.
call_end continue_read_all(backend& reader, open_descriptor& at, transfer& operation) noexcept;

namespace lending {

// Reads as call_kind::read does.
using read_call = call_end (*)(open_descriptor& at, transfer& bytes);

// call_kind::borrow: `read` reads into a block, which is lent.
call_end lend(open_descriptor& at, transfer& operation, read_call read) noexcept;

// call_kind::discard: `read` reads up to the end, and the bytes are dropped.
call_end discard(open_descriptor& at, transfer& operation, read_call read) noexcept;

}  // namespace lending

}}}  // namespace hocket::detail
