// What a direction knows of its descriptor, with a system of a few lines: one byte stream, whose edges are told to
// whoever asks first.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <hocket/io/detail/direction.hpp>
#include <hocket/io/detail/drain_waits.hpp>
#include <hocket/model/detail/explore.hpp>
#include <hocket/model/model.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class open_descriptor {
 public:
  // --- for the direction
  static int attach_here() noexcept { return 0; }
  static bool is_attached() noexcept { return true; }
  std::uint32_t generation() const noexcept { return generation_.load(std::memory_order_relaxed); }
  primitive::thread_mutex& mutex() noexcept { return mutex_; }
  call_end carry_out(transfer& operation) noexcept;
  bool hand_over(primitive::waiter& entry) noexcept;
  void direction_closed() noexcept;
  static void save_count(const transfer&) noexcept {}
  // --- for the waits for a drain, as of the real one
  bool try_use() noexcept;
  void drop() noexcept;
  bool is_closed() const noexcept { return ended_.load(std::memory_order_relaxed) != 0; }
  bool is_draining() const noexcept { return drained_.load(std::memory_order_relaxed) != 0; }

  // --- for the test
  void peer_writes() noexcept;
  void tells_of_nothing() noexcept;  // an edge
  // What the calls for a wait that is over have done is visible.
  void look_back() noexcept { static_cast<void>(static_cast<int>(calls_)); }
  // One look of a driver's.
  void poll() noexcept;
  // Until the next thing for poll() to do, or notify_driver(), since `seen`, which news() gave.
  std::uint32_t news() const noexcept { return news_.load(std::memory_order_acquire); }
  void await_news(std::uint32_t seen) noexcept { futex_wait(news_, seen); }
  void notify_driver() noexcept;
  // An event that was collected before the descriptor was closed, and is told now.
  void tells_late() noexcept;
  // It is closed: the next descriptor takes its place.
  void is_used_again() noexcept;
  bool is_fd_closed() const noexcept { return closed_.load(std::memory_order_acquire) != 0; }
  // Without a direction: its server drains; its owner closes it, and the place is used again at once.
  void drain() noexcept;
  void close_drains() noexcept;
  bool is_new() const noexcept { return is_new_.load(std::memory_order_acquire) != 0; }

  direction in{*this};
  drain_waits drains;
  const direction& out = in;

 private:
  void serve_waiter(primitive::waiter& entry) noexcept;

  primitive::thread_mutex mutex_;
  model::var<int> calls_{0, "calls"};  // one at a time
  model::var<int> taken_{0, "taken"};
  primitive::atomic<std::uint32_t> bytes_{0, "bytes"}, edges_{0, "edges"}, news_{0, "news"}, closed_{0, "closed"};
  primitive::atomic<std::uint32_t> generation_{0, "generation"};
  primitive::atomic<std::uint32_t> ended_{0, "ended"}, drained_{0, "drained"}, uses_{1, "uses"}, is_new_{0, "is new"};
  primitive::thread_mutex pending_mutex_;
  primitive::atomic<transfer*> pending_{nullptr, "pending"};
};

}}}  // namespace hocket::detail
