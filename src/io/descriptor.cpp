#include <hocket/base/seam/never_destroyed.hpp>
#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>
#include <hocket/io/seam/descriptor_table.hpp>
#include <io/kernel.hpp>

#include <cerrno>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail {

failure failure_of_transfer(int error) noexcept {
  if (error == transfer::end_of_stream) return failure(errc::end_of_stream);
  if (error == transfer::partial_write) return failure(errc::partial_write);
  if (error == ECANCELED) return failure(errc::cancelled);
  if (error == ETIMEDOUT) return failure(errc::peer_lost);
  return failure(std::error_code(error, std::system_category()));
}

failure failure_of_transfer(const transfer& failed) noexcept {
  failed.side->record().save_count(failed);
  return failure_of_transfer(failed.error);
}

open_descriptor& no_descriptor() noexcept {
  struct closed_record : open_descriptor {
    closed_record() noexcept : open_descriptor(0) {
      open(kernel::instance(), -1, descriptor_kind::other);
      close();
    }
  };
  static never_destroyed<closed_record> none;
  return *none;
}

bool try_empty(transfer& operation) noexcept {
  const open_descriptor& record = operation.side->record();
  if (record.is_closed() || record.generation() != operation.generation) operation.fail(EBADF);
  return true;
}

transfer::transfer(direction& owner, call_kind call, void* bytes, std::size_t count, bool is_whole) noexcept
    : side(&owner), data(bytes), size(count), generation(owner.record().generation()), kind(call), whole(is_whole) {}

template <class Buffer>
static std::span<const std::byte> list_of(const transfer& operation) noexcept {
  const auto* const buffers = static_cast<const Buffer*>(operation.data);
  std::size_t count = 0;
  for (std::size_t sum = 0; sum < operation.size; ++count) sum += buffers[count].size();
  return std::as_bytes(std::span(buffers, count));
}

std::span<const std::byte> bytes_operation::list_of_addresses() const noexcept {
  if (kind == call_kind::scatter) return list_of<mutable_buffer>(*this);
  if (kind == call_kind::gather) return list_of<const_buffer>(*this);
  return {};
}

namespace {

direction& side_of(open_descriptor& owner, looking operation) noexcept {
  return operation == looking::in ? owner.in : owner.out;
}

std::size_t events_of(looking operation) noexcept { return operation == looking::in ? POLLIN : POLLOUT; }

}  // namespace

look_operation::look_operation(open_descriptor& record, looking awaited) noexcept
    : transfer_operation(side_of(record, awaited), call_kind::look, nullptr, events_of(awaited)) {}

peer_end_operation::peer_end_operation(open_descriptor& record) noexcept
    : transfer_operation(record.peer, call_kind::look, nullptr, POLLRDHUP) {}

result<peer_end> peer_end_operation::take() noexcept {
  if (error != 0) return failure_of_transfer(error);
  return static_cast<peer_end>(done);
}

}  // namespace detail

namespace {

descriptor_kind kind_of(int fd) noexcept {
  int type = 0;
  socklen_t size = sizeof type;
  if (::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0) return descriptor_kind::other;
  int domain = 0, protocol = 0;
  size = sizeof domain;
  static_cast<void>(::getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &size));
  size = sizeof protocol;
  static_cast<void>(::getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &size));
  const bool is_tcp = (domain == AF_INET || domain == AF_INET6) && protocol == IPPROTO_TCP;
  return is_tcp ? descriptor_kind::stream : descriptor_kind::socket;
}

}  // namespace

result<descriptor> descriptor::adopt(int fd) noexcept {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0 || ((flags & O_NONBLOCK) == 0 && ::fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0))
    return failure_of_transfer(errno);
  return take_over(fd, kind_of(fd));
}

result<descriptor> descriptor::take_over(int fd, descriptor_kind kind) noexcept {
  open_descriptor* const record = descriptor_table::take(kernel::instance(), fd, kind);
  if (!record) return failure_of_transfer(ENOMEM);
  return descriptor(*record);
}

int descriptor::native_handle() const noexcept {
  return record_ && !record_->is_closed() ? record_->native_handle() : -1;
}

void descriptor::close() noexcept {
  if (record_) record_->close();
}

result<int> descriptor::release() noexcept {
  if (native_handle() < 0) return failure_of_transfer(EBADF);
  const int released = record_->native_handle();
  if (!record_->release()) return failure_of_transfer(EBUSY);
  std::exchange(record_, nullptr)->drop();
  return released;
}

void descriptor::end() noexcept { record_->end(); }

}}  // namespace hocket
