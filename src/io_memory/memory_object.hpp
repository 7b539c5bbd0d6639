// The object behind a descriptor of a network in memory: an end of a connection (memory_end.hpp), a listener
// (memory_listener.hpp), or a socket of datagrams (memory_datagram_socket.hpp).
//
// The descriptor owns the object. The medium's mutex guards all members that are not constant.
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
  explicit memory_object(std::shared_ptr<memory_medium> network) noexcept : medium(std::move(network)) {}
  memory_object(const memory_object&) = delete;
  memory_object& operator=(const memory_object&) = delete;
  virtual ~memory_object() = default;

  // Makes the descriptor that owns the object. Called without the mutex. Throws std::bad_alloc.
  static descriptor make_descriptor(std::unique_ptr<memory_object> unowned);

  // Under the medium's mutex. May throw std::bad_alloc: then the transfer fails, and a part of it may be sent.
  virtual call_end call(transfer& operation) = 0;
  // Under the medium's mutex: unlinks the object from all others. The caller then destroys it without the mutex.
  virtual void close() noexcept = 0;
  // Under the medium's mutex. Return an error number, or 0, as in backend.hpp. Options without an effect in memory are
  // accepted.
  virtual int set_option(int level, int name, const void* value, std::size_t size) noexcept;
  virtual int shut_down(int directions) noexcept;
  // Under the medium's mutex: resets a connection on both sides, now.
  virtual void reset_connection() noexcept {}
  // Under the medium's mutex: the count of written bytes that have not arrived.
  virtual std::size_t unsent() const noexcept { return 0; }

  // Schedules an edge of each direction, now.
  void schedule_all_edges() noexcept;

  // Constant after make_descriptor() and bind().
  const std::shared_ptr<memory_medium> medium;  // outlives all objects
  std::uint64_t tag = 0;                        // of its descriptor
  socket_address local{}, peer{};               // invalid: none
};

inline memory_object& object_of(const open_descriptor& owner) noexcept {
  return *static_cast<memory_object*>(owner.data());
}

inline call_end complete(transfer& operation, call_end end) noexcept {
  operation.ended = true;
  return end;
}
inline call_end fail(transfer& operation, int error) noexcept {
  operation.fail(error);
  return call_end::done;
}

}}}  // namespace hocket::detail
