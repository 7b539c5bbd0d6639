// The hot state of a fiber: one cache line in a dense array (stack_pool's cell), apart from its stack.
//
//   +0   resume      entry stub; null when finished (that is what coroutine_handle::done() reads)
//   +8   destroy     entry stub
//   +16  header      kind, flags, whom it would return to, context (core/frame.hpp)
//   +56  record      the parked stack (context/switch.hpp); null while it runs, has resumed another, or has finished
//
// Its exception state is moved by the side that resumes it, when it is not empty: at a landing that side finds in the
// thread's globals whatever the fiber left there.
//
// A switch touches this line, the line at the record, and the thread's fiber_thread. What is needed only at the start
// and the end of a fiber lies in its fiber_record, at the top of its stack.
//
// States of a raw fiber, and what tells them apart:
//
//   state        record    resume    flags       thread.running
//   unstarted    set       set       -           another
//   suspended    set       set       started     another
//   running      null      set       started     this
//   resuming     null      set       started     another (one that it resumed, or further down)
//   finished     null      null      finished    another
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/context/exception_globals.hpp>
#include <hocket/context/switch.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/frame.hpp>
#include <hocket/fiber/fiber_record.hpp>

namespace hocket::inline HOCKET_ABI {

struct control_block;
struct fiber_local_node;

// Bits of coroutine_header::flags that fibers add to header_flag's. They are rare: a resume tests them in one go, on
// the line that it needs anyway, and leaves the straight line when one is set.
namespace fiber_flag {
inline constexpr std::uint8_t canary = 16;            // its stack has no guard page: compare the canary
inline constexpr std::uint8_t keeps_exceptions = 32;  // it parked inside a catch block: fiber_record::exceptions
inline constexpr std::uint8_t at_resume = keeps_exceptions | canary;
inline constexpr std::uint8_t unwinding = 64;  // it is being destroyed
}  // namespace fiber_flag

// What the raw fibers of one thread share; it is their home, since they belong to the thread that created them.
class fiber_thread final : public executor {
 public:
  // This thread's, made at the first call. Throws bad_alloc.
  static fiber_thread& current();
  static fiber_thread* current_if_any() noexcept;

  // A raw fiber is resumed by its owner and by nobody else: fatal.
  void post(runnable& work) noexcept override;

  // For coroutines that name no pool: 64 KiB stacks. It outlives the thread while coroutines live on it.
  stack_pool& default_pool();

  control_block* running = nullptr;  // innermost
  exception_globals* const exceptions;
  const void* const id;
  fiber_local_node* locals = nullptr;  // fiber-local values of the thread itself

 private:
  fiber_thread() noexcept;
  ~fiber_thread();
  struct exit_hook;
  stack_pool* default_pool_ = nullptr;
};

struct control_block {
  frame_head head;
  coroutine_header header;
  void* record;

  fiber_thread& thread() const noexcept { return *static_cast<fiber_thread*>(header.continuation.home); }
  bool finished() const noexcept { return head.resume == nullptr; }
};

// What an empty coroutine refers to, and one that is done. They have no record, so that one test covers every state that
// cannot be resumed.
extern control_block vacant_block;
extern control_block retired_block;
static_assert(sizeof(control_block) == 64 && offsetof(control_block, header) == 2 * sizeof(void*),
              "a control block is one cache line and begins like a compiler's frame");

namespace detail {

// The rare parts of a switch, out of line.
void before_resume(control_block& block, fiber_record& record) noexcept;
void put_fiber_exceptions_away(control_block& block, fiber_record& record) noexcept;
void* enter_from_handler(control_block& block, fiber_record& record, void* transfer) noexcept;
[[noreturn]] void throw_unwinding();
[[noreturn]] void report_bad_resume(const control_block& block) noexcept;
[[noreturn]] void report_bad_yield(const fiber_record& record) noexcept;

// What each side sends when it has no value to send. Null is taken: it means the end of the coroutine, from the fiber
// "finished", from the resumer "unwind".
inline void* empty_message(control_block& block) noexcept { return &block; }

// The resumer's side of a round trip: runs the fiber until it yields or finishes. Gives what it sends. Both sides
// contain genuine calls (the rare parts), which is what the in_caller form of the switch asks for.
[[gnu::always_inline]] inline void* enter(control_block& block, fiber_record& record, void* transfer) noexcept {
  fiber_thread& thread = block.thread();
  if (!thread.exceptions->empty()) [[unlikely]]
    return enter_from_handler(block, record, transfer);
  if (block.header.flags & fiber_flag::at_resume) [[unlikely]]
    before_resume(block, record);
  control_block* const outer = thread.running;
  void* const to = block.record;
  block.record = nullptr;
  thread.running = &block;
  record.annotation.before_resume();
  machine::arrival back = machine::switch_to_in_caller(to, transfer);
  record.annotation.after_resume();
  block.record = back.from;
  thread.running = outer;
  if (!thread.exceptions->empty()) [[unlikely]]
    put_fiber_exceptions_away(block, record);
  return back.transfer;
}

// The fiber's side: parks it, goes back to `resumer`, returns when it is resumed, by whom `resumer` says then. Throws
// when it is to unwind.
[[gnu::always_inline]] inline void* park(control_block& block, fiber_record& record, void*& resumer, void* transfer) {
  if constexpr (misuse_checks) {
    if (block.thread().running != &block) [[unlikely]]
      report_bad_yield(record);
  }
  record.annotation.before_yield();
  machine::arrival back = machine::switch_to_in_caller(resumer, transfer);
  record.annotation.after_yield();
  resumer = back.from;
  if (!back.transfer) [[unlikely]]
    throw_unwinding();
  return back.transfer;
}

// What unwinds a fiber that is destroyed while suspended. Private: a catch (...) that meets it must rethrow it.
class forced_unwind {};

// Fatal when `record`'s fiber is to unwind but its body went on instead.
void check_unwound(const fiber_record& record) noexcept;

// Throws what left the body of a finished fiber, if anything did.
void rethrow_error(const fiber_record& record);

// The fiber's last switch. Its result is stored; nobody goes on at it again.
[[noreturn]] void finish(fiber_record& record, void* resumer) noexcept;

// A stack of the pool (of the thread's default pool, if null) with room for `footprint` bytes besides a call chain.
stack_ref acquire_stack(stack_pool* pool, fiber_thread& thread, std::size_t footprint);

// The two halves of making an unstarted fiber: the record first, then, when the body is in its place, the control
// block. The frames begin below `top`; `entry` is called with the record.
fiber_record& make_record(const stack_ref& stack, const char* name, void* user_data) noexcept;
void make_control_block(fiber_record& record, fiber_thread& thread, void* top,
                        void (*entry)(void*, void*, void*)) noexcept;

// Ends a fiber in any state and gives its stack back: unwinds it if it is suspended.
void destroy_fiber(fiber_record& record) noexcept;

// A bare handle that owns the fiber.
std::coroutine_handle<> release_fiber(control_block& block);

}  // namespace detail
}  // namespace hocket::inline HOCKET_ABI
