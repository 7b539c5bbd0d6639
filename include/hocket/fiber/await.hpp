// await(x) waits like `co_await x` does in a task, but in code that runs in a fiber, at any call depth.
//
//   void login(session& s) {
//     auto reply = await(s.db().load(s.id()));         // the fiber waits; its thread runs others
//
// Result. await() returns the result of `co_await x`, and throws its exceptions. An rvalue reference becomes a value,
// because its object may be destroyed by then.
// Operands. Every C++20 awaitable: hocket's operations and tasks, and foreign awaitables with an await_suspend that
// takes a std::coroutine_handle<> (core/spawn/seam/foreign_wait.hpp).
//
// On a plain thread await() blocks the thread, like sync_wait. It is fatal in a raw coroutine<> (its owner resumes it)
// and in a coroutine that is being unwound. In a task it is fatal if it has to wait, and at check level `debug` always:
// write co_await there. The fatal message names the remedy.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/base/seam/platform/attributes.hpp>
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/spawn/seam/foreign_wait.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/detail/exposed_memory.hpp>
#include <hocket/fiber/detail/round_trip.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>
#include <bit>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Returns the running scheduled fiber or raw coroutine; null if there is neither. `state` is the caller's own thread's.
inline control_block* running_fiber(thread_state& state) noexcept {
  auto* thread = static_cast<fiber_thread*>(slot_of(state, thread_slot::fiber));
  return thread && !state.eager ? thread->running : nullptr;
}
control_block* running_fiber() noexcept;

// Whether `running` is a fiber that can wait.
inline bool is_scheduled(const control_block* running) noexcept {
  return running && (running->header.flags & fiber_flag::scheduled) != 0;
}

// Fatal if the caller cannot wait: on a raw coroutine, or inside an executor without a fiber (in a task).
[[gnu::noinline]] void expect_fiber(const control_block* running) noexcept;
inline control_block* awaiting_fiber(control_block* running = running_fiber()) noexcept {
  if (!is_scheduled(running)) [[unlikely]]
    expect_fiber(running);
  return running;
}

// Called when the budget is used up (core/wait/seam/budget.hpp). The running fiber passes through its executor's
// queue. Returns the end of its next wait: a stop or a deadline, or none. Other callers do not pause, and a wait that
// ignores a kill does not pause.
[[gnu::cold, gnu::noinline]] wait_end pause_fiber(stop_level ignore, duration::rep until);

// Calls await_suspend and converts its answer to the form of park_request.
template <class W>
std::coroutine_handle<> suspend_awaiter(W& awaiter, auto parked, std::coroutine_handle<> self) {
  using answer = decltype(awaiter.await_suspend(parked));
  if constexpr (std::is_void_v<answer>) {
    awaiter.await_suspend(parked);
    return nullptr;
  } else if constexpr (std::is_same_v<answer, bool>) {
    return awaiter.await_suspend(parked) ? nullptr : self;
  } else {
    return awaiter.await_suspend(parked);
  }
}

template <class W>
std::coroutine_handle<> commit_await(park_request& request, park_request::fiber_handle parked) noexcept {
  try {
    return suspend_awaiter(*static_cast<W*>(request.awaiter), parked, parked);
  } catch (...) {
    request.error = std::current_exception();
    return parked;
  }
}

// The switch of a yield. `own` is the fiber that yields, already queued again. Only its own thread pops from that
// queue, so the fiber is not resumed before it has parked, and the yield commits nothing. `target` is the record to
// switch to: the next fiber's in the queue if a switch alone resumes that fiber, else the worker's. Null `own`: this is
// not possible, and the yield is an ordinary wait.
struct yield_way {
  control_block* own;
  void* target;
};
yield_way prepare_yield() noexcept;

// After a switch: stores the record of the switching side, the worker or another fiber that yielded.
[[gnu::always_inline]] inline void store_arrival(control_block& own, const machine::arrival& back) noexcept {
  if (back.transfer == &own) own.thread().worker = back.from;
  else static_cast<control_block*>(back.transfer)->record = back.from;
}

