// What one operation asks of a descriptor, and the result: the words that the coroutine, the driver and the call
// itself share.
//
// A transfer lies in its operation, which stays in its place while the coroutine waits. The party that has taken the
// direction's word (direction.hpp) reads and writes it; after the grant the coroutine does.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

class unique_fd;

namespace primitive {
class waiter;
}  // namespace primitive

namespace detail {

class direction;

// The calls. A backend (backend.hpp) carries them out.
enum class call_kind : std::uint8_t {
  read,             // bytes into `data`
  peek,             // bytes into `data`, which stay in the socket
  write,            // bytes from `data`
  scatter,          // bytes into the mutable_buffers at `data`, `size` in all
  gather,           // bytes from the const_buffers at `data`, `size` in all
  borrow,           // bytes into a block that is lent (lending.hpp): `data` becomes the block
  read_all,         // all bytes up to the end, into the whole_read at `data` (whole_read.hpp)
  discard,          // bytes up to the end, which are dropped (lending.hpp); `done` becomes how many
  accept,           // `data` becomes the new open_descriptor; `size` is 1 for TCP, else 0
  connect,          // to the address at `data`
  receive,          // messages into the message_batch at `data`; `done` is how many
  send,             // the messages of the message_batch at `data`
  receive_passing,  // bytes and descriptors into the passing at `data`
  send_passing,     // bytes and descriptors of the passing at `data`
  send_file,        // bytes of the file_part at `data` (send_file.hpp)
  child,            // the end of a child process; `done` becomes its status (process.hpp)
  look,             // nothing: is one of the events of poll(2) in `size` there? Of POLLRDHUP `done` is the peer_end
};

// How a call ended.
enum class call_end : std::uint8_t {
  blocks,   // it would block; bytes may have been moved before
  more,     // it has done as much as one party does at once
  done,     // the transfer has ended, and the next call may succeed
  drained,  // the transfer has ended, and the next call would block
};

struct transfer {
  // Errors that are no numbers of the system's.
  static constexpr int end_of_stream = -1, partial_write = -2;

  transfer(direction& owner, call_kind call, void* bytes, std::size_t count, bool is_whole = false) noexcept;

  bool writes() const noexcept {
    return kind == call_kind::write || kind == call_kind::gather || kind == call_kind::send_passing ||
           kind == call_kind::send_file;
  }
  // As opposed to accepts, connects, messages and looks: its failure leaves a count (open_descriptor.hpp).
  bool moves_bytes() const noexcept {
    return writes() || kind <= call_kind::read_all || kind == call_kind::receive_passing;
  }
  // A part of what is wanted whole was moved: no other transfer may be between.
  bool is_half_done() const noexcept { return whole != 0 && done != 0 && ended == 0; }

  // Ends it.
  void fail(int with) noexcept {
    error = with;
    ended = true;
  }

  direction* side;
  void* data;
  std::size_t size;
  std::size_t done = 0;  // bytes that were moved
  // While it is pending (io_driver.hpp).
  primitive::waiter* pending = nullptr;
  transfer* next = nullptr;
  const void* group = nullptr;  // whose coroutine waits: src/io/place.hpp
  std::uint32_t generation;     // of the descriptor for which it was made
  int error = 0;
  call_kind kind;
  std::uint8_t whole;      // all of `size` is wanted, not just some of it
  std::uint8_t ended = 0;  // there is a result
  std::uint8_t holds = 0;  // its coroutine has the word between try_now() and begin(), or as an arm (direction.hpp)
  std::uint8_t idle = 0;   // a read between two messages: it may end when its server does. 2: it is idle since a time
  std::uint8_t arm = 0;    // of a select: granted before its call (direction.hpp); 2: its wait has begun again
  std::uint8_t more = 0;   // of a write: write_mode::more_follows
  std::uint8_t sole = 0;   // an arm that waits alone
};

// Messages, as the backends see them: datagrams, in batches.
struct message {
  void* data = nullptr;
  std::size_t size = 0;          // received: how much there is room for; sent: how much there is
  std::size_t moved = 0;         // how many bytes were received or sent
  void* address = nullptr;       // the place of the sender's or the receiver's address; null: none
  std::size_t address_size = 0;  // received: first how much there is room for
  std::size_t cut = 0;           // the message was longer than `size`
};

// An array of objects that begin with a message.
struct message_batch {
  void* first;
  std::size_t stride;  // of the objects
  std::size_t count;

  message& operator[](std::size_t index) const noexcept {
    return *static_cast<message*>(static_cast<void*>(static_cast<std::byte*>(first) + index * stride));
  }
};

// Bytes of a unix socket with the descriptors that are passed with them, as the backends see them.
// Sent: the bytes, and the fds. Received: the room for both, and the numbers that arrived.
struct passing {
  void* bytes = nullptr;  // their number is the transfer's size
  const int* sent = nullptr;
  unique_fd* room = nullptr;
  std::size_t count = 0;   // of `sent`, or of `room`
  std::size_t passed = 0;  // how many of `room` were filled
  std::size_t cut = 0;     // there were more
};

}  // namespace detail

}}  // namespace hocket
