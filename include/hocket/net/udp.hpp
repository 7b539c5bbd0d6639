// UDP: datagrams, one at a time and in batches.
//
//   auto door = udp::socket::bind("[::]:9000").value();
//   std::array<char, 1500> buffer;
//   for (;;) {
//     auto got = co_await or_return(door.receive(buffer));                        // a udp::received_datagram
//     co_await or_return(door.send(std::span(buffer.data(), got.size), got.sender));
//   }
//
// A batch is received, or sent, by one system call for at most 64 datagrams:
//
//   std::vector<udp::datagram> batch;
//   for (auto& room : rooms) batch.emplace_back(room);
//   std::size_t n = co_await or_return(door.receive_batch(batch));                // at least 1
//
// A datagram that is longer than its buffer is cut, and says so. One that cannot be sent at once waits for room. What
// the network tells of an earlier datagram is the error of a later operation: connection_refused, on a connected
// socket. Cancellation, deadlines and threads: io/descriptor.hpp. A datagram that was received is never lost by a
// time-out.
#pragma once
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/detail/message.hpp>
#include <hocket/net/address.hpp>
#include <array>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {
struct datagram_access;
struct socket_access;
}  // namespace detail

}}  // namespace hocket

namespace hocket { inline namespace HOCKET_ABI { namespace udp {

// A datagram that was received into the buffer of the call.
struct received_datagram {
  std::size_t size = 0;
  socket_address sender{};
  bool truncated = false;  // it was longer than the buffer
};

// One of a batch: a buffer with an address.
class datagram {
 public:
  datagram() noexcept = default;
  // To receive into.
  explicit datagram(mutable_buffer room) noexcept : raw_{room.data(), room.size()}, room_(room.size()) {}
  // To send. Without an address: to the socket's peer.
  datagram(const_buffer bytes, const socket_address& to) noexcept
      : raw_{const_cast<std::byte*>(bytes.data()), bytes.size()}, room_(bytes.size()), address_(to) {}

  // What was received: a part of the buffer; who sent it; whether it is cut.
  std::span<const std::byte> bytes() const noexcept { return {static_cast<const std::byte*>(raw_.data), raw_.moved}; }
  const socket_address& address() const noexcept { return address_; }
  bool truncated() const noexcept { return raw_.cut != 0; }

 private:
  friend struct detail::datagram_access;
  detail::message raw_;  // at the beginning
  std::size_t room_ = 0;
  socket_address address_;
};

}}}  // namespace hocket::udp

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Prepares messages for the system, and takes over what it wrote.
struct datagram_access {
  static void prepare_receive(std::span<udp::datagram> all) noexcept;
  static void prepare_send(std::span<udp::datagram> all) noexcept;
  static void take_received(std::span<udp::datagram> all) noexcept;
  static message_batch batch_of(std::span<udp::datagram> all) noexcept {
    return {all.data(), sizeof(udp::datagram), all.size()};
  }
};

template <class Op>
struct datagram_operation : pointing_operation<Op> {
  datagram_operation(direction& of, call_kind which) noexcept : pointing_operation<Op>(of, which, nullptr, 0) {}

  void forget() noexcept { forget_batch(); }

 protected:
  void forget_batch() noexcept {
    batch_ = {};
    this->data = nullptr;
  }
  bool point_at(const message_batch& messages) noexcept {
    batch_ = messages;
    this->data = &batch_;
    return true;
  }

 private:
  message_batch batch_{};
};

// One datagram. Its message is in the operation.
struct receive_operation : datagram_operation<receive_operation> {
  using value_type = udp::received_datagram;
  receive_operation(open_descriptor& of, mutable_buffer into) noexcept
      : datagram_operation(of.in, call_kind::receive), to(into.data()), room(into.size()) {}
  bool point() noexcept {
    raw = {to, room, 0, from.data(), sizeof from};
    return point_at({&raw, sizeof raw, 1});
  }
  void forget() noexcept {
    raw = {};
    forget_batch();
  }
  result<udp::received_datagram> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    return udp::received_datagram{raw.moved, socket_address(from.data(), raw.address_size), raw.cut != 0};
  }

  void* to;
  std::size_t room;
  message raw{};
  std::array<unsigned char, 112> from{};
};

