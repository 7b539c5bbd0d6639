#include "io_memory/memory_mailbox.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

namespace {

constexpr std::size_t most_in_a_datagram = 65507;  // UDP's over IPv4

}  // namespace

call_end memory_mailbox::call(transfer& what) {
  switch (what.kind) {
    case call_kind::receive: return receive(what);
    case call_kind::send: return send(what);
    case call_kind::look: return look(what);
    default: return failed(what, EOPNOTSUPP);
  }
}

// What is in the queue is lost.
void memory_mailbox::close() noexcept { medium->datagrams.unbind(*this, local); }

bool memory_mailbox::take_refusal() noexcept {
  if (refused_ > medium->now()) return false;
  refused_ = never;
  return true;
}

call_end memory_mailbox::look(transfer& what) const noexcept {
  const time_point present = medium->now();
  const bool there =
      (what.size & POLLOUT) != 0 || ((what.size & POLLIN) != 0 && (has_datagram(present) || refused_ <= present));
  return there ? ended(what, call_end::done) : call_end::blocks;
}

// --- receiving

call_end memory_mailbox::receive(transfer& what) {
  if (take_refusal()) return failed(what, ECONNREFUSED);
  const message_batch& batch = *static_cast<const message_batch*>(what.data);
  const time_point present = medium->now();
  std::size_t count = 0;
  for (; count != batch.count && has_datagram(present); ++count, queue_.pop_front()) {
    const datagram& from = queue_.front();
    message& to = batch[count];
    to.moved = std::min(to.size, from.bytes.size());
    to.cut = to.moved < from.bytes.size();
    if (to.moved != 0) std::memcpy(to.data, from.bytes.data(), to.moved);
    if (!to.address) continue;
    to.address_size = std::min(to.address_size, from.from.size());
    std::memcpy(to.address, from.from.data(), to.address_size);
  }
  if (count == 0) return call_end::blocks;
  what.done = count;
  return ended(what, has_datagram(present) ? call_end::done : call_end::drained);
}

// --- sending

call_end memory_mailbox::send(transfer& what) {
  if (take_refusal()) return failed(what, ECONNREFUSED);
  const message_batch& batch = *static_cast<const message_batch*>(what.data);
  for (std::size_t i = 0; i != batch.count; ++i) {
    const int error = send_one(batch[i]);
    if (error != 0 && i == 0) return failed(what, error);
    if (error != 0) break;
    what.done = i + 1;
  }
  return ended(what, call_end::done);
}

int memory_mailbox::send_one(message& one) {
  const socket_address to = one.address ? socket_address(one.address, one.address_size) : peer;
  if (!to.is_valid()) return EDESTADDRREQ;
  if (one.size > most_in_a_datagram) return EMSGSIZE;
  one.moved = one.size;
  if (medium->happens(medium->options().loss)) return 0;
  send_to(to, one);
  if (medium->happens(medium->options().duplicates)) send_to(to, one);
  return 0;
}

// The receiver is found now.
void memory_mailbox::send_to(const socket_address& to, const message& one) {
  auto* const found = static_cast<memory_mailbox*>(medium->choose(medium->datagrams.find(to)));
  if (found && found->takes_from(local)) return found->take_in(local, one);
  if (!peer.is_valid()) return;
  refused_ = std::min(refused_, medium->now() + medium->latency() + medium->latency());
  medium->arrives(refused_, tag, memory_side::in);
}

void memory_mailbox::take_in(const socket_address& from, const message& one) {
  if (queue_.size() >= medium->options().datagrams) return;
  const bool held_back = medium->happens(medium->options().reorders);
  const time_point at = arrival_behind(from, held_back);
  const auto* const bytes = static_cast<const std::byte*>(one.data);
  auto place = queue_.end();
  while (place != queue_.begin() && std::prev(place)->at > at) --place;
  queue_.insert(place, {at, from, {bytes, bytes + one.size}, held_back});
  medium->brings(at, tag);
}

// A datagram that is held back takes as long as two, and others overtake it.
time_point memory_mailbox::arrival_behind(const socket_address& from, bool held_back) noexcept {
  time_point at = medium->now() + medium->latency();
  if (held_back) at += medium->latency();
  for (const datagram& before : queue_) {
    if (!before.held_back && before.from == from) at = std::max(at, before.at);
  }
  return at;
}

}}}  // namespace hocket::detail
