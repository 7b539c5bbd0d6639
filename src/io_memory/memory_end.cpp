#include "io_memory/memory_end.hpp"

#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>

#include "io_memory/memory_door.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// --- ends

void memory_end::reset_at(time_point at) noexcept {
  reset_ = std::min(reset_, at);
  for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer}) medium->arrives(at, tag, side);
}

void memory_end::break_up() noexcept {
  for (memory_end* const end : {this, other_}) {
    if (!end) continue;
    end->coming_.clear();
    end->on_way_ = 0;
    end->reset_at(medium->now());
  }
}

// The written bytes arrive, and then the end of the stream.
void memory_end::end_after(memory_end& target) noexcept {
  target.end_ = std::min(target.end_, std::max(target.last_, medium->now() + medium->latency()));
  for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer})
    medium->arrives(target.end_, target.tag, side);
}

void memory_end::close() noexcept {
  memory_end* const other = std::exchange(other_, nullptr);
  if (!other) return;
  other->other_ = nullptr;
  if (resets_on_close_) other->reset_at(medium->now() + medium->latency());
  else end_after(*other);
}

int memory_end::shut_down(int cause) noexcept {
  if (cause != SHUT_RD) {
    if (!std::exchange(writes_no_more_, true) && other_) end_after(*other_);
  }
  if (cause != SHUT_WR) {
    reads_no_more_ = true;
    medium->arrives(medium->now(), tag, memory_side::in);
  }
  return 0;
}

std::size_t memory_end::unsent() const noexcept {
  if (!other_) return 0;
  const time_point present = medium->now();
  std::size_t bytes = 0;
  for (const segment& current : other_->coming_) bytes += current.at > present ? current.bytes.size() : 0;
  return bytes;
}

int memory_end::set_option(int level, int name, const void* value, std::size_t size) noexcept {
  if (level != SOL_SOCKET || name != SO_LINGER) return memory_object::set_option(level, name, value, size);
  linger cause{};
  if (size != sizeof cause) return EINVAL;
  std::memcpy(&cause, value, sizeof cause);
  resets_on_close_ = cause.l_onoff != 0 && cause.l_linger == 0;
  return 0;
}

// --- calls

call_end memory_end::call(transfer& operation) {
  switch (operation.kind) {
    case call_kind::read: return read(operation);
    case call_kind::peek: return peek(operation);
    case call_kind::write: return write(operation);
    case call_kind::scatter: return in_parts<mutable_buffer>(operation);
    case call_kind::gather: return in_parts<const_buffer>(operation);
    case call_kind::connect: return connect(operation);
    case call_kind::look: return look(operation);
    default: return failed(operation, EOPNOTSUPP);
  }
}

// The buffer in which the transfer stands.
template <class Buffer>
call_end memory_end::in_parts(transfer& operation) {
  const auto* part = static_cast<const Buffer*>(operation.data);
  std::size_t before = 0;
  for (; before + part->size() <= operation.done; ++part) before += part->size();
  transfer current = operation;
  current.data = const_cast<std::byte*>(part->data());
  current.size = part->size();
  current.done = operation.done - before;
  const call_end cause = std::is_same_v<Buffer, mutable_buffer> ? read(current) : write(current);
  operation.done = before + current.done;
  operation.error = current.error;
  if (current.ended && current.error == 0 && operation.whole && operation.done != operation.size) return call_end::more;
  operation.ended = current.ended;
  return cause;
}

call_end memory_end::read(transfer& operation) {
  const time_point present = medium->now();
  if (!is_readable(present)) return call_end::blocks;
  if (was_reset(present) && !std::exchange(reset_is_told_, true)) return failed(operation, ECONNRESET);
  if (was_reset(present) || !has_bytes(present)) {
    if (operation.whole) operation.fail(transfer::end_of_stream);
    return ended(operation, call_end::done);
  }
  std::size_t remaining = medium->some_of(operation.size - operation.done, medium->options().short_reads);
  while (remaining != 0 && has_bytes(present)) {
    segment& first = coming_.front();
    const std::size_t count = std::min(remaining, first.bytes.size() - first.begin);
    std::memcpy(static_cast<char*>(operation.data) + operation.done, first.bytes.data() + first.begin, count);
    operation.done += count;
    on_way_ -= count;
    remaining -= count;
    first.begin += count;
    if (first.begin == first.bytes.size()) coming_.pop_front();
  }
  if (std::exchange(was_full_, false) && other_) medium->arrives(present, other_->tag, memory_side::out);
  const bool drained = !is_readable(present);
  if (operation.whole && operation.done != operation.size) return drained ? call_end::blocks : call_end::more;
  return ended(operation, drained ? call_end::drained : call_end::done);
}

