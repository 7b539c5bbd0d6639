#include "io_memory/memory_end.hpp"

#include <hocket/io/buffer.hpp>
#include <hocket/io/descriptor.hpp>

#include "io_memory/memory_listener.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// --- ends

void memory_end::schedule_reset(time_point when) noexcept {
  reset_at_ = std::min(reset_at_, when);
  for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer})
    medium->schedule_edge(when, tag, side);
}

void memory_end::reset_connection() noexcept {
  for (memory_end* const end : {this, other_}) {
    if (!end) continue;
    end->segments_.clear();
    end->queued_bytes_ = 0;
    end->schedule_reset(medium->now());
  }
}

// The end of the stream arrives after the written bytes.
void memory_end::schedule_end(memory_end& target) noexcept {
  target.end_at_ = std::min(target.end_at_, std::max(target.last_arrival_, medium->now() + medium->latency()));
  for (const memory_side side : {memory_side::in, memory_side::out, memory_side::peer})
    medium->schedule_edge(target.end_at_, target.tag, side);
}

void memory_end::close() noexcept {
  memory_end* const other = std::exchange(other_, nullptr);
  if (!other) return;
  other->other_ = nullptr;
  if (resets_on_close_) other->schedule_reset(medium->now() + medium->latency());
  else schedule_end(*other);
}

int memory_end::shut_down(int directions) noexcept {
  if (directions != SHUT_RD) {
    if (!std::exchange(writing_is_shut_, true) && other_) schedule_end(*other_);
  }
  if (directions != SHUT_WR) {
    reading_is_shut_ = true;
    medium->schedule_edge(medium->now(), tag, memory_side::in);
  }
  return 0;
}

std::size_t memory_end::unsent() const noexcept {
  if (!other_) return 0;
  const time_point present = medium->now();
  std::size_t bytes = 0;
  for (const segment& current : other_->segments_) bytes += current.arrival > present ? current.bytes.size() : 0;
  return bytes;
}

int memory_end::set_option(int level, int name, const void* value, std::size_t size) noexcept {
  if (level != SOL_SOCKET || name != SO_LINGER) return memory_object::set_option(level, name, value, size);
  linger option{};
  if (size != sizeof option) return EINVAL;
  std::memcpy(&option, value, sizeof option);
  resets_on_close_ = option.l_onoff != 0 && option.l_linger == 0;
  return 0;
}

// --- calls

call_end memory_end::call(transfer& operation) {
  switch (operation.kind) {
    case call_kind::read: return read(operation);
    case call_kind::peek: return peek(operation);
    case call_kind::write: return write(operation);
    case call_kind::scatter: return transfer_part<mutable_buffer>(operation);
    case call_kind::gather: return transfer_part<const_buffer>(operation);
    case call_kind::connect: return connect(operation);
    case call_kind::look: return poll(operation);
    default: return fail(operation, EOPNOTSUPP);
  }
}

// Continues a transfer of several buffers with its current buffer.
template <class Buffer>
call_end memory_end::transfer_part(transfer& operation) {
  const auto* part = static_cast<const Buffer*>(operation.data);
  std::size_t before = 0;
  for (; before + part->size() <= operation.done; ++part) before += part->size();
  transfer current = operation;
  current.data = const_cast<std::byte*>(part->data());
  current.size = part->size();
  current.done = operation.done - before;
  const call_end end = std::is_same_v<Buffer, mutable_buffer> ? read(current) : write(current);
  operation.done = before + current.done;
  operation.error = current.error;
  if (current.ended && current.error == 0 && operation.whole && operation.done != operation.size) return call_end::more;
  operation.ended = current.ended;
  return end;
}

call_end memory_end::read(transfer& operation) {
  const time_point present = medium->now();
  if (!is_readable(present)) return call_end::blocks;
  if (was_reset(present) && !std::exchange(reset_is_reported_, true)) return fail(operation, ECONNRESET);
  if (was_reset(present) || !has_bytes(present)) {
    if (operation.whole) operation.fail(transfer::end_of_stream);
    return complete(operation, call_end::done);
  }
  std::size_t remaining = medium->random_part(operation.size - operation.done, medium->options().short_reads);
  while (remaining != 0 && has_bytes(present)) {
    segment& first = segments_.front();
    const std::size_t count = std::min(remaining, first.bytes.size() - first.begin);
    std::memcpy(static_cast<char*>(operation.data) + operation.done, first.bytes.data() + first.begin, count);
    operation.done += count;
    queued_bytes_ -= count;
    remaining -= count;
    first.begin += count;
    if (first.begin == first.bytes.size()) segments_.pop_front();
  }
  if (std::exchange(was_full_, false) && other_) medium->schedule_edge(present, other_->tag, memory_side::out);
  const bool drained = !is_readable(present);
  if (operation.whole && operation.done != operation.size) return drained ? call_end::blocks : call_end::more;
  return complete(operation, drained ? call_end::drained : call_end::done);
}

