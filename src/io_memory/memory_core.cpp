#include "io_memory/memory_core.hpp"

#include <hocket/io/buffer.hpp>
#include <hocket/io/detail/descriptor_table.hpp>
#include <hocket/io/detail/lending.hpp>
#include <hocket/io/detail/whole_read.hpp>

#include "io_memory/memory_driver.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>

namespace hocket::inline HOCKET_ABI::detail {

using primitive::locked;

namespace {

constexpr std::size_t most_bytes = 65536;  // that one party moves at once

memory_end& end_of(const open_descriptor& one) noexcept { return *static_cast<memory_end*>(one.data()); }

// What lending::lend() reads by.
call_end read_to_lend(open_descriptor& at, transfer& bytes) noexcept {
  bytes.kind = call_kind::read;
  const call_end how = end_of(at).core->carry_out(at, bytes);
  bytes.kind = call_kind::borrow;
  return how;
}

call_end ended(transfer& what, call_end how) noexcept {
  what.ended = true;
  return how;
}
call_end failed(transfer& what, int error) noexcept {
  what.fail(error);
  return call_end::done;
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

// At least one byte.
std::size_t memory_core::some_of(std::size_t size, unsigned chance) noexcept {
  size = std::min(size, most_bytes);
  return size > 1 && happens(chance) ? 1 + random_.below(static_cast<std::uint32_t>(size)) : size;
}

duration memory_core::latency() noexcept {
  const auto width =
      static_cast<std::uint64_t>(std::max<duration>(options_.most_latency - options_.least_latency, {}).count());
  return options_.least_latency + duration(width == 0 ? 0 : static_cast<duration::rep>(random_() % (width + 1)));
}

// --- connections

// The stream owns the end from here on.
stream memory_core::open(std::unique_ptr<memory_end> end) {
  open_descriptor* const one = descriptor_table::take(*this, -1, descriptor_kind::other, end.get());
  if (!one) throw std::bad_alloc();
  end->core = shared_from_this();
  end->tag = descriptor_table::tag_of(*one);
  end.release();
  return stream(descriptor_access::of(*one));
}

memory_pair memory_core::connect() {
  auto first = std::make_unique<memory_end>(), second = std::make_unique<memory_end>();
  memory_end &one = *first, &two = *second;
  memory_pair made{open(std::move(first)), open(std::move(second))};
  one.other = &two;
  two.other = &one;
  return made;
}

// Under the mutex.
void memory_core::break_up(memory_end& one) {
  for (memory_end* const end : {&one, one.other}) {
    if (!end) continue;
    end->reset = true;
    end->coming.clear();
    end->on_way = 0;
    for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer}) arrives(now(), end, side);
  }
}

void memory_core::reset(memory_end& one) noexcept {
  {
    locked guard(mutex_);
    break_up(one);
  }
  ring_all();
}

// What was written arrives, and then the end of the stream.
void memory_core::close(open_descriptor& gone) noexcept {
  const std::shared_ptr<memory_core> stays = end_of(gone).core;
  const std::unique_ptr<memory_end> one(&end_of(gone));
  {
    locked guard(mutex_);
    memory_end* const other = std::exchange(one->other, nullptr);
    if (!other) return;
    other->other = nullptr;
    other->end = std::max(other->last, now() + latency());
    for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer})
      arrives(other->end, other, side);
  }
  ring_all();
}

// --- calls

call_end memory_core::carry_out(open_descriptor& at, transfer& what) noexcept try {
  if (what.kind == call_kind::borrow) return lending::lend(at, what, &read_to_lend);
  if (what.kind == call_kind::read_all) return go_on_reading(*this, at, what);
  call_end how{};
  {
    locked guard(mutex_);
    how = call(end_of(at), what);
  }
  if (what.kind != call_kind::look) ring_all();
  return how;
} catch (const std::bad_alloc&) {
  return failed(what, ENOBUFS);
}

// Under the mutex.
call_end memory_core::call(memory_end& at, transfer& what) {
  switch (what.kind) {
    case call_kind::read: return read(at, what);
    case call_kind::write: return write(at, what);
    case call_kind::scatter: return in_parts<mutable_buffer>(at, what);
    case call_kind::gather: return in_parts<const_buffer>(at, what);
    case call_kind::look: return look(at, what);
    default: return failed(what, EOPNOTSUPP);
  }
}

