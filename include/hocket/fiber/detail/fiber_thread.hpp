// The common state of the fibers of one thread. It is the home of raw fibers, which belong to the thread that created
// them. A scheduled fiber has its executor as its home, but after its begin its stack and its current place belong to
// this thread, too.
#pragma once
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/spawn/seam/scheduled.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/fiber/detail/fiber_flag.hpp>
#include <hocket/fiber/detail/hibernation_statistics.hpp>
#include <hocket/stack/seam/fault.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <array>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct called_stack;
struct control_block;
struct fiber_local_node;

class idle_fibers;

class fiber_thread final : public executor {
 public:
  // Returns the calling thread's; creates it at the first call. Throws bad_alloc.
  static fiber_thread& current() {
    if (fiber_thread* const thread = current_if_any()) [[likely]]
      return *thread;
    return make_current();
  }
  static fiber_thread* current_if_any() noexcept {
    return static_cast<fiber_thread*>(in_current_slot<thread_slot::fiber>());
  }

  // Fatal: only its owner resumes a raw fiber.
  void post_from_outside(runnable& work) noexcept override;

  // The pool of coroutines that name no pool: 64 KiB stacks. Throws like pool_of().
  stack_pool& default_pool() {
    if (stack_pool* pool = pools_[default_class]) [[likely]]
      return *pool;
    return make_default_pool();
  }

  // The pool of fibers with a stack size, on the process's depot of that size class; 0 is the default. Throws
  // bad_alloc, and system_error for a size above stack_pool::maximum_size.
  stack_pool& pool_of(std::size_t stack_size);
  // Like pool_of(), for a kind of stack. Pools of dense and copied stacks belong to the thread alone.
  stack_pool& pool_of(std::size_t stack_size, stack_kind kind);

  // Counts a new resumable fiber of this thread.
  void add_fiber() noexcept {
    if (++live > max_cached) [[unlikely]]
      rare |= header_flag::started;
  }

  // Counts the end of a fiber of this thread. This object outlives its thread while there are fibers (a static fiber of
  // the main thread is destroyed after it). Then the last fiber destroys it.
  void remove_fiber() noexcept {
    if (--live == 0 && ended_) [[unlikely]]
      delete_self();
  }

  // Up to this number, raw coroutines stay in the caches (resume_order.hpp).
  static constexpr std::size_t max_cached = 1024;

  std::size_t live = 0;                       // fibers that are not yet destroyed
  control_block* running = nullptr;           // innermost
  std::uint8_t rare = fiber_flag::at_resume;  // flags that send the resume of a raw fiber to its slow path
  const std::uint32_t forks;                  // forks_so_far() at its creation; at check level `debug`
  void* worker = nullptr;                     // while a scheduled fiber runs: the record of the resuming stack
  thread_state* const state;
  exception_globals* const exceptions;
  const void* const id;
  fiber_local_node* locals = nullptr;  // fiber-local values of the thread itself
  idle_fibers* idle = nullptr;         // the fibers that may hibernate; null until there is one
  called_stack* calls = nullptr;       // the innermost stack that the thread itself has called
  std::byte* last_resumed = nullptr;   // resume_order.hpp
  hibernation_statistics hibernation;  // of its fibers

 private:
  fiber_thread() noexcept;
  ~fiber_thread();
  struct exit_hook;
  static fiber_thread& make_current();
  void delete_self() noexcept;
  void destroy_pools() noexcept;
  static std::uint64_t stack_generation() noexcept;
  static duration reclaim_stacks(const clock_source& time) noexcept;
  static constexpr std::size_t default_class = 4;  // 4 KiB * 2^4
  stack_pool& make_default_pool();
  stack_pool& pool_of_class(std::size_t size_class, stack_depot& depot);
  stack_pool& special_pool(std::size_t stack_size, stack_layout layout);

  std::array<stack_pool*, stack_depot::classes> pools_{};
  struct listed;
  listed* first_pool_ = nullptr;  // of these pools
  struct special;
  special* special_pools_ = nullptr;
  bool ended_ = false;  // the thread has ended
  signal_stack for_signals_;
};

}}}  // namespace hocket::detail
