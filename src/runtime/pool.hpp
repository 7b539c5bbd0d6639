// What the workers of a runtime share.
#pragma once
#include <hocket/base/seam/forks.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/spawn/seam/daemon_group.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "runtime/pool_core.hpp"
#include "runtime/signal_dump.hpp"
#include "runtime/stall_detector.hpp"
#include "runtime/standstill.hpp"
#include "runtime/worker.hpp"
#include "runtime/worker_watch.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class text_writer;
class wait_graph;
struct activity_counts;
}  // namespace detail

struct runtime::state : detail::pool_core {
  state(runtime& owner, const runtime_options& options, std::size_t workers);

  // Workers, in turn.
  detail::worker& at(std::size_t index) noexcept { return *workers[index % workers.size()]; }

  // The worker whose thread this is; null if it is none of these.
  detail::worker* here() const noexcept;
  // Whether this thread works for one of its coroutines, as a worker or in a blocking call: it must not wait for them.
  bool is_inside() const noexcept;
  // Has `tell` called with the coroutine that this context, of another thread, belongs to, which does not end
  // meanwhile; null if it is not known.
  template <class F>
  void with_coroutine(const context* of, F tell) noexcept {
    const void* const which = context::coroutine_of(of);
    for (auto& one : workers) {
      const primitive::locked guard(*one->coroutines());
      for (const detail::scheduled& member : one->coroutines()->members()) {
        if (&member == which || &member == of) return tell(&member);
      }
    }
    tell(nullptr);
  }
  // The number of coroutines that have not ended; and without the daemons.
  std::size_t live() const noexcept {
    return daemons.plus([this]() noexcept { return others(); });
  }
  std::size_t others() const noexcept;
  bool is_empty() const noexcept { return live() == 0; }
  bool is_drained() const noexcept { return others() == 0; }
  void notify_end() noexcept;

  // Lets nothing new in; `children`: not even below what is there.
  void refuse(bool children) noexcept;
  // See standstill.hpp. Gives the phase.
  std::uint32_t bring_to_a_standstill() noexcept;
  void write_holder(detail::text_writer& out, std::size_t index) noexcept;
  [[nodiscard]] bool stands(std::size_t index, std::uint32_t phase, time_point until) noexcept;
  // Has `tell` called with what is known, while all workers stand still, or do not all.
  template <class F>
  void look(F tell) noexcept;
  void dump(int fd, bool only_circles) noexcept;
  void notice_circles() noexcept;
  void write_coroutines(detail::text_writer& out, const detail::activity_counts& seen,
                        const detail::wait_graph& waits) noexcept;
  // While some workers do not stop: see runtime_dump.cpp.
  void write_known_part(detail::text_writer& out, const detail::wait_graph& waits) noexcept;
  void connect_known_part(detail::wait_graph& waits) noexcept;
  std::size_t begun() noexcept;
  bool all_have_stayed() noexcept;
  bool is_in_motion(const detail::scheduled& member) noexcept;
  // After refuse(): waits until is_empty(), or is_drained(). False: it was not in time.
  [[nodiscard]] bool wait_until(bool (state::*condition)() const noexcept, time_point until) noexcept;

  runtime& self;
  const std::uint32_t forks = detail::forks_so_far();  // when it was made
  const char* const name;
  const clock_source& time;
  const unhandled_handler unhandled;
  const worker_hook on_start, on_stop;
  stop_source stop;
  context_ptr ctx;
  std::vector<std::unique_ptr<detail::worker>> workers;

  enum class gate : std::uint8_t { open, children_only, closed };
  alignas(detail::cache_line_size) primitive::atomic<std::size_t> entered{0};  // by other threads than the workers
  alignas(detail::cache_line_size) detail::standstill still;
  primitive::atomic<gate> admits{gate::open};  // what may be spawned
  primitive::atomic<bool> ended{false};        // nothing is left; the threads end
  primitive::atomic<std::uint32_t> ends{0};    // while it closes: changes with each coroutine that ends
  primitive::atomic<std::size_t> left{0};
  detail::daemon_count daemons;
  detail::daemon_slot daemon_group;
  std::optional<detail::worker_watch> watched;  // not for a worker that is alone
  std::optional<detail::stall_detector> stalls;
  std::optional<detail::signal_dump> dumps;
};

}}  // namespace hocket