// The buffer in which the transfer stands.
template <class Buffer>
call_end memory_core::in_parts(memory_end& at, transfer& what) {
  const auto* part = static_cast<const Buffer*>(what.data);
  std::size_t before = 0;
  for (; before + part->size() <= what.done; ++part) before += part->size();
  transfer one = what;
  one.data = const_cast<std::byte*>(part->data());
  one.size = part->size();
  one.done = what.done - before;
  const call_end how = std::is_same_v<Buffer, mutable_buffer> ? read(at, one) : write(at, one);
  what.done = before + one.done;
  what.error = one.error;
  if (one.ended && one.error == 0 && what.whole && what.done != what.size) return call_end::more;
  what.ended = one.ended;
  return how;
}

bool memory_core::has_bytes(const memory_end& at, time_point present) noexcept {
  return !at.coming.empty() && at.coming.front().at <= present;
}
bool memory_core::is_readable(const memory_end& at, time_point present) noexcept {
  return at.reset || has_bytes(at, present) || (at.coming.empty() && at.end <= present);
}

call_end memory_core::read(memory_end& at, transfer& what) {
  const time_point present = now();
  if (at.reset) return failed(what, ECONNRESET);
  if (!is_readable(at, present)) return call_end::blocks;
  if (!has_bytes(at, present)) {
    if (what.whole) what.fail(transfer::end_of_stream);
    return ended(what, call_end::done);
  }
  std::size_t left = some_of(what.size - what.done, options_.short_reads);
  while (left != 0 && has_bytes(at, present)) {
    memory_end::segment& first = at.coming.front();
    const std::size_t count = std::min(left, first.bytes.size() - first.begin);
    std::memcpy(static_cast<char*>(what.data) + what.done, first.bytes.data() + first.begin, count);
    what.done += count;
    at.on_way -= count;
    left -= count;
    first.begin += count;
    if (first.begin == first.bytes.size()) at.coming.pop_front();
  }
  if (std::exchange(at.was_full, false)) arrives(present, at.other, memory_side::out);
  const bool drained = !is_readable(at, present);
  if (what.whole && what.done != what.size) return drained ? call_end::blocks : call_end::more;
  return ended(what, drained ? call_end::drained : call_end::done);
}

call_end memory_core::write(memory_end& at, transfer& what) {
  if (at.reset) return failed(what, ECONNRESET);
  if (!at.other) return failed(what, EPIPE);
  if (happens(options_.resets)) {
    break_up(at);
    return failed(what, ECONNRESET);
  }
  memory_end& to = *at.other;
  const std::size_t room = options_.room - std::min(options_.room, to.on_way);
  to.was_full = room == 0;
  if (room == 0) return call_end::blocks;
  const std::size_t count = some_of(std::min(room, what.size - what.done), options_.short_writes);
  const char* const from = static_cast<const char*>(what.data) + what.done;
  to.last = std::max(to.last, now() + latency());
  to.coming.push_back({to.last, std::vector<char>(from, from + count)});
  to.on_way += count;
  what.done += count;
  if (happens(options_.idle_edges)) arrives(now(), &to, memory_side::in);
  arrives(to.last, &to, memory_side::in);
  return !what.whole || what.done == what.size ? ended(what, call_end::done) : call_end::more;
}

call_end memory_core::look(const memory_end& at, transfer& what) const noexcept {
  const time_point present = now();
  const bool gone = at.reset || at.end <= present;
  bool there = false;
  if (what.size & POLLIN) there = is_readable(at, present);
  if (what.size & POLLOUT) there = gone || !at.other || at.other->on_way < options_.room;
  if (what.size & POLLRDHUP) there = gone;
  return there ? ended(what, call_end::done) : call_end::blocks;
}

// --- arrivals

// Under the mutex.
void memory_core::arrives(time_point at, const memory_end* whom, memory_side side) {
  if (whom) arrivals_.push({at, numbers_++, whom->tag, side});
}

void memory_core::tell_all(const open_descriptor& one) noexcept {
  locked guard(mutex_);
  for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer})
    arrives(now(), &end_of(one), side);
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
  if (options_.time) return;
  locked guard(mutex_);
  for (memory_driver* const one : drivers_) one->ring();
}

}  // namespace hocket::inline HOCKET_ABI::detail
