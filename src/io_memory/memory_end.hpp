// One end of a connection. A write appends a segment to the other end, with the time of its arrival.
//
//   state       condition
//   new         made by a connect, which looks for a listener (memory_listener.hpp)
//   connecting  until `answer_at_`; then connected, or `is_refused_`
//   connected   `other_` is the other end; null: the other end is closed
//
// One operation reports a reset, by ECONNRESET. Later reads return the end of the stream, and later writes fail with
// EPIPE, as with the kernel's sockets.
#pragma once
#include <hocket/base/clock.hpp>

#include "io_memory/memory_object.hpp"

#include <list>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_listener;

class memory_end final : public memory_object {
 public:
  using memory_object::memory_object;

  static void join(memory_end& first, memory_end& second) noexcept {
    first.other_ = &second;
    second.other_ = &first;
  }

  call_end call(transfer& operation) override;
  void close() noexcept override;
  int set_option(int level, int name, const void* value, std::size_t size) noexcept override;
  int shut_down(int directions) noexcept override;
  void reset_connection() noexcept override;
  std::size_t unsent() const noexcept override;

 private:
  struct segment {
    time_point arrival;
    std::vector<char> bytes;
    std::size_t begin = 0;
  };
  static constexpr time_point never = time_point::max();

  call_end read(transfer& operation);
  call_end peek(transfer& operation) const noexcept;
  call_end write(transfer& operation);
  template <class Buffer>
  call_end transfer_part(transfer& operation);
  call_end poll(transfer& operation) noexcept;
  bool is_writable(time_point present) noexcept;
  call_end poll_peer_end(transfer& operation, time_point present) const noexcept;
  call_end connect(transfer& operation);
  void request_connection(const socket_address& remote);
  time_point enqueue_at(memory_listener& listener);
  void schedule_end(memory_end& target) noexcept;
  void schedule_reset(time_point when) noexcept;
  bool was_reset(time_point present) const noexcept { return reset_at_ <= present; }
  bool has_bytes(time_point present) const noexcept {
    return !segments_.empty() && segments_.front().arrival <= present;
  }
  bool is_readable(time_point present) const noexcept {
    return was_reset(present) || has_bytes(present) || end_at_ <= present || reading_is_shut_;
  }

  memory_end* other_ = nullptr;
  std::list<segment> segments_;
  std::size_t queued_bytes_ = 0;  // in `segments_`
  time_point last_arrival_{};     // of the last segment
  time_point end_at_ = never;     // the arrival of the end of the other side's stream
  time_point reset_at_ = never;   // the arrival of a reset
  bool reset_is_reported_ = false;
  bool was_full_ = false;                                   // a writer of the other side waits for room here
  bool reading_is_shut_ = false, writing_is_shut_ = false;  // this side's shutdowns
  bool resets_on_close_ = false;
  // Of a connect.
  bool is_refused_ = false;
  time_point answer_at_ = never;  // the arrival of the listener's answer
  time_point retry_at_ = never;   // the next try, if the queue of the listener was full
  duration retry_pause_ = std::chrono::seconds(1);
};

}}}  // namespace hocket::detail
