#include "io_memory/memory_core.hpp"

#include <hocket/net/seam/socket_access.hpp>

#include "io_memory/memory_datagram_socket.hpp"
#include "io_memory/memory_driver.hpp"
#include "io_memory/memory_end.hpp"
#include "io_memory/memory_listener.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

namespace {

// The read call of lending::lend() and lending::discard().
call_end read_to_lend(open_descriptor& record, transfer& operation) noexcept {
  operation.kind = call_kind::read;
  const call_end end = object_of(record).medium->sockets().carry_out(record, operation);
  operation.kind = call_kind::borrow;
  return end;
}

bool has_read_stream_end(const transfer& operation) noexcept {
  if (operation.ended == 0 || (operation.kind != call_kind::read && operation.kind != call_kind::scatter)) return false;
  return operation.error == transfer::end_of_stream || (operation.error == 0 && operation.done == 0);
}

}  // namespace

class memory_core::kind final : public driver_kind_of<memory_driver> {
 public:
  explicit kind(memory_core& network) noexcept : driver_kind_of("memory"), core_(network) {}
  bool follows(const clock_source& time) const noexcept override { return &time == &core_.medium_.clock(); }

 private:
  result<std::unique_ptr<memory_driver>> make_driver(const driver_owner& owner) noexcept override;
  memory_core& core_;
};

memory_core::memory_core(const memory_options& options)
    : medium_(options, *this), kind_(std::make_unique<kind>(*this)) {}
memory_core::~memory_core() = default;

// The pointer shares the ownership of the core.
std::shared_ptr<memory_medium> memory_core::medium() { return {shared_from_this(), &medium_}; }

// --- objects

std::pair<tcp::stream, tcp::stream> memory_core::make_pair() {
  auto first = std::make_unique<memory_end>(medium()), second = std::make_unique<memory_end>(medium());
  memory_end &near = *first, &far = *second;
  std::pair streams{tcp::stream(memory_object::make_descriptor(std::move(first))),
                    tcp::stream(memory_object::make_descriptor(std::move(second)))};
  memory_end::join(near, far);
  return streams;
}

void memory_core::reset(open_descriptor& record) noexcept {
  {
    const locked guard = medium_.lock();
    object_of(record).reset_connection();
  }
  medium_.notify_watchers();
}

// The guard is the last local: if the address is in use, the descriptor is closed without the mutex.
result<tcp::listener> memory_core::listen(const socket_address& address, const tcp::listen_options& options) {
  auto object = std::make_unique<memory_listener>(medium(), static_cast<std::size_t>(std::max(options.backlog, 0)));
  memory_listener& listener = *object;
  descriptor owner = memory_object::make_descriptor(std::move(object));
  const locked guard = medium_.lock();
  if (const int error = medium_.streams.bind(listener, address, options.reuse_port, options.v6_only, listener.local))
    return failure_of_transfer(error);
  return socket_access::listener_of(std::move(owner));
}

result<udp::socket> memory_core::open_datagrams(const socket_address& local, const socket_address& remote,
                                                const udp::socket_options& options) {
  auto object = std::make_unique<memory_datagram_socket>(medium());
  memory_datagram_socket& socket = *object;
  descriptor owner = memory_object::make_descriptor(std::move(object));
  const locked guard = medium_.lock();
  if (const int error = medium_.datagrams.bind(socket, local, options.reuse_port, options.v6_only, socket.local))
    return failure_of_transfer(error);
  socket.peer = remote;
  return socket_access::datagram_socket_of(std::move(owner));
}

open_descriptor* memory_core::open(const socket_address& to, const socket_address& from, bool, int& error) noexcept
    try {
  if (!to.is_valid() || to.is_unnamed()) {
    error = EINVAL;
    return nullptr;
  }
  auto end = std::make_unique<memory_end>(medium());
  end->peer = to;
  end->local = from;
  if (!from.is_valid()) {
    const locked guard = medium_.lock();
    end->local = medium_.streams.free_address(to);
  }
  descriptor owner = memory_object::make_descriptor(std::move(end));
  return descriptor_access::release(owner);
} catch (const std::bad_alloc&) {
  error = ENOMEM;
  return nullptr;
}

// --- backend

call_end memory_core::carry_out(open_descriptor& record, transfer& operation) noexcept try {
  if (operation.kind == call_kind::borrow) return lending::lend(record, operation, &read_to_lend);
  if (operation.kind == call_kind::read_all) return continue_read_all(*this, record, operation);
  if (operation.kind == call_kind::discard) return lending::discard(record, operation, &read_to_lend);
  call_end end{};
  {
    const locked guard = medium_.lock();
    end = object_of(record).call(operation);
  }
  if (has_read_stream_end(operation)) record.record_end(stream_end::read);
  if (operation.kind != call_kind::look) medium_.notify_watchers();
  return end;
} catch (const std::bad_alloc&) {
  return fail(operation, ENOBUFS);
}

void memory_core::close(open_descriptor& record) noexcept {
  const std::unique_ptr<memory_object> object(&object_of(record));
  const std::shared_ptr<memory_medium> core_owner = object->medium;  // the object may have the last reference
  {
    const locked guard = medium_.lock();
    object->close();
  }
  medium_.notify_watchers();
}

int memory_core::set_option(open_descriptor& record, int level, int name, const void* value,
                            std::size_t size) noexcept {
  const locked guard = medium_.lock();
  return object_of(record).set_option(level, name, value, size);
}

int memory_core::shut_down(open_descriptor& record, int directions) noexcept {
  int error = 0;
  {
    const locked guard = medium_.lock();
    error = object_of(record).shut_down(directions);
  }
  medium_.notify_watchers();
  return error;
}

int memory_core::address_of(open_descriptor& record, socket_side side, void* target, std::size_t& size) noexcept {
  const locked guard = medium_.lock();
  const socket_address& address = side == socket_side::local ? object_of(record).local : object_of(record).peer;
  if (!address.is_valid()) return ENOTCONN;
  size = std::min(size, address.size());
  std::memcpy(target, address.data(), size);
  return 0;
}

std::size_t memory_core::unsent(open_descriptor& record) noexcept {
  const locked guard = medium_.lock();
  return object_of(record).unsent();
}

// --- drivers

result<std::unique_ptr<memory_driver>> memory_core::kind::make_driver(const driver_owner& owner) noexcept try {
  return std::make_unique<memory_driver>(core_.medium(), owner);
} catch (const std::bad_alloc&) {
  return failure(std::errc::not_enough_memory);
}

result<io_driver*> memory_core::driver_here() noexcept {
  const result<memory_driver*> driver = detail::driver_here(*kind_);
  if (!driver) return failure(driver.error());
  return *driver;
}

}}}  // namespace hocket::detail
