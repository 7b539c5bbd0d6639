// A descriptor that coroutines wait for: the owner of an fd, without a meaning of its bytes.
//
//   auto d = hocket::descriptor::adopt(fd);            // a result
//   co_await d->readable();
//
// Streams, listeners and sockets (stream.hpp, net/) are descriptors with operations of their own.
//
// Waits. Tasks, fibers and plain threads wait, on a loop, a runtime, or in sync_wait. The first wait makes its thread's
// driver, if there is none (an epoll: two fds), and registers the descriptor there. If operations of several loops or
// runtimes wait for one descriptor, it is registered at each of them, and its events wake each of them. Each direction
// (reading, writing) serves one operation at a time; further operations wait in FIFO order. Regular files never wait: a
// call may block the thread on the disk.
//
// Errors. An operation fails with
//   - the error of its system call;
//   - the error of making a driver or of registering (EMFILE, ENFILE, ENOMEM, ENOSPC);
//   - operation_canceled, if the descriptor is closed meanwhile, or if the operation's loop ends;
//   - bad_file_descriptor, if the descriptor was closed before.
//
// Cancellation. A cancel or a deadline ends a wait like any other wait. Work that a call did before stays the
// operation's result: a read returns its bytes, even if the deadline has passed. Only a kill loses them.
//
// Thread safety. Any number of coroutines and threads may use one object at a time, except for its construction, its
// destruction, and moves from or to it. close() may run at any time.
//
// fork(). Both processes have the descriptor. In the child plain threads may wait for it, and close() closes the
// child's fd alone. The waits of the parent continue in the parent only. The system gives each byte to one of the two
// processes.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/io/detail/stream_operations.hpp>
#include <hocket/primitive.hpp>
#include <cstdint>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

// What has ended at the other side of a connection.
enum class peer_end : std::uint8_t {
  // The peer has shut down writing. It may still read. On a TCP connection a peer that has closed its socket looks the
  // same until this side writes.
  half_closed = 1,
  // The connection is over in both directions: the peer has closed it, or has reset it, or both sides have shut down
  // writing.
  closed = 2,
};

namespace detail {

struct descriptor_access;

struct peer_end_operation : transfer_operation {
  using value_type = peer_end;
  explicit peer_end_operation(open_descriptor& record) noexcept;
  result<peer_end> take() noexcept;
};

}  // namespace detail

// The owner of an fd that coroutines wait for.
class descriptor {
 public:
  // An empty descriptor: its operations fail with bad_file_descriptor.
  descriptor() noexcept = default;
  // Takes ownership of the fd and makes it non-blocking, also for its copies in other processes. Errors: the errors of
  // fcntl(2); not_enough_memory. On an error the caller keeps the fd.
  static result<descriptor> adopt(int fd) noexcept;

  descriptor(descriptor&& other) noexcept : record_(std::exchange(other.record_, nullptr)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    descriptor old(std::move(*this));
    record_ = std::exchange(other.record_, nullptr);
    return *this;
  }
  // Closes the fd. Waiting operations fail with operation_canceled. (A server's connection is closed later, if its peer
  // may still send: net/serve.hpp.)
  ~descriptor() {
    if (record_) end();
  }

  explicit operator bool() const noexcept { return record_ != nullptr; }
  // The fd; -1 if there is none (a network in memory has none), or after close().
  int native_handle() const noexcept;

  // Ends all waiting operations with operation_canceled, and closes the fd as soon as no call uses it. Further
  // operations fail with bad_file_descriptor. Further calls have no effect.
  void close() noexcept;
  // Returns the fd, open and non-blocking, and leaves this object empty. Errors: device_or_resource_busy, if an
  // operation is under way; bad_file_descriptor, if there is no fd.
  result<int> release() noexcept;

  // Waits until a read, or a write, would not block, or would report the peer's end or an error. For select, and for
  // system calls of your own: if several waits are granted, one caller may read, and the others would block.
  auto readable(call_site site = this_call_site()) noexcept { return wait_for(detail::looking::in, site); }
  auto writable(call_site site = this_call_site()) noexcept { return wait_for(detail::looking::out, site); }
  // Waits until the peer has shut down writing, or the connection is over, and returns which of the two. It reads no
  // bytes, so there may be unread ones. A shutdown by this side ends no wait. (A unix socket does not distinguish the
  // peer's end from this side's shutdowns: after shutdown_read() the wait ends when the peer has closed its socket, and
  // after shutdowns of both directions it does not end.)
  auto closed(call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::peer_end_operation>(std::in_place, site, record());
  }

 protected:
  explicit descriptor(detail::open_descriptor& record) noexcept : record_(&record) {}
  // Takes ownership of an fd that is non-blocking.
  static result<descriptor> take_over(int fd, detail::descriptor_kind kind) noexcept;
  detail::open_descriptor& record() const noexcept { return record_ ? *record_ : detail::no_descriptor(); }

 private:
  friend struct detail::descriptor_access;
  void end() noexcept;
  primitive::operation<detail::look_operation> wait_for(detail::looking awaited, call_site site) noexcept {
    return primitive::operation<detail::look_operation>(std::in_place, site, record(), awaited);
  }

  detail::open_descriptor* record_ = nullptr;
};

namespace detail {

// For layers above, which make descriptors.
struct descriptor_access {
  static descriptor make(open_descriptor& record) noexcept { return descriptor(record); }
  static open_descriptor* release(descriptor& owner) noexcept { return std::exchange(owner.record_, nullptr); }
  static result<descriptor> take_over(int fd, descriptor_kind kind) noexcept { return descriptor::take_over(fd, kind); }
  static open_descriptor& record_of(const descriptor& owner) noexcept { return owner.record(); }
};

// Keeps a descriptor open during a call other than a transfer, unless it is already closed. operator* returns the fd;
// -1 if the descriptor is closed, or if its backend has no fds.
class used_fd {
 public:
  explicit used_fd(const descriptor& owner) noexcept
      : record_(descriptor_access::record_of(owner)), entered_(record_.enter_fd()) {}
  // For one generation: a later descriptor in the same record counts as closed.
  used_fd(open_descriptor& record, std::uint32_t generation) noexcept : record_(record), entered_(record_.enter_fd()) {
    is_open_ = entered_ && record_.generation() == generation;
  }
  used_fd(const used_fd&) = delete;
  used_fd& operator=(const used_fd&) = delete;
  ~used_fd() {
    if (entered_) record_.leave_fd();
  }
  bool is_open() const noexcept { return is_open_; }
  open_descriptor& record() const noexcept { return record_; }
  int operator*() const noexcept { return is_open_ ? record_.native_handle() : -1; }

 private:
  open_descriptor& record_;
  const bool entered_;
  bool is_open_ = entered_;
};

}  // namespace detail

}}  // namespace hocket
