#include <hocket/base/seam/own_fds.hpp>
#include <hocket/base/seam/platform/raw_calls.hpp>
#include <hocket/io/buffer.hpp>
#include <hocket/io/detail/file_part.hpp>
#include <hocket/io/detail/lending.hpp>
#include <hocket/io/detail/whole_read.hpp>
#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/io/seam/transfer.hpp>
#include <hocket/io/unique_fd.hpp>
#include <io/epoll_driver.hpp>
#include <io/kernel.hpp>
#include <io/kernel_calls.hpp>
#include <io/platform/system_calls.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <poll.h>
#include <sys/uio.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using kernel_calls::ended, kernel_calls::failed;

namespace {

// The limit of one call. After it other parties have their turn.
constexpr std::size_t most_bytes = 65536;

// A call moved `bytes` of `size` requested bytes, at least 1. A stream that moved less has no more bytes, or no more
// room.
call_end record_progress(const open_descriptor& record, transfer& operation, std::size_t bytes,
                         std::size_t size) noexcept {
  const bool drained = bytes < size && record.kind() == descriptor_kind::stream;
  operation.done += bytes;
  if (!operation.whole || operation.done == operation.size)
    return ended(operation, drained ? call_end::drained : call_end::done);
  return drained ? call_end::blocks : call_end::more;
}

// A call read `bytes` of `size` requested bytes. 0: the end of the stream.
call_end finish_read(open_descriptor& record, transfer& operation, std::size_t bytes, std::size_t size) noexcept {
  if (bytes != 0) return record_progress(record, operation, bytes, size);
  record.record_end(stream_end::read);
  if (operation.whole) operation.fail(transfer::end_of_stream);
  return ended(operation, call_end::done);
}

// A read moved nothing. A terminal reports EIO at its end, when its other side is closed.
call_end fail_read(open_descriptor& record, transfer& operation, long error) noexcept {
  if (error == -EIO && system_calls::is_hung_up(record.native_handle())) return finish_read(record, operation, 0, 0);
  return failed(operation, error);
}

// --- descriptors that are no sockets

// A pipe that is ready for writing takes this much without blocking (PIPE_BUF).
constexpr std::size_t most_for_shared = 4096;

bool would_block(const open_descriptor& record, short events) noexcept {
  pollfd request{record.native_handle(), events, 0};
  return record.kind() == descriptor_kind::shared && raw_calls::poll(&request, 1, 0) <= 0;
}

long read_fd(const open_descriptor& record, char* data, std::size_t size) noexcept {
  if (would_block(record, POLLIN)) return -EAGAIN;
  const long rc = system_calls::value_or_error(::read(record.native_handle(), data, size));
  if (rc > 0) raw_calls::after_read(record.native_handle());  // for example of an event counter
  return rc;
}

long write_fd(const open_descriptor& record, const char* data, std::size_t size) noexcept {
  if (would_block(record, POLLOUT)) return -EAGAIN;
  if (record.kind() == descriptor_kind::shared) size = std::min(size, most_for_shared);
  return system_calls::write_without_signal(record.native_handle(), data, size);
}

// --- bytes

long read_bytes(const open_descriptor& record, char* data, std::size_t size) noexcept {
  if (record.kind() <= descriptor_kind::shared) return read_fd(record, data, size);
  return system_calls::receive(record.native_handle(), data, size);
}

int more_flag(const transfer& operation) noexcept { return operation.more != 0 ? MSG_MORE : 0; }

long write_bytes(const open_descriptor& record, const char* data, std::size_t size, int more) noexcept {
  if (record.kind() <= descriptor_kind::shared) return write_fd(record, data, size);
  return system_calls::send(record.native_handle(), data, size, more);
}

call_end read(open_descriptor& record, transfer& operation) noexcept {
  const std::size_t size = std::min(operation.size - operation.done, most_bytes);
  long rc = 0;
  do rc = read_bytes(record, static_cast<char*>(operation.data) + operation.done, size);
  while (rc == -EINTR);
  return rc < 0 ? fail_read(record, operation, rc) : finish_read(record, operation, static_cast<std::size_t>(rc), size);
}

// The bytes stay in the system, so the next call does not block.
call_end peek(const open_descriptor& record, transfer& operation) noexcept {
  long rc = 0;
  do
    rc = system_calls::value_or_error(
        ::recv(record.native_handle(), operation.data, operation.size, MSG_PEEK | MSG_DONTWAIT));
  while (rc == -EINTR);
  if (rc < 0) return failed(operation, rc);
  operation.done = static_cast<std::size_t>(rc);
  return ended(operation, call_end::done);
}

call_end write(const open_descriptor& record, transfer& operation) noexcept {
  const std::size_t size = std::min(operation.size - operation.done, most_bytes);
  long rc = 0;
  do rc = write_bytes(record, static_cast<const char*>(operation.data) + operation.done, size, more_flag(operation));
  while (rc == -EINTR);
  if (rc == 0) rc = -EIO;
  return rc < 0 ? failed(operation, rc) : record_progress(record, operation, static_cast<std::size_t>(rc), size);
}

// The remaining parts of a transfer with several buffers.
class system_parts {
 public:
  template <class Buffer>
  system_parts(const transfer& operation, const Buffer* buffers, std::size_t most) noexcept {
    std::size_t skip = operation.done;
    std::size_t remaining = std::min(operation.size - operation.done, most);
    for (; remaining != 0 && count_ != parts_.size(); ++buffers) {
      const std::size_t offset = std::min(skip, buffers->size());
      skip -= offset;
      const std::size_t size = std::min(buffers->size() - offset, remaining);
      if (size == 0) continue;
      parts_[count_++] = {const_cast<std::byte*>(std::as_const(*buffers).data()) + offset, size};
      remaining -= size;
      bytes_ += size;
    }
  }
  std::size_t bytes() const noexcept { return bytes_; }
  iovec* data() noexcept { return parts_.data(); }
  std::size_t count() const noexcept { return count_; }

