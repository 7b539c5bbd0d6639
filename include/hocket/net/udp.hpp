// UDP: datagrams, one at a time and in batches. Datagrams of unix sockets, too: "unix:/run/app.sock", "unix:@name".
//
//   auto socket = udp::socket::bind("[::]:9000").value();
//   std::array<char, 1500> buffer;
//   for (;;) {
//     auto datagram = co_await or_return(socket.receive(buffer));                 // a udp::received_datagram
//     co_await or_return(socket.send(std::span(buffer.data(), datagram.size), datagram.sender));
//   }
//
// One system call receives, or sends, a batch of at most 64 datagrams:
//
//   std::vector<udp::datagram> batch;
//   for (auto& buffer : buffers) batch.emplace_back(buffer);
//   std::size_t n = co_await or_return(socket.receive_batch(batch));              // at least 1
//
// Guarantees. A datagram that is longer than its buffer is truncated, and has the mark `truncated`. A send waits while
// the system's buffer is full. No timeout loses a received datagram.
//
// Unix sockets. A datagram is never lost, and they arrive in order: if the queue of the receiver is full, a send waits.
// (A socket without a peer tries again after 1 ms, and then after twice the last pause, up to 50 ms, because the system
// does not report it of room.) A socket that was not bound has no name: its datagrams have an invalid sender, and
// cannot be answered. Bind both sides, or connect a bound socket:
//
//   auto log = udp::socket::connect("unix:/run/log.sock", {.local_address = "unix:/run/app.sock"}).value();
//
// A send to a name without a bound socket fails with connection_refused or no_such_file_or_directory. bind() does not
// remove an unused path.
//
// Errors. If the network reports an error of an earlier datagram, a later operation fails with it: connection_refused,
// on a connected socket.
//
// Cancellation, thread safety: io/descriptor.hpp.
#pragma once
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/seam/transfer.hpp>
#include <hocket/net/address.hpp>
#include <hocket/net/detail/retry_timer.hpp>
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
  bool truncated = false;  // the datagram was longer than the buffer
};

// A datagram of a batch: a buffer with an address.
class datagram {
 public:
  datagram() noexcept = default;
  // For receive_batch().
  explicit datagram(mutable_buffer buffer) noexcept : raw_{buffer.data(), buffer.size()}, capacity_(buffer.size()) {}
  // For send_batch(). With an invalid address it goes to the socket's peer.
  datagram(const_buffer data, const socket_address& address) noexcept
      : raw_{const_cast<std::byte*>(data.data()), data.size()}, capacity_(data.size()), address_(address) {}

  // The received part of the buffer, the sender, and the mark of a datagram that was longer than the buffer.
  std::span<const std::byte> bytes() const noexcept { return {static_cast<const std::byte*>(raw_.data), raw_.moved}; }
  const socket_address& address() const noexcept { return address_; }
  bool truncated() const noexcept { return raw_.cut != 0; }

 private:
  friend struct detail::datagram_access;
  detail::message raw_;  // at the beginning
  std::size_t capacity_ = 0;
  socket_address address_;
};

}}}  // namespace hocket::udp

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Prepares messages for system calls, and reads their results.
struct datagram_access {
  static void prepare_receive(std::span<udp::datagram> datagrams) noexcept;
  static void prepare_send(std::span<udp::datagram> datagrams) noexcept;
  static void take_received(std::span<udp::datagram> datagrams) noexcept;
  static message_batch batch_of(std::span<udp::datagram> datagrams) noexcept {
    return {datagrams.data(), sizeof(udp::datagram), datagrams.size()};
  }
};

template <class Op>
struct datagram_operation : pointing_operation<Op> {
  static constexpr bool is_one_call = true;
  datagram_operation(direction& target, call_kind call) noexcept : pointing_operation<Op>(target, call, nullptr, 0) {}

  // Begins a send or a batch. The queue of a unix socket other than the peer may be full: no edge reports of room
  // there.
  void begin_to(const socket_address& receiver, primitive::suspension& wait, primitive::waiter& entry,
                retry_storage& retry) noexcept {
    if (!retry_timer::is_needed(this->side->record(), receiver.kind() == socket_address::family::unix_path))
      return pointing_operation<Op>::begin(wait, entry);
    static_cast<void>(static_cast<Op&>(*this).point());
    retry.make().begin(wait, entry, *this);
  }

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

// Receives one datagram. Its message is in the operation.
struct receive_operation : datagram_operation<receive_operation> {
  using value_type = udp::received_datagram;
  receive_operation(open_descriptor& record, mutable_buffer target) noexcept
      : datagram_operation(record.in, call_kind::receive), buffer(target.data()), capacity(target.size()) {}
  bool point() noexcept {
    raw = {buffer, capacity, 0, sender.data(), sizeof sender};
    return point_at({&raw, sizeof raw, 1});
  }
  void forget() noexcept {
    raw = {};
    forget_batch();
  }
  result<udp::received_datagram> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    return udp::received_datagram{raw.moved, socket_address(sender.data(), raw.address_size), raw.cut != 0};
  }

