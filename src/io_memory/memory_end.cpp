#include "io_memory/memory_end.hpp"

#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>

#include "io_memory/memory_core.hpp"
#include "io_memory/memory_door.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// --- ends

void memory_end::reset_at(time_point at) noexcept {
  reset_ = std::min(reset_, at);
  for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer}) core->arrives(at, *this, side);
}

void memory_end::break_up() noexcept {
  for (memory_end* const end : {this, other_}) {
    if (!end) continue;
    end->coming_.clear();
    end->on_way_ = 0;
    end->reset_at(core->now());
  }
}

// What was written arrives, and then the end of the stream.
void memory_end::end_after(memory_end& whom) noexcept {
  whom.end_ = std::min(whom.end_, std::max(whom.last_, core->now() + core->latency()));
  for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer})
    core->arrives(whom.end_, whom, side);
}

void memory_end::close() noexcept {
  memory_end* const other = std::exchange(other_, nullptr);
  if (!other) return;
  other->other_ = nullptr;
  if (resets_on_close_) other->reset_at(core->now() + core->latency());
  else end_after(*other);
}

int memory_end::shut_down(int how) noexcept {
  if (how != SHUT_RD) {
    if (!std::exchange(writes_no_more_, true) && other_) end_after(*other_);
  }
  if (how != SHUT_WR) {
    reads_no_more_ = true;
    core->arrives(core->now(), *this, memory_side::in);
  }
  return 0;
}

std::size_t memory_end::unsent() const noexcept {
  if (!other_) return 0;
  const time_point present = core->now();
  std::size_t bytes = 0;
  for (const segment& one : other_->coming_) bytes += one.at > present ? one.bytes.size() : 0;
  return bytes;
}

int memory_end::set_option(int level, int name, const void* value, std::size_t size) noexcept {
  if (level != SOL_SOCKET || name != SO_LINGER) return memory_object::set_option(level, name, value, size);
  linger how{};
  if (size != sizeof how) return EINVAL;
  std::memcpy(&how, value, sizeof how);
  resets_on_close_ = how.l_onoff != 0 && how.l_linger == 0;
  return 0;
}

// --- calls

call_end memory_end::call(transfer& what) {
  switch (what.kind) {
    case call_kind::read: return read(what);
    case call_kind::peek: return peek(what);
    case call_kind::write: return write(what);
    case call_kind::scatter: return in_parts<mutable_buffer>(what);
    case call_kind::gather: return in_parts<const_buffer>(what);
    case call_kind::connect: return connect(what);
    case call_kind::look: return look(what);
    default: return failed(what, EOPNOTSUPP);
  }
}

// The buffer in which the transfer stands.
template <class Buffer>
call_end memory_end::in_parts(transfer& what) {
  const auto* part = static_cast<const Buffer*>(what.data);
  std::size_t before = 0;
  for (; before + part->size() <= what.done; ++part) before += part->size();
  transfer one = what;
  one.data = const_cast<std::byte*>(part->data());
  one.size = part->size();
  one.done = what.done - before;
  const call_end how = std::is_same_v<Buffer, mutable_buffer> ? read(one) : write(one);
  what.done = before + one.done;
  what.error = one.error;
  if (one.ended && one.error == 0 && what.whole && what.done != what.size) return call_end::more;
  what.ended = one.ended;
  return how;
}

call_end memory_end::read(transfer& what) {
  const time_point present = core->now();
  if (!is_readable(present)) return call_end::blocks;
  if (was_reset(present) && !std::exchange(reset_is_told_, true)) return failed(what, ECONNRESET);
  if (was_reset(present) || !has_bytes(present)) {
    if (what.whole) what.fail(transfer::end_of_stream);
    return ended(what, call_end::done);
  }
  std::size_t left = core->some_of(what.size - what.done, core->options().short_reads);
  while (left != 0 && has_bytes(present)) {
    segment& first = coming_.front();
    const std::size_t count = std::min(left, first.bytes.size() - first.begin);
    std::memcpy(static_cast<char*>(what.data) + what.done, first.bytes.data() + first.begin, count);
    what.done += count;
    on_way_ -= count;
    left -= count;
    first.begin += count;
    if (first.begin == first.bytes.size()) coming_.pop_front();
  }
  if (std::exchange(was_full_, false) && other_) core->arrives(present, *other_, memory_side::out);
  const bool drained = !is_readable(present);
  if (what.whole && what.done != what.size) return drained ? call_end::blocks : call_end::more;
  return ended(what, drained ? call_end::drained : call_end::done);
}