// Consumes neither the bytes nor a reset.
call_end memory_end::peek(transfer& operation) const noexcept {
  const time_point present = medium->now();
  if (!is_readable(present)) return call_end::blocks;
  if (was_reset(present) && !reset_is_reported_) return fail(operation, ECONNRESET);
  for (const segment& current : segments_) {
    if (was_reset(present) || current.arrival > present || operation.done == operation.size) break;
    const std::size_t count = std::min(operation.size - operation.done, current.bytes.size() - current.begin);
    std::memcpy(static_cast<char*>(operation.data) + operation.done, current.bytes.data() + current.begin, count);
    operation.done += count;
  }
  return complete(operation, call_end::done);
}

call_end memory_end::write(transfer& operation) {
  if (was_reset(medium->now())) return fail(operation, std::exchange(reset_is_reported_, true) ? EPIPE : ECONNRESET);
  if (!other_ || writing_is_shut_) return fail(operation, EPIPE);
  const memory_options& options = medium->options();
  if (medium->happens(options.resets)) {
    reset_connection();
    reset_is_reported_ = true;
    return fail(operation, ECONNRESET);
  }
  memory_end& target = *other_;
  const std::size_t room = options.buffer_size - std::min(options.buffer_size, target.queued_bytes_);
  target.was_full_ = room == 0;
  if (room == 0) return call_end::blocks;
  const std::size_t count = medium->random_part(std::min(room, operation.size - operation.done), options.short_writes);
  const char* const bytes = static_cast<const char*>(operation.data) + operation.done;
  target.last_arrival_ = std::max(target.last_arrival_, medium->now() + medium->latency());
  target.segments_.push_back({target.last_arrival_, std::vector<char>(bytes, bytes + count)});
  target.queued_bytes_ += count;
  operation.done += count;
  medium->schedule_bytes(target.last_arrival_, target.tag);
  return !operation.whole || operation.done == operation.size ? complete(operation, call_end::done) : call_end::more;
}

call_end memory_end::poll(transfer& operation) noexcept {
  const time_point present = medium->now();
  if (operation.size & POLLRDHUP) return poll_peer_end(operation, present);
  const bool is_ready = (operation.size & POLLIN) ? is_readable(present) : is_writable(present);
  return is_ready ? complete(operation, call_end::done) : call_end::blocks;
}

// Records a writer that has found no room: the next read schedules its edge.
bool memory_end::is_writable(time_point present) noexcept {
  if (was_reset(present) || !other_ || other_->queued_bytes_ < medium->options().buffer_size) return true;
  other_->was_full_ = true;
  return false;
}

// As with TCP, a close of the peer appears as an end of its stream.
call_end memory_end::poll_peer_end(transfer& operation, time_point present) const noexcept {
  if (!was_reset(present) && end_at_ > present) return call_end::blocks;
  const bool is_over = was_reset(present) || writing_is_shut_;
  operation.done = static_cast<std::size_t>(is_over ? peer_end::closed : peer_end::half_closed);
  return complete(operation, call_end::done);
}

// --- connects

call_end memory_end::connect(transfer& operation) {
  if (operation.done == 0 || retry_at_ <= medium->now())
    request_connection(socket_address(operation.data, operation.size));
  operation.done = 1;
  const time_point present = medium->now();
  if (answer_at_ > present) return was_reset(present) ? fail(operation, ECONNREFUSED) : call_end::blocks;
  return is_refused_ ? fail(operation, ECONNREFUSED) : complete(operation, call_end::done);
}

// The queue of the listener owns the other end.
time_point memory_end::enqueue_at(memory_listener& listener) {
  auto end = std::make_unique<memory_end>(medium);
  memory_end& other = *end;
  other.local = peer;
  other.peer = local;
  const time_point arrival = listener.enqueue(std::move(end));
  join(*this, other);
  return arrival;
}

// The listener is looked up now. The request and the answer have a latency each.
void memory_end::request_connection(const socket_address& remote) {
  retry_at_ = never;
  auto* const listener = static_cast<memory_listener*>(medium->choose(medium->streams.find(remote)));
  if (listener && listener->is_full()) {
    retry_at_ = medium->now() + retry_pause_;
    retry_pause_ *= 2;
    medium->schedule_edge(retry_at_, tag, memory_side::out);
    return;
  }
  const time_point arrival = listener ? enqueue_at(*listener) : medium->now() + medium->latency();
  is_refused_ = !listener;
  answer_at_ = arrival + medium->latency();
  medium->schedule_edge(answer_at_, tag, memory_side::out);
}

}}}  // namespace hocket::detail
