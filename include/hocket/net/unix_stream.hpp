// Streams of unix sockets: connections within this machine that also carry fds, and know the peer's credentials.
//
//   auto [near, far] = make_unix_pair().value();                       // or a connection to a path:
//   unix_stream peer(co_await or_return(tcp::connect("unix:/run/app.sock")));
//
//   const std::array sent{log.native_handle()};
//   co_await or_return(near.send_with_fds("log", sent));
//   std::array<unique_fd, 4> fds;
//   auto received = co_await or_return(far.receive_with_fds(buffer, fds));    // received.size bytes, received.fds
//   file log_of_peer = file::adopt(fds[0].release()).value();
//
// Guarantees. The sender keeps its fd, and may close it when the operation is over. The receiver gets an fd of its own
// for the same open object: both share the position and O_NONBLOCK. A received fd is closed by its unique_fd, and
// started programs do not inherit it. Control messages of other kinds (an option of the socket such as SO_PASSCRED asks
// for them) are skipped.
//
// The system sends fds with the first byte of their message. A read by another operation (read_some()) stops behind
// that byte's message, and drops the fds. So both sides must agree on the messages that have fds.
//
// Cancellation, deadlines, thread safety: io/descriptor.hpp. Bytes and fds that were received before a cancel are the
// operation's result. After a kill, the received fds are in the caller's span, and its elements close them.
#pragma once
#include <hocket/io/seam/transfer.hpp>
#include <hocket/io/unique_fd.hpp>
#include <hocket/net/socket_stream.hpp>
#include <cstdint>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

// The counts of received bytes and fds.
struct received_with_fds {
  std::size_t size = 0;    // bytes; 0: the end of the stream
  std::size_t fds = 0;     // how many elements of the span are set, from the first
  bool truncated = false;  // more fds than fit into the span, or than this process may have: the others are closed
};

// The process that connected to a socket, or made it, at that time.
struct peer_credentials {
  int process = 0;  // the process id
  std::uint32_t user = 0;
  std::uint32_t group = 0;
};

namespace detail {

struct send_passing_operation : pointing_operation<send_passing_operation> {
  static constexpr bool needs_several_calls = true;
  using value_type = std::size_t;
  send_passing_operation(open_descriptor& record, const_buffer source, std::span<const int> fds) noexcept
      : pointing_operation(record.out, call_kind::send_passing, nullptr, source.size(), true),
        bytes(const_cast<std::byte*>(source.data())),
        sent(fds.data()),
        count(fds.size()) {}
  bool point() noexcept;
  bool try_pointed() noexcept {
    return side->has_partial_write() ? side->try_behind_cut(*this) : transfer_operation::try_now();
  }
  result<std::size_t> take() noexcept {
    if (error != 0) return failure_of_transfer(*this);
    return done;
  }
  void resumed() noexcept {
    if (holds != 0) side->release_held(*this);
  }

  void* bytes;
  const int* sent;
  std::size_t count;
  passing raw{};
};

struct receive_passing_operation : pointing_operation<receive_passing_operation> {
  static constexpr bool is_one_call = true;
  using value_type = received_with_fds;
  receive_passing_operation(open_descriptor& record, mutable_buffer target, std::span<unique_fd> fds) noexcept
      : pointing_operation(record.in, call_kind::receive_passing, nullptr, target.size()),
        bytes(target.data()),
        received(fds.data()),
        count(fds.size()) {}
  bool point() noexcept;
  result<received_with_fds> take() noexcept {
    if (error != 0) return failure_of_transfer(*this);
    return received_with_fds{done, raw.passed, raw.cut != 0};
  }

  void* bytes;
  unique_fd* received;
  std::size_t count;
  passing raw{};
};

}  // namespace detail

// A connected unix socket.
class unix_stream : public socket_stream {
 public:
  static constexpr std::size_t max_fds = 253;  // at a time

  unix_stream() noexcept = default;
  // Takes ownership of the descriptor of a connected unix socket, also from a tcp::stream over a unix socket.
  explicit unix_stream(descriptor&& owner) noexcept : socket_stream(std::move(owner)) {}

  // Sends all bytes, at least one, and the fds with the first byte. Returns how many bytes. If the send fails or is
  // stopped in the middle, partial_write_size() returns how many bytes were sent. 0 means that no fd was sent, either.
  // Errors: the errors of a write; invalid_argument for no bytes or too many fds; bad_file_descriptor for a closed fd;
  // ETOOMANYREFS, if too many fds are in flight.
  auto send_with_fds(const_buffer data, std::span<const int> fds, call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::send_passing_operation>(std::in_place, site, record(), data, fds);
  }
  // Also writes the count of the bytes to `moved`, which outlives the operation.
  auto send_with_fds(const_buffer data, std::span<const int> fds, std::size_t& moved,
                     call_site site = this_call_site()) noexcept {
    using counted = detail::counting_operation<detail::send_passing_operation>;
    return primitive::operation<counted>(std::in_place, site, moved, record(), data, fds);
  }
  // Receives at least one byte, as soon as there is one, and the fds that arrive with it, as many as fit into the span.
  // If an element of the span has an fd, that fd is closed when another fd replaces it. Errors: the errors of a read;
  // invalid_argument for an empty buffer.
  auto receive_with_fds(mutable_buffer buffer, std::span<unique_fd> fds, call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::receive_passing_operation>(std::in_place, site, record(), buffer, fds);
  }

  // Returns the process that connected, accepted or made the other end, at that time. Errors: as getsockopt(2).
  result<peer_credentials> credentials() const noexcept;
};

// The two ends of a connection.
struct unix_pair {
  unix_stream near, far;
};

// Makes a connected pair. Errors: too_many_files_open, too_many_files_open_in_system, not_enough_memory.
result<unix_pair> make_unix_pair() noexcept;

}}  // namespace hocket