// Parks the fiber until it is resumed; the request runs meanwhile. Inline: a switch at the place of the await is three
// times as fast as a switch in a called function, because of the return predictor.
[[gnu::always_inline]] inline void park_fiber(control_block& block, void* request) {
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(block);
  if constexpr (switch_annotation::active) annotation->before_yield();
  machine::arrival back = machine::switch_to_in_caller(block.thread().worker, request);
  if constexpr (switch_annotation::active) annotation->after_yield();
  store_arrival(block, back);
}

// The same for a fiber that yields.
[[gnu::always_inline]] inline void park_for_yield(const yield_way& way) {
  control_block& own = *way.own;
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(own);
  if constexpr (switch_annotation::active) annotation->before_yield();
  machine::arrival back = machine::switch_to_in_caller(way.target, empty_message(own));
  if constexpr (switch_annotation::active) annotation->after_yield();
  store_arrival(own, back);
}
[[gnu::always_inline]] inline waited park_yielding(const yield_way& way) {
  park_for_yield(way);
  auto& self = static_cast<scheduled&>(*way.own->header.ctx);
  if (self.may_be_stopped()) [[unlikely]]
    return check_stop(this_thread().ctx);
  return {};
}

// Suspends the running fiber for code that cannot call await (core/wait/seam/stack_hooks.hpp).
bool suspend_this_stack(void* awaiter,
                        bool (*suspend)(void* awaiter, std::coroutine_handle<> handle) noexcept) noexcept;

[[gnu::noinline, gnu::cold]] void rethrow(park_request& request);

template <class W>
[[gnu::always_inline]] inline void suspend_on(control_block* fiber, W& awaiter) {
  if (!fiber) [[unlikely]]
    return block_thread(awaiter);
  park_request request{&awaiter, &commit_await<W>};
  park_fiber(*fiber, &request);
  if (request.error) [[unlikely]]
    rethrow(request);
}
template <class W>
[[gnu::always_inline]] inline void suspend_here(control_block* running, W& awaiter) {
  suspend_on(awaiting_fiber(running), awaiter);
}

// Whether the stack of this fiber may be packed while the fiber waits. Then no other thread may receive an address on
// that stack. Null (no fiber): false.
inline bool stack_moves(const control_block* fiber) noexcept {
  return fiber && (fiber->header.reserved & stack_bit::moves) != 0;
}

// The operand of an await and its awaiter, in memory off the stack. An operand that cannot be moved stays in place.
template <class A>
struct off_stack_wait {
  static constexpr bool is_moved = !std::is_lvalue_reference_v<A> && std::is_move_constructible_v<A>;
  using operand_type = std::conditional_t<is_moved, A, A&&>;
  using wait = typename decltype([] {
    if constexpr (foreign_awaitable<A>) return std::type_identity<foreign_wait<A>>{};
    else return std::type_identity<awaiter_of<A>>{};
  }())::type;

  explicit off_stack_wait(A&& a) : operand(static_cast<A&&>(a)), awaiter(begin(operand)) {}
  static wait begin(operand_type& operand) {
    if constexpr (foreign_awaitable<A>) return foreign_wait<A>(static_cast<A&&>(operand));
    else return get_awaiter(static_cast<A&&>(operand));
  }

  operand_type operand;
  wait awaiter;
};

template <class T>
class off_stack_memory {
 public:
  // Writes zeros, because wait_pin searches these bytes for addresses. Volatile, so that the compiler keeps the stores.
  off_stack_memory() : memory_(allocate()) {
    auto* words = static_cast<volatile std::uintptr_t*>(memory_);
    for (std::size_t i = 0; i < sizeof(T) / sizeof *words; ++i) words[i] = 0;
  }
  off_stack_memory(const off_stack_memory&) = delete;
  off_stack_memory& operator=(const off_stack_memory&) = delete;
  ~off_stack_memory() {
    if constexpr (large) source_release(memory_, sizeof(T), alignof(T));
    else release_frame(memory_, sizeof(T));
  }
  void* get() const noexcept { return memory_; }

 private:
  static constexpr bool large = alignof(T) > 16;
  static void* allocate() {
    if constexpr (large) return source_allocate_or_throw(sizeof(T), alignof(T));
    else return allocate_frame(sizeof(T));
  }
  void* const memory_;
};

template <class A>
exposed_memory exposed_memory_of_wait(const off_stack_wait<A>& wait) noexcept {
  if constexpr (foreign_awaitable<A> || (std::is_reference_v<awaiter_of<A>> && !off_stack_wait<A>::is_moved)) {
    return {&wait, sizeof wait};
  } else {
    return exposed_memory_of(wait.operand);
  }
}

