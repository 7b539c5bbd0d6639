#include "io_memory/memory_datagram_socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t max_datagram_size = 65507;  // of UDP over IPv4

}  // namespace

call_end memory_datagram_socket::call(transfer& operation) {
  switch (operation.kind) {
    case call_kind::receive: return receive(operation);
    case call_kind::send: return send(operation);
    case call_kind::look: return poll(operation);
    default: return fail(operation, EOPNOTSUPP);
  }
}

// The queued datagrams are lost.
void memory_datagram_socket::close() noexcept { medium->datagrams.unbind(*this, local); }

bool memory_datagram_socket::take_refusal() noexcept {
  if (refused_at_ > medium->now()) return false;
  refused_at_ = never;
  return true;
}

call_end memory_datagram_socket::poll(transfer& operation) const noexcept {
  const time_point present = medium->now();
  const bool is_ready = (operation.size & POLLOUT) != 0 ||
                        ((operation.size & POLLIN) != 0 && (has_datagram(present) || refused_at_ <= present));
  return is_ready ? complete(operation, call_end::done) : call_end::blocks;
}

// --- receive

call_end memory_datagram_socket::receive(transfer& operation) {
  if (take_refusal()) return fail(operation, ECONNREFUSED);
  const message_batch& batch = *static_cast<const message_batch*>(operation.data);
  const time_point present = medium->now();
  std::size_t count = 0;
  for (; count != batch.count && has_datagram(present); ++count, queue_.pop_front()) {
    const datagram& source = queue_.front();
    message& target = batch[count];
    target.moved = std::min(target.size, source.bytes.size());
    target.cut = target.moved < source.bytes.size();
    if (target.moved != 0) std::memcpy(target.data, source.bytes.data(), target.moved);
    if (!target.address) continue;
    target.address_size = std::min(target.address_size, source.sender.size());
    std::memcpy(target.address, source.sender.data(), target.address_size);
  }
  if (count == 0) return call_end::blocks;
  operation.done = count;
  return complete(operation, has_datagram(present) ? call_end::done : call_end::drained);
}

// --- send

call_end memory_datagram_socket::send(transfer& operation) {
  if (take_refusal()) return fail(operation, ECONNREFUSED);
  const message_batch& batch = *static_cast<const message_batch*>(operation.data);
  for (std::size_t i = 0; i != batch.count; ++i) {
    const int error = send_message(batch[i]);
    if (error != 0 && i == 0) return fail(operation, error);
    if (error != 0) break;
    operation.done = i + 1;
  }
  return complete(operation, call_end::done);
}

int memory_datagram_socket::send_message(message& sent) {
  const socket_address receiver = sent.address ? socket_address(sent.address, sent.address_size) : peer;
  if (!receiver.is_valid()) return EDESTADDRREQ;
  if (sent.size > max_datagram_size) return EMSGSIZE;
  sent.moved = sent.size;
  if (medium->happens(medium->options().loss)) return 0;
  send_to(receiver, sent);
  if (medium->happens(medium->options().duplicates)) send_to(receiver, sent);
  return 0;
}

// The receiver is looked up at the send, not at the arrival.
void memory_datagram_socket::send_to(const socket_address& receiver, const message& sent) {
  auto* const socket = static_cast<memory_datagram_socket*>(medium->choose(medium->datagrams.find(receiver)));
  if (socket && socket->accepts_from(local)) return socket->enqueue(local, sent);
  if (!peer.is_valid()) return;
  refused_at_ = std::min(refused_at_, medium->now() + medium->latency() + medium->latency());
  medium->schedule_edge(refused_at_, tag, memory_side::in);
}

void memory_datagram_socket::enqueue(const socket_address& sender, const message& sent) {
  if (queue_.size() >= medium->options().datagrams) return;
  const bool is_delayed = medium->happens(medium->options().reorders);
  const time_point arrival = arrival_from(sender, is_delayed);
  const auto* const bytes = static_cast<const std::byte*>(sent.data);
  auto position = queue_.end();
  while (position != queue_.begin() && std::prev(position)->arrival > arrival) --position;
  queue_.insert(position, {arrival, sender, {bytes, bytes + sent.size}, is_delayed});
  medium->schedule_bytes(arrival, tag);
}

// A delayed datagram takes two latencies, and others overtake it.
time_point memory_datagram_socket::arrival_from(const socket_address& sender, bool is_delayed) noexcept {
  time_point arrival = medium->now() + medium->latency();
  if (is_delayed) arrival += medium->latency();
  for (const datagram& earlier : queue_) {
    if (!earlier.is_delayed && earlier.sender == sender) arrival = std::max(arrival, earlier.arrival);
  }
  return arrival;
}

}}}  // namespace hocket::detail
