// A socket of datagrams. A sent datagram is at once in the queue of its receiver, with the time of its arrival.
//
// Order. A datagram arrives behind the earlier datagrams of its sender, except for delayed datagrams (the option
// `reorders`).
//
// The queue is bounded: if it is full, a further datagram is lost, as in the kernel.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/io/seam/transfer.hpp>

#include "io_memory/memory_object.hpp"

#include <list>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_datagram_socket final : public memory_object {
 public:
  using memory_object::memory_object;

  call_end call(transfer& operation) override;
  void close() noexcept override;

 private:
  struct datagram {
    time_point arrival;
    socket_address sender;
    std::vector<std::byte> bytes;
    bool is_delayed;
  };
  static constexpr time_point never = time_point::max();

  call_end receive(transfer& operation);
  call_end send(transfer& operation);
  call_end poll(transfer& operation) const noexcept;
  // Returns an error number, or 0.
  int send_message(message& sent);
  void send_to(const socket_address& receiver, const message& sent);
  void enqueue(const socket_address& sender, const message& sent);
  time_point arrival_from(const socket_address& sender, bool is_delayed) noexcept;
  bool has_datagram(time_point present) const noexcept { return !queue_.empty() && queue_.front().arrival <= present; }
  bool accepts_from(const socket_address& sender) const noexcept { return !peer.is_valid() || peer == sender; }
  // Whether a refusal has arrived. Clears it, so that one operation fails with it.
  bool take_refusal() noexcept;

  std::list<datagram> queue_;      // ordered by the time of arrival
  time_point refused_at_ = never;  // the arrival of the error that no socket is bound to the peer's address
};

}}}  // namespace hocket::detail