// Pins the stack of a fiber for a wait whose awaiter refers to that stack. Fatal if the stack cannot stay in place.
class wait_pin {
 public:
  wait_pin() noexcept = default;
  wait_pin(control_block& fiber, const exposed_memory& memory) noexcept { begin(fiber, memory); }
  wait_pin(const wait_pin&) = delete;
  wait_pin& operator=(const wait_pin&) = delete;
  ~wait_pin() {
    if (pinned_) [[unlikely]]
      pinned_->unpin();
  }
  void begin(control_block& fiber, const exposed_memory& memory) noexcept;

 private:
  scheduled_fiber* pinned_ = nullptr;
};

// await() on a stack that may be packed.
template <class A>
[[gnu::noinline]] typename sync_result<await_result_t<A>>::type await_off_stack(control_block& fiber, A&& a) {
  off_stack_memory<off_stack_wait<A>> memory;
  struct guard {
    off_stack_wait<A>* wait;
    ~guard() { wait->~off_stack_wait(); }
  } owner{::new (memory.get()) off_stack_wait<A>(std::forward<A>(a))};
  if (!owner.wait->awaiter.await_ready()) {
    wait_pin pin(fiber, exposed_memory_of_wait(*owner.wait));
    suspend_on(&fiber, owner.wait->awaiter);
  }
  return owner.wait->awaiter.await_resume();
}

// A fiber's wait for an operation that cannot complete at once, in memory of its own, from the frames that its thread
// caches. So the switch is at the place of the await, where the return predictor works. The caller's frame, and its
// packed image, have no space for an awaiter. A stack that may be packed needs nothing else.
template <class Op>
class fiber_wait : public park_request {
 public:
  // Inline: a call would get the options in memory, and read in pairs what was just written one by one.
  [[HOCKET_ALWAYS_INLINE]] fiber_wait(control_block& fiber, Op op, const wait_options& options) noexcept
      : park_request{nullptr, &fiber_wait::commit_wait},
        fiber_(fiber),
        operation_(op, options),
        awaiter_(std::move(operation_).operator co_await()) {
    if (stack_moves(&fiber)) [[unlikely]]
      pin_.begin(fiber, exposed_memory_of(operation_));
  }
  control_block& fiber() const noexcept { return fiber_; }
  given_by_t<Op> end() { return awaiter_.await_resume(); }

 private:
  static std::coroutine_handle<> commit_wait(park_request& self, fiber_handle parked) noexcept {
    return static_cast<fiber_wait&>(self).awaiter_.await_suspend(parked) ? std::coroutine_handle<>{} : parked;
  }

  control_block& fiber_;
  limited_operation<Op> operation_;
  wait<Op, wait_options> awaiter_;
  wait_pin pin_;
};

// The type that passes an operation: by value in a register, without its options, if it is one word. A larger operation
// is passed by reference, since a copy of words that were just written costs more.
template <class Op>
using op_parameter = std::conditional_t<sizeof(Op) <= sizeof(std::uintptr_t), Op, Op&>;

// Returns null if the caller is no fiber, or if there is no memory. The options are separate parameters: one object of
// options would be built in memory before every try.
template <class Op>
[[gnu::noinline]] fiber_wait<Op>* begin_wait(op_parameter<Op> op, duration::rep until, duration::rep within,
                                             stop_level ignore, call_site site) {
  static_assert(alignof(fiber_wait<Op>) <= 16);
  thread_state& state = this_thread();
  control_block* const fiber = awaiting_fiber(running_fiber(state));
  if (!fiber) [[unlikely]]
    return nullptr;
  void* memory = nullptr;
  try {
    memory = allocate_frame(sizeof(fiber_wait<Op>), state);
  } catch (const std::bad_alloc&) {
    if (stack_moves(fiber)) {
      if constexpr (requires { op.resumed(); }) op.resumed();  // its attempt is over
      throw;
    }
    return nullptr;
  }
  return ::new (memory) fiber_wait<Op>(*fiber, op, {time_point(duration(until)), duration(within), ignore, site});
}

