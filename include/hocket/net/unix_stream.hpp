// Streams of unix sockets: connections within this machine, which also carry descriptors, and know who is at the other
// end.
//
//   auto [near, far] = make_unix_pair().value();                       // or of a connection to a path:
//   unix_stream peer(co_await or_return(tcp::connect("unix:/run/app.sock")));
//
//   const std::array numbers{log.native_handle()};
//   co_await or_return(near.send_with_fds("log", numbers));
//   std::array<unique_fd, 4> room;
//   auto got = co_await or_return(far.receive_with_fds(buffer, room));    // got.size bytes, got.fds
//   file theirs = file::adopt(room[0].release()).value();
//
// A process that passes an fd keeps it, and may close it when the operation is over. The receiver gets a number of
// its own for the same open object: position and O_NONBLOCK are shared. Received numbers are closed where they end, and
// are not inherited by programs that are started.
//
// Descriptors travel with the first of the bytes that they are sent with. A read by other operations (read_some())
// stops behind that byte's message, and drops the descriptors. So the two sides agree on where some come.
//
// Cancellation, deadlines, threads: io/descriptor.hpp. What was received before a cancel is the operation's result.
// After a kill it is in the caller's `room`, which closes it.
#pragma once
#include <hocket/io/detail/passing.hpp>
#include <hocket/net/socket_stream.hpp>
#include <cstdint>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

// What was received, bytes and descriptors.
struct received_with_fds {
  std::size_t size = 0;         // bytes; 0: the end of the stream
  std::size_t fds = 0;  // how many numbers of the room are set, from the first on
  bool truncated = false;  // there were more descriptors than room, or than this process may have: the others are closed
};

// Who has connected to a socket, or made it, as it was then.
struct peer_credentials {
  int process = 0;  // the process id
  std::uint32_t user = 0;
  std::uint32_t group = 0;
};

namespace detail {

struct send_passing_operation : pointing_operation<send_passing_operation> {
  using value_type = std::size_t;
  send_passing_operation(open_descriptor& of, const_buffer from, std::span<const int> fds) noexcept
      : pointing_operation(of.out, call_kind::send_passing, nullptr, from.size(), true),
        bytes(const_cast<std::byte*>(from.data())),
        sent(fds.data()),
        count(fds.size()) {}
  bool point() noexcept;
  bool try_pointed() noexcept { return side->has_partial_write() ? side->try_behind_cut(*this) : transfer_operation::try_now(); }
  result<std::size_t> take() noexcept {
    if (error == 0) return done;
    return failure_of_transfer(error);
  }
  void resumed() noexcept {
    if (holds != 0) side->let_go_of_held(*this);
  }

  void* bytes;
  const int* sent;
  std::size_t count;
  passing raw{};
};

struct receive_passing_operation : pointing_operation<receive_passing_operation> {
  using value_type = received_with_fds;
  receive_passing_operation(open_descriptor& of, mutable_buffer into, std::span<unique_fd> fds) noexcept
      : pointing_operation(of.in, call_kind::receive_passing, nullptr, into.size()),
        bytes(into.data()),
        room(fds.data()),
        count(fds.size()) {}
  bool point() noexcept;
  result<received_with_fds> take() noexcept {
    if (error != 0) return failure_of_transfer(error);
    return received_with_fds{done, raw.passed, raw.cut != 0};
  }

  void* bytes;
  unique_fd* room;
  std::size_t count;
  passing raw{};
};

}  // namespace detail

// A connected unix socket.
class unix_stream : public socket_stream {
 public:
  static constexpr std::size_t max_fds = 253;  // at a time

  unix_stream() noexcept = default;
  // Takes the descriptor of a connected unix socket over: also of a tcp::stream that is one.
  explicit unix_stream(descriptor&& of) noexcept : socket_stream(std::move(of)) {}

  // Sends all the bytes, at least one, and the descriptors with the first; how many bytes. If it fails or is ended in
  // the middle, partial_write_size() tells how many: none means that no descriptor was sent. Errors: the errors of a
  // write; invalid_argument for no bytes or too many descriptors; bad_file_descriptor for an fd that is closed;
  // ETOOMANYREFS if too many are on their way.
  auto send_with_fds(const_buffer from, std::span<const int> fds,
                             call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::send_passing_operation>(std::in_place, at, this->at(), from, fds);
  }
  // At least one byte, as soon as there is one, and the descriptors that come with it, as many as there is room for.
  // Numbers that are in the room are closed when others take their places. Errors: the errors of a read;
  // invalid_argument for an empty buffer.
  auto receive_with_fds(mutable_buffer into, std::span<unique_fd> fds,
                                call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::receive_passing_operation>(std::in_place, at, this->at(), into, fds);
  }

  // Of the process that has connected, accepted or made the other end, as it was then. Errors: as getsockopt(2).
  result<peer_credentials> credentials() const noexcept;
};

// Two ends of a connection.
struct unix_pair {
  unix_stream near, far;
};

// Errors: too_many_files_open, too_many_files_open_in_system, not_enough_memory.
result<unix_pair> make_unix_pair() noexcept;

}}  // namespace hocket