 private:
  std::array<iovec, 64> parts_;
  std::size_t count_ = 0, bytes_ = 0;
};

msghdr message_of(system_parts& parts) noexcept {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.count();
  return message;
}

long read_parts(const open_descriptor& record, system_parts& parts) noexcept {
  if (record.kind() <= descriptor_kind::shared) {
    if (would_block(record, POLLIN)) return -EAGAIN;
    return system_calls::value_or_error(::readv(record.native_handle(), parts.data(), static_cast<int>(parts.count())));
  }
  msghdr message = message_of(parts);
  return system_calls::value_or_error(::recvmsg(record.native_handle(), &message, MSG_DONTWAIT));
}

call_end scatter(open_descriptor& record, transfer& operation) noexcept {
  system_parts parts(operation, static_cast<const mutable_buffer*>(operation.data), most_bytes);
  long rc = 0;
  do rc = read_parts(record, parts);
  while (rc == -EINTR);
  return rc < 0 ? fail_read(record, operation, rc)
                : finish_read(record, operation, static_cast<std::size_t>(rc), parts.bytes());
}

long write_parts(const open_descriptor& record, system_parts& parts, int more) noexcept {
  if (record.kind() <= descriptor_kind::shared) {
    if (would_block(record, POLLOUT)) return -EAGAIN;
    return system_calls::write_without_signal(record.native_handle(), parts.data(), parts.count());
  }
  const msghdr message = message_of(parts);
  return system_calls::value_or_error(::sendmsg(record.native_handle(), &message, system_calls::send_flags | more));
}

call_end gather(const open_descriptor& record, transfer& operation) noexcept {
  const std::size_t most = record.kind() == descriptor_kind::shared ? most_for_shared : most_bytes;
  system_parts parts(operation, static_cast<const const_buffer*>(operation.data), most);
  long rc = 0;
  do rc = write_parts(record, parts, more_flag(operation));
  while (rc == -EINTR);
  return rc <= 0 ? failed(operation, rc == 0 ? -EIO : rc)
                 : record_progress(record, operation, static_cast<std::size_t>(rc), parts.bytes());
}

// --- messages

constexpr std::size_t most_messages = 64;  // in one system call

struct system_messages {
  std::array<mmsghdr, most_messages> headers{};
  std::array<iovec, most_messages> parts;
  unsigned count;

