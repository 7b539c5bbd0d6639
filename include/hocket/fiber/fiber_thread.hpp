// What the raw fibers of one thread share; it is their home, since they belong to the thread that created them.
#pragma once
#include <hocket/context/exception_globals.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/stack/stack_pool.hpp>

namespace hocket::inline HOCKET_ABI {

struct control_block;
struct fiber_local_node;

class fiber_thread final : public executor {
 public:
  // This thread's, made at the first call. Throws bad_alloc.
  static fiber_thread& current();
  static fiber_thread* current_if_any() noexcept;

  // A raw fiber is resumed by its owner and by nobody else: fatal.
  void post(runnable& work) noexcept override;

  // For coroutines that name no pool: 64 KiB stacks.
  stack_pool& default_pool();

  // A fiber of this thread is gone. This object outlives its thread while there are any (a static one of the main
  // thread is destroyed after it): then the last one takes it along.
  void one_less() noexcept;

  std::size_t live = 0;              // fibers that are not yet destroyed
  control_block* running = nullptr;  // innermost
  exception_globals* const exceptions;
  const void* const id;
  fiber_local_node* locals = nullptr;  // fiber-local values of the thread itself

 private:
  fiber_thread() noexcept;
  ~fiber_thread();
  struct exit_hook;
  stack_pool* default_pool_ = nullptr;
  bool ended_ = false;  // the thread is
};

}  // namespace hocket::inline HOCKET_ABI
