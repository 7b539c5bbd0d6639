// A descriptor of the system that coroutines wait at: the owner of an fd, without a meaning of its bytes.
//
//   auto d = hocket::descriptor::adopt(fd);            // a result
//   co_await d->readable();
//
// Streams, listeners and sockets (stream.hpp, net/) are descriptors with operations of their own.
//
// Waits. Tasks, fibers and plain threads wait, on a loop, a runtime, or in sync_wait. The first wait makes the driver
// of its thread, if there is none (an epoll: two numbers), and registers the descriptor there. If operations of several
// loops or runtimes wait for one descriptor, it is registered at each of them, and each is woken by its events. Of one
// direction (reading, writing) one operation is served at a time; more wait in line, first come, first served. Regular
// files never wait: a call may block the thread on the disk.
//
// Errors. An operation fails with the error of its system call; with the error of making a driver or registering
// (EMFILE, ENFILE, ENOMEM, ENOSPC); with operation_canceled if the descriptor is closed meanwhile, or if the loop of
// the operation ends; with bad_file_descriptor if the descriptor was closed before.
//
// Cancellation and deadlines end a wait like any other. What a call had done before stays the operation's result: bytes
// that were read are returned, although the deadline has passed. Only a kill loses them.
//
// Thread safety. One object may be used by any number of coroutines and threads at a time, but for its construction,
// its destruction, and a move from or to it. close() may come at any time.
//
// fork(). Both sides have the descriptor. The child may wait at it if it waits on a plain thread, or execs.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/core/detail/operation.hpp>
#include <hocket/io/detail/transfer_operation.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
struct descriptor_access;
}  // namespace detail

// The owner of a descriptor's number.
class descriptor {
 public:
  // Of nothing: operations give bad_file_descriptor.
  descriptor() noexcept = default;
  // Takes the fd over and makes it non-blocking (which its copies in other processes share). Errors: as fcntl(2);
  // not_enough_memory. Then the fd stays the caller's.
  static result<descriptor> adopt(int fd) noexcept;

  descriptor(descriptor&& other) noexcept : at_(std::exchange(other.at_, nullptr)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    descriptor gone(std::move(*this));
    at_ = std::exchange(other.at_, nullptr);
    return *this;
  }
  // Closes it. Operations that wait end with operation_canceled.
  ~descriptor() {
    if (at_) end();
  }

  explicit operator bool() const noexcept { return at_ != nullptr; }
  // Its number; -1 if there is none (a network in memory has none), or it was closed.
  int native_handle() const noexcept;

  // Ends all operations that wait, with operation_canceled, and closes the fd as soon as no call uses it. Further
  // operations give bad_file_descriptor. Calling it again does nothing.
  void close() noexcept;
  // Gives the fd up, open and non-blocking; this is of nothing then. Errors: device_or_resource_busy, if an
  // operation is under way; bad_file_descriptor, if there is no number.
  result<int> release() noexcept;

  // Until a read, or a write, would not block; or the end of the peer or an error would be told. For selects and for
  // calls of your own: of several waits that are granted one may read, and the others would block.
  auto readable(call_site at = this_call_site()) noexcept { return look(detail::looking::in, at); }
  auto writable(call_site at = this_call_site()) noexcept { return look(detail::looking::out, at); }
  // Until the peer has closed its side of the connection, or both. Nothing is read, and there may be bytes left to
  // read.
  auto closed(call_site at = this_call_site()) noexcept { return look(detail::looking::peer, at); }

 protected:
  explicit descriptor(detail::open_descriptor& at) noexcept : at_(&at) {}
  // Takes an fd over that is non-blocking.
  static result<descriptor> take_over(int fd, detail::descriptor_kind kind) noexcept;
  detail::open_descriptor& at() const noexcept { return at_ ? *at_ : detail::no_descriptor(); }

 private:
  friend struct detail::descriptor_access;
  void end() noexcept;
  primitive::operation<detail::look_operation> look(detail::looking what, call_site at) noexcept {
    return primitive::operation<detail::look_operation>(std::in_place, at, this->at(), what);
  }

  detail::open_descriptor* at_ = nullptr;
};

namespace detail {

// For the operations of the layers above, which make descriptors.
struct descriptor_access {
  static descriptor of(open_descriptor& at) noexcept { return descriptor(at); }
  static open_descriptor* release(descriptor& of) noexcept { return std::exchange(of.at_, nullptr); }
  static result<descriptor> take_over(int fd, descriptor_kind kind) noexcept {
    return descriptor::take_over(fd, kind);
  }
  static open_descriptor& record_of(const descriptor& of) noexcept { return of.at(); }
};

// A descriptor for calls that are no transfers. It is not closed meanwhile, unless it is closed already. The fd is
// -1 if it is closed, or its backend has no numbers.
class used_fd {
 public:
  explicit used_fd(const descriptor& of) noexcept
      : of_(descriptor_access::record_of(of)), entered_(of_.enter_fd()) {}
  // Of that generation alone: what has come in its place is closed for this.
  used_fd(open_descriptor& of, std::uint32_t generation) noexcept : of_(of), entered_(of_.enter_fd()) {
    is_open_ = entered_ && of_.generation() == generation;
  }
  used_fd(const used_fd&) = delete;
  used_fd& operator=(const used_fd&) = delete;
  ~used_fd() {
    if (entered_) of_.leave_fd();
  }
  bool is_open() const noexcept { return is_open_; }
  open_descriptor& record() const noexcept { return of_; }
  int operator*() const noexcept { return is_open_ ? of_.native_handle() : -1; }

 private:
  open_descriptor& of_;
  const bool entered_;
  bool is_open_ = entered_;
};

}  // namespace detail

}}  // namespace hocket