  explicit system_messages(const message_batch& batch) noexcept
      : count(static_cast<unsigned>(std::min(batch.count, most_messages))) {
    for (std::size_t i = 0; i < count; ++i) {
      const message& entry = batch[i];
      parts[i] = {entry.data, entry.size};
      msghdr& header = headers[i].msg_hdr;
      header.msg_iov = &parts[i];
      header.msg_iovlen = 1;
      header.msg_name = entry.address;
      header.msg_namelen = static_cast<socklen_t>(entry.address ? entry.address_size : 0);
    }
  }
};

call_end end_batch(transfer& operation, long count) noexcept {
  operation.done = static_cast<std::size_t>(count);
  return ended(operation, call_end::done);
}

call_end receive(const open_descriptor& record, transfer& operation) noexcept {
  const message_batch& batch = *static_cast<const message_batch*>(operation.data);
  system_messages messages(batch);
  long rc = 0;
  do
    rc = system_calls::value_or_error(
        ::recvmmsg(record.native_handle(), messages.headers.data(), messages.count, MSG_DONTWAIT, nullptr));
  while (rc == -EINTR);
  if (rc < 0) return failed(operation, rc);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rc); ++i) {
    const mmsghdr& received = messages.headers[i];
    message& entry = batch[i];
    entry.moved = received.msg_len;
    entry.address_size = received.msg_hdr.msg_namelen;
    entry.cut = (received.msg_hdr.msg_flags & MSG_TRUNC) != 0;
  }
  return end_batch(operation, rc);
}

call_end send(const open_descriptor& record, transfer& operation) noexcept {
  const message_batch& batch = *static_cast<const message_batch*>(operation.data);
  system_messages messages(batch);
  long rc = 0;
  do
    rc = system_calls::value_or_error(
        ::sendmmsg(record.native_handle(), messages.headers.data(), messages.count, MSG_DONTWAIT | MSG_NOSIGNAL));
  while (rc == -EINTR);
  if (rc < 0) return failed(operation, rc);
  for (std::size_t i = 0; i < static_cast<std::size_t>(rc); ++i) batch[i].moved = messages.headers[i].msg_len;
  return end_batch(operation, rc);
}

// --- passed descriptors

constexpr std::size_t most_passed = 253;  // the system's SCM_MAX_FD
// For control messages of other kinds, which options of the socket request (SO_PASSCRED, SO_PASSSEC). Some precede the
// descriptors. Without room for them they would take the room of the descriptors.
constexpr std::size_t size_of_others = 512;

struct passing_message {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_passed * sizeof(int)) + size_of_others> control{};
  iovec part;
  msghdr header{};

  passing_message(void* bytes, std::size_t size, std::size_t descriptors, std::size_t extra_size) noexcept
      : part{bytes, size} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (descriptors == 0) return;
    header.msg_control = control.data();
    header.msg_controllen = CMSG_LEN(std::min(descriptors, most_passed) * sizeof(int)) + extra_size;
  }
};

// Calls `use` with each fd of a control message.
template <class Use>
void for_each_fd(const cmsghdr& control, Use use) noexcept {
  const std::size_t count = (control.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(&control) + i * sizeof fd, sizeof fd);
    use(unique_fd(own_fd(fd)));
  }
}

