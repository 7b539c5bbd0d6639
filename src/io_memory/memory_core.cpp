#include "io_memory/memory_core.hpp"

#include <hocket/net/seam/socket_access.hpp>

#include "io_memory/memory_door.hpp"
#include "io_memory/memory_driver.hpp"
#include "io_memory/memory_end.hpp"
#include "io_memory/memory_mailbox.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

namespace {

// What lending::lend() reads by.
call_end read_to_lend(open_descriptor& at, transfer& bytes) noexcept {
  bytes.kind = call_kind::read;
  const call_end cause = object_of(at).medium->sockets().carry_out(at, bytes);
  bytes.kind = call_kind::borrow;
  return cause;
}

bool has_read_end(const transfer& operation) noexcept {
  if (operation.ended == 0 || (operation.kind != call_kind::read && operation.kind != call_kind::scatter)) return false;
  return operation.error == transfer::end_of_stream || (operation.error == 0 && operation.done == 0);
}

}  // namespace

class memory_core::kind final : public driver_kind_of<memory_driver> {
 public:
  explicit kind(memory_core& owner_item) noexcept : driver_kind_of("memory"), of_(owner_item) {}
  bool follows(const clock_source& time) const noexcept override { return &time == &of_.medium_.clock(); }

 private:
  result<std::unique_ptr<memory_driver>> make_driver(const driver_owner& owner) noexcept override;
  memory_core& of_;
};

memory_core::memory_core(const memory_options& options)
    : medium_(options, *this), kind_(std::make_unique<kind>(*this)) {}
memory_core::~memory_core() = default;

// Whoever has it keeps the core, too.
std::shared_ptr<memory_medium> memory_core::medium() { return {shared_from_this(), &medium_}; }

// --- objects

std::pair<tcp::stream, tcp::stream> memory_core::make_pair() {
  auto first = std::make_unique<memory_end>(medium()), second = std::make_unique<memory_end>(medium());
  memory_end &near = *first, &far = *second;
  std::pair created{tcp::stream(memory_object::own(std::move(first))),
                    tcp::stream(memory_object::own(std::move(second)))};
  memory_end::join(near, far);
  return created;
}

void memory_core::reset(open_descriptor& current) noexcept {
  {
    const locked guard = medium_.lock();
    object_of(current).break_up();
  }
  medium_.notify_watchers();
}

// If the address is in use, the descriptor is closed without the mutex.
result<tcp::listener> memory_core::listen(const socket_address& at, const tcp::listen_options& options) {
  auto created = std::make_unique<memory_door>(medium(), static_cast<std::size_t>(std::max(options.backlog, 0)));
  memory_door& door = *created;
  descriptor owner = memory_object::own(std::move(created));
  const locked guard = medium_.lock();
  if (const int error = medium_.streams.bind(door, at, options.reuse_port, options.v6_only, door.local))
    return failure_of_transfer(error);
  return socket_access::listener_of(std::move(owner));
}

result<udp::socket> memory_core::open_datagrams(const socket_address& at, const socket_address& to,
                                                const udp::socket_options& options) {
  auto created = std::make_unique<memory_mailbox>(medium());
  memory_mailbox& mailbox = *created;
  descriptor owner = memory_object::own(std::move(created));
  const locked guard = medium_.lock();
  if (const int error = medium_.datagrams.bind(mailbox, at, options.reuse_port, options.v6_only, mailbox.local))
    return failure_of_transfer(error);
  mailbox.peer = to;
  return socket_access::datagram_socket_of(std::move(owner));
}

open_descriptor* memory_core::open(const socket_address& to, const socket_address& from, bool, int& error) noexcept
    try {
  if (!to.is_valid() || to.is_unnamed()) return error = EINVAL, nullptr;
  auto created = std::make_unique<memory_end>(medium());
  created->peer = to;
  created->local = from;
  if (!from.is_valid()) {
    const locked guard = medium_.lock();
    created->local = medium_.streams.free_address(to);
  }
  descriptor owner = memory_object::own(std::move(created));
  return descriptor_access::release(owner);
} catch (const std::bad_alloc&) {
  return error = ENOMEM, nullptr;
}

// --- backend

call_end memory_core::carry_out(open_descriptor& at, transfer& operation) noexcept try {
  if (operation.kind == call_kind::borrow) return lending::lend(at, operation, &read_to_lend);
  if (operation.kind == call_kind::read_all) return continue_read_all(*this, at, operation);
  if (operation.kind == call_kind::discard) return lending::discard(at, operation, &read_to_lend);
  if (operation.kind == call_kind::drain) return at.carry_out_drain(operation);
  call_end cause{};
  {
    const locked guard = medium_.lock();
    cause = object_of(at).call(operation);
  }
  if (has_read_end(operation)) at.record_end(stream_end::read);
  if (operation.kind != call_kind::look) medium_.notify_watchers();
  return cause;
} catch (const std::bad_alloc&) {
  return failed(operation, ENOBUFS);
}

void memory_core::close(open_descriptor& gone) noexcept {
  const std::unique_ptr<memory_object> current(&object_of(gone));
  const std::shared_ptr<memory_medium> stays = current->medium;
  {
    const locked guard = medium_.lock();
    current->close();
  }
  medium_.notify_watchers();
}

int memory_core::set_option(open_descriptor& at, int level, int name, const void* value, std::size_t size) noexcept {
  const locked guard = medium_.lock();
  return object_of(at).set_option(level, name, value, size);
}

int memory_core::shut_down(open_descriptor& at, int cause) noexcept {
  int error = 0;
  {
    const locked guard = medium_.lock();
    error = object_of(at).shut_down(cause);
  }
  medium_.notify_watchers();
  return error;
}

int memory_core::address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept {
  const locked guard = medium_.lock();
  const socket_address& located = which == socket_side::local ? object_of(at).local : object_of(at).peer;
  if (!located.is_valid()) return ENOTCONN;
  size = std::min(size, located.size());
  std::memcpy(into, located.data(), size);
  return 0;
}

std::size_t memory_core::unsent(open_descriptor& at) noexcept {
  const locked guard = medium_.lock();
  return object_of(at).unsent();
}

// --- drivers

result<std::unique_ptr<memory_driver>> memory_core::kind::make_driver(const driver_owner& owner) noexcept try {
  return std::make_unique<memory_driver>(of_.medium(), owner);
} catch (const std::bad_alloc&) {
  return failure(std::errc::not_enough_memory);
}

result<io_driver*> memory_core::driver_here() noexcept {
  const result<memory_driver*> located = detail::driver_here(*kind_);
  if (!located) return failure(located.error());
  return *located;
}

}}}  // namespace hocket::detail