  void* buffer;
  std::size_t capacity;
  message raw{};
  std::array<unsigned char, 112> sender{};
};

struct send_operation : datagram_operation<send_operation> {
  using value_type = std::size_t;
  send_operation(open_descriptor& record, const_buffer source, const socket_address& receiver) noexcept
      : datagram_operation(record.out, call_kind::send),
        bytes(source.data()),
        count(source.size()),
        address(receiver) {}
  bool point() noexcept {
    raw = {const_cast<void*>(bytes), count, 0, address.is_valid() ? const_cast<void*>(address.data()) : nullptr,
           address.size()};
    return point_at({&raw, sizeof raw, 1});
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { begin_to(address, wait, entry, retry); }
  void forget() noexcept {
    raw = {};
    forget_batch();
  }
  result<std::size_t> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    return raw.moved;
  }

  retry_storage retry;
  const void* bytes;
  std::size_t count;
  message raw{};
  socket_address address;
};

// Receives or sends datagrams of the caller. The result is their count.
struct batch_operation : datagram_operation<batch_operation> {
  using value_type = std::size_t;
  batch_operation(direction& target, call_kind call, std::span<udp::datagram> datagrams) noexcept
      : datagram_operation(target, call), first(datagrams.data()), count(datagrams.size()) {}
  bool point() noexcept {
    if (count == 0) return try_empty(*this), false;
    if (kind == call_kind::receive) datagram_access::prepare_receive(all());
    else datagram_access::prepare_send(all());
    return point_at(datagram_access::batch_of(all()));
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    begin_to(kind == call_kind::send ? first->address() : socket_address(), wait, entry, retry);
  }
  result<std::size_t> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    if (kind == call_kind::receive) datagram_access::take_received(all().first(done));
    return done;
  }

  std::span<const std::byte> list_of_addresses() const noexcept {
    return std::as_bytes(std::span<const udp::datagram>(first, count));
  }

  retry_storage retry;
  udp::datagram* first;
  std::size_t count;

 private:
  std::span<udp::datagram> all() const noexcept { return {first, count}; }
};

}}}  // namespace hocket::detail

namespace hocket { inline namespace HOCKET_ABI { namespace udp {

// Options for sockets with an address.
struct socket_options {
  bool reuse_port = false;  // several sockets share the datagrams of one address
  bool v6_only = false;     // [::] does not receive IPv4
  bool broadcast = false;
};
static_assert(detail::owns_nothing<socket_options>);

// Options for sockets with a peer.
struct connect_options {
  socket_address local_address{};  // an invalid address: the system chooses one; port 0: a free port
  bool reuse_port = false;         // several sockets, each with a peer of its own, have one local address
  bool broadcast = false;
};
static_assert(detail::owns_nothing<connect_options>);

// Sends and receives datagrams.
class socket : public descriptor {
 public:
  socket() noexcept = default;

  // Makes a socket with this address; port 0 is a free port. Errors: invalid_argument for a malformed address; as
  // socket(2) and bind(2): address_in_use.
  static result<socket> bind(const socket_address& address, const socket_options& options = {}) noexcept;
  // Makes a socket that sends to `address` and receives from there alone; its own address is that of the options. It
  // sends nothing. Errors: as bind(); as connect(2).
  static result<socket> connect(const socket_address& address, const connect_options& options = {}) noexcept;
  // Takes ownership of an open socket for datagrams, of UDP or of unix sockets. Makes it
  // non-blocking, also for its copies in other processes, and close-on-exec. Errors: bad_file_descriptor; not_a_socket;
  // invalid_argument for a socket of another type; not_enough_memory. Then the caller keeps the fd.
  static result<socket> adopt(int fd) noexcept;

  // Waits for the next datagram.
  auto receive(mutable_buffer buffer, call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::receive_operation>(std::in_place, site, record(), buffer);
  }
  // Sends a datagram to an address, or to the socket's peer. Returns how many bytes. Errors: as sendmsg(2):
  // message_size.
  auto send(const_buffer data, const socket_address& address = {}, call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::send_operation>(std::in_place, site, record(), data, address);
  }

  // Receives at least one datagram, at most as many as the span has. Returns how many. The caller keeps the span valid
  // until the operation is over.
  auto receive_batch(std::span<datagram> datagrams, call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::batch_operation>(std::in_place, site, record().in, detail::call_kind::receive,
                                                         datagrams);
  }
  // Sends at least one datagram, in order. Returns how many. If the first datagram fails, the operation fails. A later
  // datagram that fails is not counted.
  auto send_batch(std::span<datagram> datagrams, call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::batch_operation>(std::in_place, site, record().out, detail::call_kind::send,
                                                         datagrams);
  }

  socket_address local_address() const noexcept;
  socket_address peer_address() const noexcept;

 private:
  friend struct detail::socket_access;
  explicit socket(descriptor&& owner) noexcept : descriptor(std::move(owner)) {}
};

}}}  // namespace hocket::udp
