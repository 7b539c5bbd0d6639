// stacked_backend: a backend on top of another one, for one descriptor. It changes the bytes that pass, as TLS or a
// compression does, and leaves all else to the backend below.
//
//   class upper final : public stacked_backend {
//     call_end read(open_descriptor& at, transfer& operation) noexcept override {
//       const std::size_t before = operation.done;
//       const call_end end = call_below(at, operation);
//       ... changes the bytes [before, operation.done) at operation.data ...
//       return end;
//     }
//     ...
//   };
//   auto* const top = new upper;
//   if (const int error = top->push(record)) ...                   // record: descriptor_access::record_of(stream)
//
// States
//
//   apart    made, or taken away by a failed push(): the caller's
//   on top   push() returned 0. The descriptor has it until it is closed, then release() is called once
//
// What it is asked for. read() and write() alone: reads for lent blocks, of several buffers and up to the end of the
// stream are made of them, and so are writes of several buffers. Readiness, the end of the peer, options, shutdowns and
// addresses come from the backend below. Peeks, messages, passed descriptors and files in the kernel fail with
// operation_not_supported: they would go past it.
//
// A backend with bytes of its own, which it has read ahead, answers `done`, not `drained`, while it has some: then the
// next read calls it, though the system reports no edge. readable() does not know of them: override check_readiness().
//
// Errors. At check level `debug`, an answer that contradicts its transfer is fatal, and names the backend: a transfer
// that has ended and blocks, or one that is carried out again after its end.
//
// Access. As of backend: one party at a time in each direction.
#pragma once
#include <hocket/io/seam/open_descriptor.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class stacked_backend : public backend {
 public:
  // Puts it on top of the descriptor's backend. Returns an error number, or 0: EBUSY if an operation is under way,
  // EBADF if the descriptor is closed. Call it before other threads use the descriptor, or while they cannot begin
  // operations.
  [[nodiscard]] int push(open_descriptor& at) noexcept;

  call_end carry_out(open_descriptor& at, transfer& operation) noexcept final;
  result<io_driver*> driver_here() noexcept final { return below_->driver_here(); }
  void close(open_descriptor& closed) noexcept final;
  int set_option(open_descriptor& at, int level, int name, const void* value, std::size_t size) noexcept override;
  int get_option(open_descriptor& at, int level, int name, void* value, std::size_t& size) noexcept override;
  int shut_down(open_descriptor& at, int directions) noexcept override;
  int address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept override;
  std::size_t unsent(open_descriptor& at) noexcept override;

 protected:
  stacked_backend() noexcept = default;
  ~stacked_backend() = default;

  // Bytes into `operation.data`, or from there, behind the first `operation.done`.
  virtual call_end read(open_descriptor& at, transfer& operation) noexcept = 0;
  virtual call_end write(open_descriptor& at, transfer& operation) noexcept = 0;
  // Readiness, and the end of the peer.
  virtual call_end check_readiness(open_descriptor& at, transfer& operation) noexcept {
    return call_below(at, operation);
  }
  // The descriptor is closed. The object may delete itself.
  virtual void release() noexcept = 0;

  // The call of the backend below. A part of `operation` has the same direction.
  call_end call_below(open_descriptor& at, transfer& operation) noexcept { return below_->carry_out(at, operation); }
  // Records `bytes` that were moved for `operation`, by a call below that ended so. Returns the answer.
  static call_end moved(transfer& operation, std::size_t bytes, call_end below) noexcept;

 private:
  static call_end read_at(open_descriptor& at, transfer& operation);
  call_end in_parts(open_descriptor& at, transfer& operation, call_kind part) noexcept;

  backend* below_ = nullptr;
};

}}}  // namespace hocket::detail
