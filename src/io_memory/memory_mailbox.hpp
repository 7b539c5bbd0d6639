// A socket of datagrams. A datagram that is sent to it is in its queue from then on, with the time of its arrival.
//
// Order. A datagram arrives behind the ones that its sender has sent before, unless chance holds one of them back.
//
// The queue is bounded: what comes when it is full is lost, as in the kernel.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/io/seam/transfer.hpp>

#include "io_memory/memory_object.hpp"

#include <list>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_mailbox final : public memory_object {
 public:
  using memory_object::memory_object;

  call_end call(transfer& what) override;
  void close() noexcept override;

 private:
  struct datagram {
    time_point at;
    socket_address from;
    std::vector<std::byte> bytes;
    bool held_back;
  };
  static constexpr time_point never = time_point::max();

  call_end receive(transfer& what);
  call_end send(transfer& what);
  call_end look(transfer& what) const noexcept;
  // An error number, or 0.
  int send_one(message& one);
  void send_to(const socket_address& to, const message& one);
  void take_in(const socket_address& from, const message& one);
  time_point arrival_behind(const socket_address& from, bool held_back) noexcept;
  bool has_datagram(time_point present) const noexcept { return !queue_.empty() && queue_.front().at <= present; }
  bool takes_from(const socket_address& from) const noexcept { return !peer.is_valid() || peer == from; }
  // Whether an error has arrived. It is told once.
  bool take_refusal() noexcept;

  std::list<datagram> queue_;   // by the time of arrival
  time_point refused_ = never;  // when the peer's host tells that nobody is there
};

}}}  // namespace hocket::detail