// What is there stays, a reset, too.
call_end memory_end::peek(transfer& what) const noexcept {
  const time_point present = core->now();
  if (!is_readable(present)) return call_end::blocks;
  if (was_reset(present) && !reset_is_told_) return failed(what, ECONNRESET);
  for (const segment& one : coming_) {
    if (was_reset(present) || one.at > present || what.done == what.size) break;
    const std::size_t count = std::min(what.size - what.done, one.bytes.size() - one.begin);
    std::memcpy(static_cast<char*>(what.data) + what.done, one.bytes.data() + one.begin, count);
    what.done += count;
  }
  return ended(what, call_end::done);
}

call_end memory_end::write(transfer& what) {
  if (was_reset(core->now())) return failed(what, std::exchange(reset_is_told_, true) ? EPIPE : ECONNRESET);
  if (!other_ || writes_no_more_) return failed(what, EPIPE);
  const memory_options& options = core->options();
  if (core->happens(options.resets)) {
    break_up();
    reset_is_told_ = true;
    return failed(what, ECONNRESET);
  }
  memory_end& to = *other_;
  const std::size_t room = options.buffer_size - std::min(options.buffer_size, to.on_way_);
  to.was_full_ = room == 0;
  if (room == 0) return call_end::blocks;
  const std::size_t count = core->some_of(std::min(room, what.size - what.done), options.short_writes);
  const char* const from = static_cast<const char*>(what.data) + what.done;
  to.last_ = std::max(to.last_, core->now() + core->latency());
  to.coming_.push_back({to.last_, std::vector<char>(from, from + count)});
  to.on_way_ += count;
  what.done += count;
  core->brings(to.last_, to);
  return !what.whole || what.done == what.size ? ended(what, call_end::done) : call_end::more;
}

call_end memory_end::look(transfer& what) noexcept {
  const time_point present = core->now();
  if (what.size & POLLRDHUP) return look_for_end(what, present);
  const bool there = (what.size & POLLIN) ? is_readable(present) : is_writable(present);
  return there ? ended(what, call_end::done) : call_end::blocks;
}

// The next read tells a writer that has found no room.
bool memory_end::is_writable(time_point present) noexcept {
  if (was_reset(present) || !other_ || other_->on_way_ < core->options().buffer_size) return true;
  other_->was_full_ = true;
  return false;
}

// As of TCP, a close of the peer is an end of its writing.
call_end memory_end::look_for_end(transfer& what, time_point present) const noexcept {
  if (!was_reset(present) && end_ > present) return call_end::blocks;
  const bool is_over = was_reset(present) || writes_no_more_;
  what.done = static_cast<std::size_t>(is_over ? peer_end::closed : peer_end::half_closed);
  return ended(what, call_end::done);
}

// --- connects

call_end memory_end::connect(transfer& what) {
  if (what.done == 0 || again_ <= core->now()) knock(socket_address(what.data, what.size));
  what.done = 1;
  const time_point present = core->now();
  if (answered_ > present) return was_reset(present) ? failed(what, ECONNREFUSED) : call_end::blocks;
  return refused_ ? failed(what, ECONNREFUSED) : ended(what, call_end::done);
}

// The listener is found now. It and the answer take their time.
void memory_end::knock(const socket_address& to) {
  again_ = never;
  auto* const door = static_cast<memory_door*>(core->choose(core->streams.find(to)));
  if (door && door->is_full()) {
    again_ = core->now() + patience_;
    patience_ *= 2;
    core->arrives(again_, *this, memory_side::out);
    return;
  }
  const time_point there = door ? door->admit(*this) : core->now() + core->latency();
  refused_ = !door;
  answered_ = there + core->latency();
  core->arrives(answered_, *this, memory_side::out);
}

}}}  // namespace hocket::detail
