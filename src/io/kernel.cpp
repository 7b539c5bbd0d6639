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

// What one party moves at once. Then the others have their turn.
constexpr std::size_t most_bytes = 65536;

// `moved` of `asked` bytes, at least 1. A stream that did less than asked has no more, or no more room.
call_end moved(const open_descriptor& at, transfer& what, std::size_t moved, std::size_t asked) noexcept {
  const bool drained = moved < asked && at.kind() == descriptor_kind::stream;
  what.done += moved;
  if (!what.whole || what.done == what.size) return ended(what, drained ? call_end::drained : call_end::done);
  return drained ? call_end::blocks : call_end::more;
}

// `got` of `asked` bytes; 0: the end of the stream.
call_end has_read(open_descriptor& at, transfer& what, std::size_t got, std::size_t asked) noexcept {
  if (got != 0) return moved(at, what, got, asked);
  at.record_end(stream_end::read);
  if (what.whole) what.fail(transfer::end_of_stream);
  return ended(what, call_end::done);
}

// A read that moved nothing. The end of a terminal, whose other side is closed, is told as an error.
call_end has_not_read(open_descriptor& at, transfer& what, long error) noexcept {
  if (error == -EIO && system_calls::is_hung_up(at.native_handle())) return has_read(at, what, 0, 0);
  return failed(what, error);
}

// --- descriptors that are no sockets

// As much as a pipe takes without blocking, if it takes anything.
constexpr std::size_t most_for_shared = 4096;

bool would_block(const open_descriptor& at, short events) noexcept {
  pollfd one{at.native_handle(), events, 0};
  return at.kind() == descriptor_kind::shared && raw_calls::poll(&one, 1, 0) <= 0;
}

long read_number(const open_descriptor& at, char* to, std::size_t size) noexcept {
  if (would_block(at, POLLIN)) return -EAGAIN;
  const long got = system_calls::value_or_error(::read(at.native_handle(), to, size));
  if (got > 0) raw_calls::after_read(at.native_handle());  // an event counter, for instance
  return got;
}

long write_number(const open_descriptor& at, const char* from, std::size_t size) noexcept {
  if (would_block(at, POLLOUT)) return -EAGAIN;
  if (at.kind() == descriptor_kind::shared) size = std::min(size, most_for_shared);
  return system_calls::write_without_signal(at.native_handle(), from, size);
}

// --- bytes

long read_bytes(const open_descriptor& at, char* to, std::size_t size) noexcept {
  if (at.kind() <= descriptor_kind::shared) return read_number(at, to, size);
  return system_calls::receive(at.native_handle(), to, size);
}

int more_flag(const transfer& writing) noexcept { return writing.more != 0 ? MSG_MORE : 0; }

long write_bytes(const open_descriptor& at, const char* from, std::size_t size, int more) noexcept {
  if (at.kind() <= descriptor_kind::shared) return write_number(at, from, size);
  return system_calls::send(at.native_handle(), from, size, more);
}

call_end read(open_descriptor& at, transfer& what) noexcept {
  const std::size_t asked = std::min(what.size - what.done, most_bytes);
  long got = 0;
  do got = read_bytes(at, static_cast<char*>(what.data) + what.done, asked);
  while (got == -EINTR);
  return got < 0 ? has_not_read(at, what, got) : has_read(at, what, static_cast<std::size_t>(got), asked);
}

// What is there stays, so the next call would not block.
call_end peek(const open_descriptor& at, transfer& what) noexcept {
  long got = 0;
  do got = system_calls::value_or_error(::recv(at.native_handle(), what.data, what.size, MSG_PEEK | MSG_DONTWAIT));
  while (got == -EINTR);
  if (got < 0) return failed(what, got);
  what.done = static_cast<std::size_t>(got);
  return ended(what, call_end::done);
}

call_end write(const open_descriptor& at, transfer& operation) noexcept {
  const std::size_t asked = std::min(operation.size - operation.done, most_bytes);
  long put = 0;
  do put = write_bytes(at, static_cast<const char*>(operation.data) + operation.done, asked, more_flag(operation));
  while (put == -EINTR);
  if (put == 0) put = -EIO;
  return put < 0 ? failed(operation, put) : moved(at, operation, static_cast<std::size_t>(put), asked);
}