// The system may have had room for more descriptors than `target` has. It may also add a pidfd of the sender
// (SCM_PIDFD), which this function closes.
void take_passed(passing_message& message, passing& target) noexcept {
  constexpr int scm_pidfd = 4;  // not in every C library
  for (cmsghdr* control = CMSG_FIRSTHDR(&message.header); control; control = CMSG_NXTHDR(&message.header, control)) {
    if (control->cmsg_level != SOL_SOCKET) continue;
    if (control->cmsg_type == scm_pidfd) for_each_fd(*control, [](const unique_fd&) noexcept {});
    if (control->cmsg_type != SCM_RIGHTS) continue;
    for_each_fd(*control, [&](unique_fd passed) noexcept {
      if (target.passed == target.count || !passed) target.cut = 1;
      else target.room[target.passed++] = std::move(passed);
    });
  }
  if (message.header.msg_flags & MSG_CTRUNC) target.cut = 1;
}

call_end receive_passing(open_descriptor& record, transfer& operation) noexcept {
  passing& arguments = *static_cast<passing*>(operation.data);
  passing_message message(arguments.bytes, std::min(operation.size, most_bytes), arguments.count, size_of_others);
  long rc = 0;
  do
    rc = system_calls::value_or_error(
        ::recvmsg(record.native_handle(), &message.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
  while (rc == -EINTR);
  if (rc < 0) return failed(operation, rc);
  if (rc == 0) record.record_end(stream_end::read);
  take_passed(message, arguments);
  operation.done = static_cast<std::size_t>(rc);
  return ended(operation, call_end::done);
}

// The descriptors are sent with the first byte.
call_end send_passing(const open_descriptor& record, transfer& operation) noexcept {
  const passing& arguments = *static_cast<const passing*>(operation.data);
  const std::size_t size = std::min(operation.size - operation.done, most_bytes);
  passing_message message(static_cast<char*>(arguments.bytes) + operation.done, size,
                          operation.done == 0 ? arguments.count : 0, 0);
  if (cmsghdr* const control = CMSG_FIRSTHDR(&message.header)) {
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(arguments.count * sizeof(int));
    std::memcpy(CMSG_DATA(control), arguments.sent, arguments.count * sizeof(int));
  }
  long rc = 0;
  do rc = system_calls::value_or_error(::sendmsg(record.native_handle(), &message.header, MSG_DONTWAIT | MSG_NOSIGNAL));
  while (rc == -EINTR);
  return rc < 0 ? failed(operation, rc) : record_progress(record, operation, static_cast<std::size_t>(rc), size);
}

}  // namespace

kernel& kernel::instance() noexcept {
  static constinit kernel backend_of_system;
  return backend_of_system;
}

call_end kernel::carry_out(open_descriptor& record, transfer& operation) noexcept {
  switch (operation.kind) {
    case call_kind::read: return read(record, operation);
    case call_kind::peek: return peek(record, operation);
    case call_kind::write: return write(record, operation);
    case call_kind::scatter: return scatter(record, operation);
    case call_kind::gather: return gather(record, operation);
    case call_kind::borrow: return lending::lend(record, operation, &read);
    case call_kind::read_all: return continue_read_all(*this, record, operation);
    case call_kind::discard: return lending::discard(record, operation, &read);
    case call_kind::accept: return kernel_calls::accept(record, operation);
    case call_kind::connect: return kernel_calls::connect(record, operation);
    case call_kind::receive: return receive(record, operation);
    case call_kind::send: return send(record, operation);
    case call_kind::receive_passing: return receive_passing(record, operation);
    case call_kind::send_passing: return send_passing(record, operation);
    case call_kind::send_file: return send_part_of_file(record.native_handle(), operation);
    case call_kind::child:  // only pidfds have it: child.cpp
      operation.fail(EOPNOTSUPP);
      return call_end::done;
    case call_kind::look: return kernel_calls::poll_once(record, operation);
  }
  __builtin_unreachable();
}

result<io_driver*> kernel::driver_here() noexcept { return epoll_driver::driver_here(); }

void kernel::close(open_descriptor& record) noexcept { ::close(record.native_handle()); }

}}}  // namespace hocket::detail
