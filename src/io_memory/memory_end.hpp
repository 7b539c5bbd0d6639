// One end of a connection. Bytes that are written to an end are a segment at the other end, with the time of its
// arrival.
//
//   fresh       made by a connect, which looks for a listener (memory_door.hpp)
//   on its way  until `answered`; then connected, or `refused`
//   connected   `other` is the other end; null: that is gone
//
// A reset is told once, by ECONNRESET. Then reads are at the end of the stream, and writes give EPIPE, as with the
// kernel's sockets.
#pragma once
#include <hocket/base/clock.hpp>

#include "io_memory/memory_object.hpp"

#include <list>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class memory_door;

class memory_end final : public memory_object {
 public:
  using memory_object::memory_object;

  static void join(memory_end& current, memory_end& two) noexcept {
    current.other_ = &two;
    two.other_ = &current;
  }

  call_end call(transfer& operation) override;
  void close() noexcept override;
  int set_option(int level, int name, const void* value, std::size_t size) noexcept override;
  int shut_down(int cause) noexcept override;
  void break_up() noexcept override;
  std::size_t unsent() const noexcept override;

 private:
  struct segment {
    time_point at;
    std::vector<char> bytes;
    std::size_t begin = 0;
  };
  static constexpr time_point never = time_point::max();

  call_end read(transfer& operation);
  call_end peek(transfer& operation) const noexcept;
  call_end write(transfer& operation);
  template <class Buffer>
  call_end in_parts(transfer& operation);
  call_end look(transfer& operation) noexcept;
  bool is_writable(time_point present) noexcept;
  call_end look_for_end(transfer& operation, time_point present) const noexcept;
  call_end connect(transfer& operation);
  void knock(const socket_address& to);
  time_point call_at(memory_door& door);
  void end_after(memory_end& target) noexcept;
  void reset_at(time_point at) noexcept;
  bool was_reset(time_point present) const noexcept { return reset_ <= present; }
  bool has_bytes(time_point present) const noexcept { return !coming_.empty() && coming_.front().at <= present; }
  bool is_readable(time_point present) const noexcept {
    return was_reset(present) || has_bytes(present) || end_ <= present || reads_no_more_;
  }

  memory_end* other_ = nullptr;
  std::list<segment> coming_;
  std::size_t on_way_ = 0;    // bytes in `coming_`
  time_point last_{};         // the arrival of the last segment
  time_point end_ = never;    // when the end of what the other side writes arrives
  time_point reset_ = never;  // when a reset arrives
  bool reset_is_told_ = false;
  bool was_full_ = false;                                // a writer of the other side waits for room here
  bool reads_no_more_ = false, writes_no_more_ = false;  // this side's shutdowns
  bool resets_on_close_ = false;
  // Of a connect.
  bool refused_ = false;
  time_point answered_ = never;  // when it hears of the listener
  time_point again_ = never;     // when it knocks again, because the listener was full
  duration patience_ = std::chrono::seconds(1);
};

}}}  // namespace hocket::detail
