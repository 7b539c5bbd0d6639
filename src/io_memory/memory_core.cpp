#include "io_memory/memory_core.hpp"

#include <hocket/io/detail/descriptor_table.hpp>
#include <hocket/io/detail/lending.hpp>
#include <hocket/io/detail/whole_read.hpp>
#include <hocket/net/detail/socket_access.hpp>

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

constexpr std::size_t most_bytes = 65536;  // that one party moves at once

memory_object& object_of(const open_descriptor& current) noexcept {
  return *static_cast<memory_object*>(current.data());
}

// What lending::lend() reads by.
call_end read_to_lend(open_descriptor& at, transfer& bytes) noexcept {
  bytes.kind = call_kind::read;
  const call_end cause = object_of(at).core->carry_out(at, bytes);
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
  bool follows(const clock_source& time) const noexcept override { return &time == &of_.clock(); }

 private:
  result<std::unique_ptr<memory_driver>> make_driver(const driver_owner& owner) noexcept override;
  memory_core& of_;
};

memory_core::memory_core(const memory_options& options)
    : options_(options), kind_(std::make_unique<kind>(*this)), random_(options.seed) {}
memory_core::~memory_core() = default;

// --- chance

std::size_t memory_core::some_of(std::size_t size, unsigned chance) noexcept {
  size = std::min(size, most_bytes);
  return size > 1 && happens(chance) ? 1 + random_.below(static_cast<std::uint32_t>(size)) : size;
}

duration memory_core::latency() noexcept {
  const auto width =
      static_cast<std::uint64_t>(std::max<duration>(options_.max_latency - options_.min_latency, {}).count());
  return options_.min_latency + duration(width == 0 ? 0 : static_cast<duration::rep>(random_() % (width + 1)));
}

memory_object* memory_core::choose(const std::vector<memory_object*>& owner_item) noexcept {
  if (owner_item.empty()) return nullptr;
  return owner_item[owner_item.size() == 1 ? 0 : random_.below(static_cast<std::uint32_t>(owner_item.size()))];
}

// --- objects

descriptor memory_core::own(std::unique_ptr<memory_object> current) {
  open_descriptor* const created = descriptor_table::take(*current->core, -1, descriptor_kind::other, current.get());
  if (!created) throw std::bad_alloc();
  current->tag = descriptor_table::tag_of(*created);
  current.release();
  return descriptor_access::make(*created);
}

memory_pair memory_core::make_pair() {
  auto first = std::make_unique<memory_end>(*this), second = std::make_unique<memory_end>(*this);
  memory_end &current = *first, &two = *second;
  memory_pair created{tcp::stream(own(std::move(first))), tcp::stream(own(std::move(second)))};
  memory_end::join(current, two);
  return created;
}

void memory_core::reset(open_descriptor& current) noexcept {
  {
    locked guard(mutex_);
    static_cast<memory_end&>(object_of(current)).break_up();
  }
  ring_all();
}

// If the address is in use, the descriptor is closed without the mutex.
result<tcp::listener> memory_core::listen(const socket_address& at, const tcp::listen_options& options) {
  auto created = std::make_unique<memory_door>(*this, static_cast<std::size_t>(std::max(options.backlog, 0)));
  memory_door& door = *created;
  descriptor owner = own(std::move(created));
  locked guard(mutex_);
  if (const int error = streams.bind(door, at, options.reuse_port, options.v6_only)) return failure_of_transfer(error);
  return socket_access::listener_of(std::move(owner));
}

result<udp::socket> memory_core::open_datagrams(const socket_address& at, const socket_address& to,
                                                const udp::socket_options& options) {
  auto created = std::make_unique<memory_mailbox>(*this);
  memory_mailbox& mailbox = *created;
  descriptor owner = own(std::move(created));
  locked guard(mutex_);
  if (const int error = datagrams.bind(mailbox, at, options.reuse_port, options.v6_only))
    return failure_of_transfer(error);
  mailbox.peer = to;
  return socket_access::datagram_socket_of(std::move(owner));
}