template <class Op>
[[gnu::noinline]] given_by_t<Op> end_wait(fiber_wait<Op>* wait) {
  struct guard {
    fiber_wait<Op>* wait;
    ~guard() {
      wait->~fiber_wait();
      release_frame(wait, sizeof *wait);
    }
  } owner{wait};
  return owner.wait->end();
}

// Waits if begin_wait() returned null: on a plain thread, or with the awaiter on the caller's stack.
template <class Op>
[[gnu::noinline, gnu::cold]] given_by_t<Op> await_in_place(op_parameter<Op> op, duration::rep until,
                                                           duration::rep within, stop_level ignore, call_site site) {
  limited_operation<Op> operation(op, {time_point(duration(until)), duration(within), ignore, site});
  auto awaiter = std::move(operation).operator co_await();
  suspend_on(awaiting_fiber(), awaiter);
  return awaiter.await_resume();
}

}  // namespace detail

// Awaits `a` in a fiber or on a plain thread.
template <class A>
  requires awaitable<A>
[[gnu::always_inline]] inline typename detail::sync_result<await_result_t<A>>::type await(A&& a) {
  detail::control_block* fiber = detail::running_fiber();
  if (detail::stack_moves(fiber)) [[unlikely]]
    return detail::await_off_stack<A>(*fiber, std::forward<A>(a));
  if constexpr (!detail::is_task<std::remove_cvref_t<A>>) {
    if (!detail::is_scheduled(fiber)) detail::refill_budget(detail::this_thread());  // it cannot pause
  }
  if constexpr (detail::foreign_awaitable<A>) {
    detail::foreign_wait<A> awaiter(std::forward<A>(a));
    if (!awaiter.await_ready()) detail::suspend_here(fiber, awaiter);
    return awaiter.await_resume();
  } else {
    auto&& awaiter = detail::get_awaiter(std::forward<A>(a));
    if (!awaiter.await_ready()) detail::suspend_here(fiber, awaiter);
    return awaiter.await_resume();
  }
}

// The overload for operations. Most operations complete at once: only a wait builds an awaiter, out of line.
template <class Op, class Options>
[[gnu::always_inline]] inline detail::given_by_t<Op> await(primitive::operation<Op, Options>&& operation) {
  if constexpr (detail::debug_checks) static_cast<void>(detail::awaiting_fiber());
  const detail::wait_options options(operation.options());
  detail::expect_no_lock_to_await(options.at);
  Op&& unwrapped = std::move(operation).unwrap();
  detail::op_parameter<Op> op = unwrapped;
  if (detail::spend_budget<detail::price_of<Op>>()) [[unlikely]] {
    const detail::wait_end end = detail::pause_fiber(options.ignore, options.until.time_since_epoch().count());
    if (end != detail::wait_end::none) return detail::fail_wait<Op>(op, end);
  }
  if (op.try_now()) [[likely]]
    return op.take();
  const duration::rep until = options.until.time_since_epoch().count(), within = options.within.count();
  detail::fiber_wait<Op>* const wait = detail::begin_wait<Op>(op, until, within, options.ignore, options.at);
  // The result of a call is moved out of a separate variable: else g++ keeps the result of try_now() in memory, too. An
  // operation larger than a word lies in memory anyway.
  if (!wait) [[unlikely]] {
    auto result = detail::await_in_place<Op>(op, until, within, options.ignore, options.at);
    return detail::given_by_t<Op>(std::move(result));
  }
  detail::park_fiber(wait->fiber(), static_cast<detail::park_request*>(wait));
  if constexpr (sizeof(Op) > sizeof(std::uintptr_t)) {
    return detail::end_wait(wait);
  } else {
    auto result = detail::end_wait(wait);
    return detail::given_by_t<Op>(std::move(result));
  }
}

// The overload for a yield, the most frequent wait of fibers.
[[gnu::always_inline]] inline waited await(yield&&) {
  if (detail::yield_way way = detail::prepare_yield(); way.own) [[likely]]
    return detail::park_yielding(way);
  detail::control_block* fiber = detail::running_fiber();
  if (detail::stack_moves(fiber)) return detail::await_off_stack(*fiber, yield{});
  auto pause = yield{}.operator co_await();
  detail::suspend_here(fiber, pause);
  return pause.await_resume();
}

}}  // namespace hocket