// The parts of a transfer that has several buffers, from where it stands.
class system_parts {
 public:
  template <class Buffer>
  system_parts(const transfer& of, const Buffer* buffers, std::size_t most) noexcept {
    std::size_t skip = of.done;
    std::size_t left = std::min(of.size - of.done, most);
    for (; left != 0 && count_ != parts_.size(); ++buffers) {
      const std::size_t from = std::min(skip, buffers->size());
      skip -= from;
      const std::size_t size = std::min(buffers->size() - from, left);
      if (size == 0) continue;
      parts_[count_++] = {const_cast<std::byte*>(std::as_const(*buffers).data()) + from, size};
      left -= size;
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

long read_parts(const open_descriptor& at, system_parts& parts) noexcept {
  if (at.kind() <= descriptor_kind::shared) {
    if (would_block(at, POLLIN)) return -EAGAIN;
    return system_calls::value_or_error(::readv(at.native_handle(), parts.data(), static_cast<int>(parts.count())));
  }
  msghdr message = message_of(parts);
  return system_calls::value_or_error(::recvmsg(at.native_handle(), &message, MSG_DONTWAIT));
}

call_end scatter(open_descriptor& at, transfer& what) noexcept {
  system_parts parts(what, static_cast<const mutable_buffer*>(what.data), most_bytes);
  long got = 0;
  do got = read_parts(at, parts);
  while (got == -EINTR);
  return got < 0 ? has_not_read(at, what, got) : has_read(at, what, static_cast<std::size_t>(got), parts.bytes());
}

long write_parts(const open_descriptor& at, system_parts& parts, int more) noexcept {
  if (at.kind() <= descriptor_kind::shared) {
    if (would_block(at, POLLOUT)) return -EAGAIN;
    return system_calls::write_without_signal(at.native_handle(), parts.data(), parts.count());
  }
  const msghdr message = message_of(parts);
  return system_calls::value_or_error(::sendmsg(at.native_handle(), &message, system_calls::send_flags | more));
}

call_end gather(const open_descriptor& at, transfer& operation) noexcept {
  const std::size_t most = at.kind() == descriptor_kind::shared ? most_for_shared : most_bytes;
  system_parts parts(operation, static_cast<const const_buffer*>(operation.data), most);
  long put = 0;
  do put = write_parts(at, parts, more_flag(operation));
  while (put == -EINTR);
  return put <= 0 ? failed(operation, put == 0 ? -EIO : put)
                  : moved(at, operation, static_cast<std::size_t>(put), parts.bytes());
}

// --- messages

constexpr std::size_t most_messages = 64;  // in one system call

struct system_messages {
  std::array<mmsghdr, most_messages> headers{};
  std::array<iovec, most_messages> parts;
  unsigned count;

  explicit system_messages(const message_batch& of) noexcept
      : count(static_cast<unsigned>(std::min(of.count, most_messages))) {
    for (std::size_t i = 0; i < count; ++i) {
      const message& one = of[i];
      parts[i] = {one.data, one.size};
      msghdr& to = headers[i].msg_hdr;
      to.msg_iov = &parts[i];
      to.msg_iovlen = 1;
      to.msg_name = one.address;
      to.msg_namelen = static_cast<socklen_t>(one.address ? one.address_size : 0);
    }
  }
};

call_end ended_batch(transfer& what, long count) noexcept {
  what.done = static_cast<std::size_t>(count);
  return ended(what, call_end::done);
}

call_end receive(const open_descriptor& at, transfer& what) noexcept {
  const message_batch& batch = *static_cast<const message_batch*>(what.data);
  system_messages all(batch);
  long got = 0;
  do
    got = system_calls::value_or_error(
        ::recvmmsg(at.native_handle(), all.headers.data(), all.count, MSG_DONTWAIT, nullptr));
  while (got == -EINTR);
  if (got < 0) return failed(what, got);
  for (std::size_t i = 0; i < static_cast<std::size_t>(got); ++i) {
    message& one = batch[i];
    one.moved = all.headers[i].msg_len;
    one.address_size = all.headers[i].msg_hdr.msg_namelen;
    one.cut = (all.headers[i].msg_hdr.msg_flags & MSG_TRUNC) != 0;
  }
  return ended_batch(what, got);
}

call_end send(const open_descriptor& at, transfer& what) noexcept {
  const message_batch& batch = *static_cast<const message_batch*>(what.data);
  system_messages all(batch);
  long put = 0;
  do
    put = system_calls::value_or_error(
        ::sendmmsg(at.native_handle(), all.headers.data(), all.count, MSG_DONTWAIT | MSG_NOSIGNAL));
  while (put == -EINTR);
  if (put < 0) return failed(what, put);
  for (std::size_t i = 0; i < static_cast<std::size_t>(put); ++i) batch[i].moved = all.headers[i].msg_len;
  return ended_batch(what, put);
}

// --- passed descriptors

constexpr std::size_t most_passed = 253;  // the system's SCM_MAX_FD
// Control messages of other kinds, for which options of the socket ask (SO_PASSCRED, SO_PASSSEC). Some of them come
// before the descriptors. Without room of their own they would take the place of the descriptors.
constexpr std::size_t room_of_others = 512;

struct passing_message {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_passed * sizeof(int)) + room_of_others> control{};
  iovec part;
  msghdr header{};

  passing_message(void* bytes, std::size_t size, std::size_t descriptors, std::size_t others) noexcept
      : part{bytes, size} {
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (descriptors == 0) return;
    header.msg_control = control.data();
    header.msg_controllen = CMSG_LEN(std::min(descriptors, most_passed) * sizeof(int)) + others;
  }
};

// The fds of a control message, each for `use`.
template <class Use>
void for_each_fd(const cmsghdr& in, Use use) noexcept {
  const std::size_t count = (in.cmsg_len - CMSG_LEN(0)) / sizeof(int);
  for (std::size_t i = 0; i < count; ++i) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(&in) + i * sizeof fd, sizeof fd);
    use(unique_fd(own_fd(fd)));
  }
}

