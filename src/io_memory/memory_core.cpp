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

memory_object& object_of(const open_descriptor& one) noexcept { return *static_cast<memory_object*>(one.data()); }

// What lending::lend() reads by.
call_end read_to_lend(open_descriptor& at, transfer& bytes) noexcept {
  bytes.kind = call_kind::read;
  const call_end how = object_of(at).core->carry_out(at, bytes);
  bytes.kind = call_kind::borrow;
  return how;
}

bool has_read_end(const transfer& what) noexcept {
  if (what.ended == 0 || (what.kind != call_kind::read && what.kind != call_kind::scatter)) return false;
  return what.error == transfer::end_of_stream || (what.error == 0 && what.done == 0);
}

}  // namespace

class memory_core::kind final : public driver_kind_of<memory_driver> {
 public:
  explicit kind(memory_core& of) noexcept : driver_kind_of("memory"), of_(of) {}
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

memory_object* memory_core::choose(const std::vector<memory_object*>& of) noexcept {
  if (of.empty()) return nullptr;
  return of[of.size() == 1 ? 0 : random_.below(static_cast<std::uint32_t>(of.size()))];
}

// --- objects

descriptor memory_core::own(std::unique_ptr<memory_object> one) {
  open_descriptor* const made = descriptor_table::take(*one->core, -1, descriptor_kind::other, one.get());
  if (!made) throw std::bad_alloc();
  one->tag = descriptor_table::tag_of(*made);
  one.release();
  return descriptor_access::make(*made);
}

memory_pair memory_core::make_pair() {
  auto first = std::make_unique<memory_end>(*this), second = std::make_unique<memory_end>(*this);
  memory_end &one = *first, &two = *second;
  memory_pair made{tcp::stream(own(std::move(first))), tcp::stream(own(std::move(second)))};
  memory_end::join(one, two);
  return made;
}

void memory_core::reset(open_descriptor& one) noexcept {
  {
    locked guard(mutex_);
    static_cast<memory_end&>(object_of(one)).break_up();
  }
  ring_all();
}

// If the address is in use, the descriptor is closed without the mutex.
result<tcp::listener> memory_core::listen(const socket_address& at, const tcp::listen_options& options) {
  auto made = std::make_unique<memory_door>(*this, static_cast<std::size_t>(std::max(options.backlog, 0)));
  memory_door& door = *made;
  descriptor owner = own(std::move(made));
  locked guard(mutex_);
  if (const int error = streams.bind(door, at, options.reuse_port, options.v6_only)) return failure_of_transfer(error);
  return socket_access::listener_of(std::move(owner));
}

result<udp::socket> memory_core::open_datagrams(const socket_address& at, const socket_address& to,
                                                const udp::socket_options& options) {
  auto made = std::make_unique<memory_mailbox>(*this);
  memory_mailbox& mailbox = *made;
  descriptor owner = own(std::move(made));
  locked guard(mutex_);
  if (const int error = datagrams.bind(mailbox, at, options.reuse_port, options.v6_only))
    return failure_of_transfer(error);
  mailbox.peer = to;
  return socket_access::datagram_socket_of(std::move(owner));
}

open_descriptor* memory_core::open(const socket_address& to, const socket_address& from, bool, int& error) noexcept
    try {
  if (!to.is_valid() || to.is_unnamed()) return error = EINVAL, nullptr;
  auto made = std::make_unique<memory_end>(*this);
  made->peer = to;
  made->local = from;
  if (!from.is_valid()) {
    locked guard(mutex_);
    made->local = streams.free_address(to);
  }
  descriptor owner = own(std::move(made));
  return descriptor_access::release(owner);
} catch (const std::bad_alloc&) {
  return error = ENOMEM, nullptr;
}

// --- backend

call_end memory_core::carry_out(open_descriptor& at, transfer& what) noexcept try {
  if (what.kind == call_kind::borrow) return lending::lend(at, what, &read_to_lend);
  if (what.kind == call_kind::read_all) return go_on_reading(*this, at, what);
  if (what.kind == call_kind::discard) return lending::discard(at, what, &read_to_lend);
  call_end how{};
  {
    locked guard(mutex_);
    how = object_of(at).call(what);
  }
  if (has_read_end(what)) at.note_end(stream_end::read);
  if (what.kind != call_kind::look) ring_all();
  return how;
} catch (const std::bad_alloc&) {
  return failed(what, ENOBUFS);
}

void memory_core::close(open_descriptor& gone) noexcept {
  const std::unique_ptr<memory_object> one(&object_of(gone));
  const std::shared_ptr<memory_core> stays = one->core;
  {
    locked guard(mutex_);
    one->close();
  }
  ring_all();
}

int memory_core::set_option(open_descriptor& at, int level, int name, const void* value, std::size_t size) noexcept {
  locked guard(mutex_);
  return object_of(at).set_option(level, name, value, size);
}

int memory_core::shut_down(open_descriptor& at, int how) noexcept {
  int error = 0;
  {
    locked guard(mutex_);
    error = object_of(at).shut_down(how);
  }
  ring_all();
  return error;
}

int memory_core::address_of(open_descriptor& at, socket_side which, void* into, std::size_t& size) noexcept {
  locked guard(mutex_);
  const socket_address& found = which == socket_side::local ? object_of(at).local : object_of(at).peer;
  if (!found.is_valid()) return ENOTCONN;
  size = std::min(size, found.size());
  std::memcpy(into, found.data(), size);
  return 0;
}

std::size_t memory_core::unsent(open_descriptor& at) noexcept {
  locked guard(mutex_);
  return object_of(at).unsent();
}

// --- arrivals

void memory_core::arrives(time_point at, const memory_object& whom, memory_side side) {
  arrivals_.push({at, arrival_count_++, whom.tag, side});
}

void memory_core::brings(time_point at, const memory_object& whom) {
  if (happens(options_.idle_edges)) arrives(now(), whom, memory_side::in);
  arrives(happens(options_.late_edges) ? at + latency() : at, whom, memory_side::in);
}

void memory_core::tell_all(const open_descriptor& one) noexcept {
  locked guard(mutex_);
  object_of(one).tell_all();
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
  const result<memory_driver*> found = detail::driver_here(*kind_);
  if (!found) return failure(found.error());
  return *found;
}

void memory_core::add(memory_driver& one) {
  locked guard(mutex_);
  drivers_.push_back(&one);
}

void memory_core::remove(memory_driver& one) noexcept {
  locked guard(mutex_);
  std::erase(drivers_, &one);
}

// A driver that sleeps looks again when the next arrival is. On one thread nobody sleeps.
void memory_core::ring_all() noexcept {
  if (options_.clock) return;
  locked guard(mutex_);
  for (memory_driver* const one : drivers_) one->ring();
}

}}}  // namespace hocket::detail
