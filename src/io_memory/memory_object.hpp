// What a descriptor of a network in memory stands for: an end of a connection (memory_end.hpp), a listener
// (memory_door.hpp), or a socket of datagrams (memory_mailbox.hpp).
//
// The descriptor owns it. All members but the constant ones are guarded by the core's mutex.
#pragma once
#include <hocket/io/detail/transfer.hpp>
#include <hocket/net/address.hpp>

#include <cstdint>
#include <memory>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_core;

// The directions of a descriptor that an edge is told to.
enum class memory_side : std::uint8_t { in, out, peer };

class memory_object {
 public:
  explicit memory_object(memory_core& of);
  memory_object(const memory_object&) = delete;
  memory_object& operator=(const memory_object&) = delete;
  virtual ~memory_object();

  // Under the core's mutex. May throw std::bad_alloc: the transfer fails, though a part of it may be on its way.
  virtual call_end call(transfer& what) = 0;
  // Under the core's mutex: no other object finds it any more. Then it is destroyed without the mutex.
  virtual void close() noexcept = 0;
  // Under the core's mutex. An error number, or 0: as backend.hpp. Options that make no difference in memory are taken.
  virtual int set_option(int level, int name, const void* value, std::size_t size) noexcept;
  virtual int shut_down(int how) noexcept;
  // Under the core's mutex: how many written bytes have not arrived.
  virtual std::size_t unsent() const noexcept { return 0; }

  // Edges: of everything, now.
  void tell_all() noexcept;

  // Constant after memory_core::open().
  const std::shared_ptr<memory_core> core;  // lives as long as any object
  std::uint64_t tag = 0;                    // of its descriptor
  socket_address local{}, peer{};           // invalid: none
};

inline call_end ended(transfer& what, call_end how) noexcept {
  what.ended = true;
  return how;
}
inline call_end failed(transfer& what, int error) noexcept {
  what.fail(error);
  return call_end::done;
}

}}}  // namespace hocket::detail