// The system may have found room for more than were asked for. SCM_PIDFD brings a descriptor that nobody asked for
// here.
void take_passed(passing_message& from, passing& into) noexcept {
  constexpr int scm_pidfd = 4;  // not in every C library
  for (cmsghdr* one = CMSG_FIRSTHDR(&from.header); one; one = CMSG_NXTHDR(&from.header, one)) {
    if (one->cmsg_level != SOL_SOCKET) continue;
    if (one->cmsg_type == scm_pidfd) for_each_fd(*one, [](const unique_fd&) noexcept {});
    if (one->cmsg_type != SCM_RIGHTS) continue;
    for_each_fd(*one, [&](unique_fd passed) noexcept {
      if (into.passed == into.count || !passed) into.cut = 1;
      else into.room[into.passed++] = std::move(passed);
    });
  }
  if (from.header.msg_flags & MSG_CTRUNC) into.cut = 1;
}

call_end receive_passing(open_descriptor& at, transfer& what) noexcept {
  passing& all = *static_cast<passing*>(what.data);
  passing_message into(all.bytes, std::min(what.size, most_bytes), all.count, room_of_others);
  long got = 0;
  do got = system_calls::value_or_error(::recvmsg(at.native_handle(), &into.header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC));
  while (got == -EINTR);
  if (got < 0) return failed(what, got);
  if (got == 0) at.record_end(stream_end::read);
  take_passed(into, all);
  what.done = static_cast<std::size_t>(got);
  return ended(what, call_end::done);
}

// The descriptors go with the first byte.
call_end send_passing(const open_descriptor& at, transfer& what) noexcept {
  const passing& all = *static_cast<const passing*>(what.data);
  const std::size_t asked = std::min(what.size - what.done, most_bytes);
  passing_message from(static_cast<char*>(all.bytes) + what.done, asked, what.done == 0 ? all.count : 0, 0);
  if (cmsghdr* const one = CMSG_FIRSTHDR(&from.header)) {
    one->cmsg_level = SOL_SOCKET;
    one->cmsg_type = SCM_RIGHTS;
    one->cmsg_len = CMSG_LEN(all.count * sizeof(int));
    std::memcpy(CMSG_DATA(one), all.sent, all.count * sizeof(int));
  }
  long put = 0;
  do put = system_calls::value_or_error(::sendmsg(at.native_handle(), &from.header, MSG_DONTWAIT | MSG_NOSIGNAL));
  while (put == -EINTR);
  return put < 0 ? failed(what, put) : moved(at, what, static_cast<std::size_t>(put), asked);
}

}  // namespace

kernel& kernel::instance() noexcept {
  static constinit kernel one;
  return one;
}

call_end kernel::carry_out(open_descriptor& at, transfer& operation) noexcept {
  switch (operation.kind) {
    case call_kind::read: return read(at, operation);
    case call_kind::peek: return peek(at, operation);
    case call_kind::write: return write(at, operation);
    case call_kind::scatter: return scatter(at, operation);
    case call_kind::gather: return gather(at, operation);
    case call_kind::borrow: return lending::lend(at, operation, &read);
    case call_kind::read_all: return continue_read_all(*this, at, operation);
    case call_kind::discard: return lending::discard(at, operation, &read);
    case call_kind::accept: return kernel_calls::accept(at, operation);
    case call_kind::connect: return kernel_calls::connect(at, operation);
    case call_kind::receive: return receive(at, operation);
    case call_kind::send: return send(at, operation);
    case call_kind::receive_passing: return receive_passing(at, operation);
    case call_kind::send_passing: return send_passing(at, operation);
    case call_kind::send_file: return send_part_of_file(at.native_handle(), operation);
    case call_kind::child: return operation.fail(EOPNOTSUPP), call_end::done;  // of pidfds: child.cpp
    case call_kind::look: return kernel_calls::poll_once(at, operation);
    case call_kind::drain: return at.carry_out_drain(operation);
  }
  __builtin_unreachable();
}

result<io_driver*> kernel::driver_here() noexcept { return epoll_driver::here(); }

void kernel::close(open_descriptor& gone) noexcept { ::close(gone.native_handle()); }

}}}  // namespace hocket::detail