// What is there stays, a reset, too.
call_end memory_end::peek(transfer& operation) const noexcept {
  const time_point present = medium->now();
  if (!is_readable(present)) return call_end::blocks;
  if (was_reset(present) && !reset_is_told_) return failed(operation, ECONNRESET);
  for (const segment& current : coming_) {
    if (was_reset(present) || current.at > present || operation.done == operation.size) break;
    const std::size_t count = std::min(operation.size - operation.done, current.bytes.size() - current.begin);
    std::memcpy(static_cast<char*>(operation.data) + operation.done, current.bytes.data() + current.begin, count);
    operation.done += count;
  }
  return ended(operation, call_end::done);
}

call_end memory_end::write(transfer& operation) {
  if (was_reset(medium->now())) return failed(operation, std::exchange(reset_is_told_, true) ? EPIPE : ECONNRESET);
  if (!other_ || writes_no_more_) return failed(operation, EPIPE);
  const memory_options& options = medium->options();
  if (medium->happens(options.resets)) {
    break_up();
    reset_is_told_ = true;
    return failed(operation, ECONNRESET);
  }
  memory_end& to = *other_;
  const std::size_t room = options.buffer_size - std::min(options.buffer_size, to.on_way_);
  to.was_full_ = room == 0;
  if (room == 0) return call_end::blocks;
  const std::size_t count = medium->some_of(std::min(room, operation.size - operation.done), options.short_writes);
  const char* const from = static_cast<const char*>(operation.data) + operation.done;
  to.last_ = std::max(to.last_, medium->now() + medium->latency());
  to.coming_.push_back({to.last_, std::vector<char>(from, from + count)});
  to.on_way_ += count;
  operation.done += count;
  medium->brings(to.last_, to.tag);
  return !operation.whole || operation.done == operation.size ? ended(operation, call_end::done) : call_end::more;
}

call_end memory_end::look(transfer& operation) noexcept {
  const time_point present = medium->now();
  if (operation.size & POLLRDHUP) return look_for_end(operation, present);
  const bool there = (operation.size & POLLIN) ? is_readable(present) : is_writable(present);
  return there ? ended(operation, call_end::done) : call_end::blocks;
}

// The next read tells a writer that has found no room.
bool memory_end::is_writable(time_point present) noexcept {
  if (was_reset(present) || !other_ || other_->on_way_ < medium->options().buffer_size) return true;
  other_->was_full_ = true;
  return false;
}

// As of TCP, a close of the peer is an end of its writing.
call_end memory_end::look_for_end(transfer& operation, time_point present) const noexcept {
  if (!was_reset(present) && end_ > present) return call_end::blocks;
  const bool is_over = was_reset(present) || writes_no_more_;
  operation.done = static_cast<std::size_t>(is_over ? peer_end::closed : peer_end::half_closed);
  return ended(operation, call_end::done);
}

// --- connects

call_end memory_end::connect(transfer& operation) {
  if (operation.done == 0 || again_ <= medium->now()) knock(socket_address(operation.data, operation.size));
  operation.done = 1;
  const time_point present = medium->now();
  if (answered_ > present) return was_reset(present) ? failed(operation, ECONNREFUSED) : call_end::blocks;
  return refused_ ? failed(operation, ECONNREFUSED) : ended(operation, call_end::done);
}

// The listener has the other end from here on.
time_point memory_end::call_at(memory_door& door) {
  auto created = std::make_unique<memory_end>(medium);
  memory_end& other = *created;
  other.local = peer;
  other.peer = local;
  const time_point there = door.admit(std::move(created));
  join(*this, other);
  return there;
}

// The listener is found now. It and the answer take their time.
void memory_end::knock(const socket_address& to) {
  again_ = never;
  auto* const door = static_cast<memory_door*>(medium->choose(medium->streams.find(to)));
  if (door && door->is_full()) {
    again_ = medium->now() + patience_;
    patience_ *= 2;
    medium->arrives(again_, tag, memory_side::out);
    return;
  }
  const time_point there = door ? call_at(*door) : medium->now() + medium->latency();
  refused_ = !door;
  answered_ = there + medium->latency();
  medium->arrives(answered_, tag, memory_side::out);
}

}}}  // namespace hocket::detail
