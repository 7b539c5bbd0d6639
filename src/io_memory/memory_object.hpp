// What a descriptor of a network in memory stands for: an end of a connection (memory_end.hpp), a listener
// (memory_door.hpp), or a socket of datagrams (memory_mailbox.hpp).
//
// The descriptor owns it. All members but the constant ones are guarded by the medium's mutex.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <hocket/io/seam/transfer.hpp>
#include <hocket/net/address.hpp>

#include "io_memory/memory_medium.hpp"

#include <cstdint>
#include <memory>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_object {
 public:
  explicit memory_object(std::shared_ptr<memory_medium> on) noexcept : medium(std::move(on)) {}
  memory_object(const memory_object&) = delete;
  memory_object& operator=(const memory_object&) = delete;
  virtual ~memory_object() = default;

  // The descriptor owns the object from here on. Without the mutex. Throws std::bad_alloc.
  static descriptor own(std::unique_ptr<memory_object> unowned);

  // Under the medium's mutex. May throw std::bad_alloc: the transfer fails, though a part of it may be on its way.
  virtual call_end call(transfer& what) = 0;
  // Under the medium's mutex: no other object finds it any more. Then it is destroyed without the mutex.
  virtual void close() noexcept = 0;
  // Under the medium's mutex. An error number, or 0: as backend.hpp. Options that make no difference in memory are
  // taken.
  virtual int set_option(int level, int name, const void* value, std::size_t size) noexcept;
  virtual int shut_down(int how) noexcept;
  // Under the medium's mutex: a connection ends with a reset on both sides, now.
  virtual void break_up() noexcept {}
  // Under the medium's mutex: how many written bytes have not arrived.
  virtual std::size_t unsent() const noexcept { return 0; }

  // Edges: of everything, now.
  void tell_all() noexcept;

  // Constant after own() and bind().
  const std::shared_ptr<memory_medium> medium;  // lives as long as any object
  std::uint64_t tag = 0;                        // of its descriptor
  socket_address local{}, peer{};               // invalid: none
};

inline memory_object& object_of(const open_descriptor& owner) noexcept {
  return *static_cast<memory_object*>(owner.data());
}

inline call_end ended(transfer& what, call_end how) noexcept {
  what.ended = true;
  return how;
}
inline call_end failed(transfer& what, int error) noexcept {
  what.fail(error);
  return call_end::done;
}

}}}  // namespace hocket::detail