struct send_operation : datagram_operation<send_operation> {
  using value_type = std::size_t;
  send_operation(open_descriptor& of, const_buffer from, const socket_address& address) noexcept
      : datagram_operation(of.out, call_kind::send), bytes(from.data()), count(from.size()), to(address) {}
  bool point() noexcept {
    raw = {const_cast<void*>(bytes), count, 0, to.is_valid() ? const_cast<void*>(to.data()) : nullptr, to.size()};
    return point_at({&raw, sizeof raw, 1});
  }
  void forget() noexcept {
    raw = {};
    forget_batch();
  }
  result<std::size_t> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    return raw.moved;
  }

  const void* bytes;
  std::size_t count;
  message raw{};
  socket_address to;
};

// How many datagrams of the caller's.
struct batch_operation : datagram_operation<batch_operation> {
  using value_type = std::size_t;
  batch_operation(direction& of, call_kind which, std::span<udp::datagram> them) noexcept
      : datagram_operation(of, which), first(them.data()), count(them.size()) {}
  bool point() noexcept {
    if (count == 0) return false;
    if (kind == call_kind::receive) datagram_access::prepare_receive(all());
    else datagram_access::prepare_send(all());
    return point_at(datagram_access::batch_of(all()));
  }
  result<std::size_t> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    if (kind == call_kind::receive) datagram_access::take_received(all().first(done));
    return done;
  }

  std::span<const std::byte> list_of_addresses() const noexcept {
    return std::as_bytes(std::span<const udp::datagram>(first, count));
  }

  udp::datagram* first;
  std::size_t count;

 private:
  std::span<udp::datagram> all() const noexcept { return {first, count}; }
};

}}}  // namespace hocket::detail

namespace hocket { inline namespace HOCKET_ABI { namespace udp {

// What may be said of a socket.
struct socket_options {
  bool reuse_port = false;  // several sockets of one address share its datagrams
  bool v6_only = false;     // [::] does not take IPv4, too
  bool broadcast = false;
};
static_assert(detail::owns_nothing<socket_options>);

// Sends and receives datagrams.
class socket : public descriptor {
 public:
  socket() noexcept = default;

  // A socket with this address; port 0: one that is free. Errors: invalid_argument for a malformed address; as
  // socket(2) and bind(2): address_in_use.
  static result<socket> bind(const socket_address& to, const socket_options& options = {}) noexcept;
  // A socket that sends to `to` and receives from there alone. Nothing is sent.
  static result<socket> connect(const socket_address& to, const socket_options& options = {}) noexcept;

  // The next datagram.
  auto receive(mutable_buffer into, call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::receive_operation>(std::in_place, at, this->at(), into);
  }
  // Sends a datagram to an address, or to the socket's peer; how many bytes. Errors: as
  // sendmsg(2): message_size.
  auto send(const_buffer from, const socket_address& to = {}, call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::send_operation>(std::in_place, at, this->at(), from, to);
  }

  // At least one datagram, at most as many as there are places; how many. They stay the caller's until the end.
  auto receive_batch(std::span<datagram> into, call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::batch_operation>(std::in_place, at, this->at().in, detail::call_kind::receive,
                                                         into);
  }
  // Sends at least one datagram, in order; how many. The operation fails if the first datagram fails. A later one that
  // fails is not counted.
  auto send_batch(std::span<datagram> from, call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::batch_operation>(std::in_place, at, this->at().out, detail::call_kind::send,
                                                         from);
  }

  socket_address local_address() const noexcept;
  socket_address peer_address() const noexcept;

 private:
  friend struct detail::socket_access;
  explicit socket(descriptor&& of) noexcept : descriptor(std::move(of)) {}
};

}}}  // namespace hocket::udp