open_descriptor* memory_core::open(const socket_address& to, const socket_address& from, bool, int& error) noexcept
    try {
  if (!to.is_valid() || to.is_unnamed()) return error = EINVAL, nullptr;
  auto created = std::make_unique<memory_end>(*this);
  created->peer = to;
  created->local = from;
  if (!from.is_valid()) {
    locked guard(mutex_);
    created->local = streams.free_address(to);
  }
  descriptor owner = own(std::move(created));
  return descriptor_access::release(owner);
} catch (const std::bad_alloc&) {
  return error = ENOMEM, nullptr;
}

// --- backend

call_end memory_core::carry_out(open_descriptor& at, transfer& operation) noexcept try {
  if (operation.kind == call_kind::borrow) return lending::lend(at, operation, &read_to_lend);
  if (operation.kind == call_kind::read_all) return go_on_reading(*this, at, operation);
  if (operation.kind == call_kind::discard) return lending::discard(at, operation, &read_to_lend);
  if (operation.kind == call_kind::drain) return at.carry_out_drain(operation);
  call_end cause{};
  {
    locked guard(mutex_);
    cause = object_of(at).call(operation);
  }
  if (has_read_end(operation)) at.record_end(stream_end::read);
  if (operation.kind != call_kind::look) ring_all();
  return cause;
} catch (const std::bad_alloc&) {
  return failed(operation, ENOBUFS);
}

void memory_core::close(open_descriptor& gone) noexcept {
  const std::unique_ptr<memory_object> current(&object_of(gone));
  const std::shared_ptr<memory_core> stays = current->core;
  {
    locked guard(mutex_);
    current->close();
  }
  ring_all();
}

int memory_core::set_option(open_descriptor& at, int level, int name, const void* value, std::size_t size) noexcept {
  locked guard(mutex_);
  return object_of(at).set_option(level, name, value, size);
}

int memory_core::shut_down(open_descriptor& at, int cause) noexcept {
  int error = 0;
  {
    locked guard(mutex_);
    error = object_of(at).shut_down(cause);
  }
  ring_all();
  return error;
}

int memory_core::address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept {
  locked guard(mutex_);
  const socket_address& located = which == socket_side::local ? object_of(at).local : object_of(at).peer;
  if (!located.is_valid()) return ENOTCONN;
  size = std::min(size, located.size());
  std::memcpy(into, located.data(), size);
  return 0;
}

std::size_t memory_core::unsent(open_descriptor& at) noexcept {
  locked guard(mutex_);
  return object_of(at).unsent();
}

// --- arrivals

void memory_core::arrives(time_point at, const memory_object& target, memory_side side) {
  arrivals_.push({at, arrival_count_++, target.tag, side});
}

void memory_core::brings(time_point at, const memory_object& target) {
  if (happens(options_.idle_edges)) arrives(now(), target, memory_side::in);
  arrives(happens(options_.late_edges) ? at + latency() : at, target, memory_side::in);
}

void memory_core::tell_all(const open_descriptor& current) noexcept {
  locked guard(mutex_);
  object_of(current).tell_all();
}

time_point memory_core::next_arrival() const noexcept {
  locked guard(mutex_);
  return arrivals_.empty() ? time_point::max() : arrivals_.top().at;
}

bool memory_core::take_arrival(std::uint64_t& tag, memory_side& side) noexcept {
  locked guard(mutex_);
  if (arrivals_.empty() || arrivals_.top().at > now()) return false;
  tag = arrivals_.top().tag;
  side = arrivals_.top().side;
  arrivals_.pop();
  return true;
}

// --- drivers

result<std::unique_ptr<memory_driver>> memory_core::kind::make_driver(const driver_owner& owner) noexcept try {
  return std::make_unique<memory_driver>(of_.shared_from_this(), owner);
} catch (const std::bad_alloc&) {
  return failure(std::errc::not_enough_memory);
}

result<io_driver*> memory_core::driver_here() noexcept {
  const result<memory_driver*> located = detail::driver_here(*kind_);
  if (!located) return failure(located.error());
  return *located;
}

void memory_core::add(memory_driver& current) {
  locked guard(mutex_);
  drivers_.push_back(&current);
}

void memory_core::remove(memory_driver& current) noexcept {
  locked guard(mutex_);
  std::erase(drivers_, &current);
}

// A driver that sleeps looks again when the next arrival is. On one thread nobody sleeps.
void memory_core::ring_all() noexcept {
  if (options_.clock) return;
  locked guard(mutex_);
  for (memory_driver* const current : drivers_) current->ring();
}

}}}  // namespace hocket::detail
