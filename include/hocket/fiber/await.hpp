// await(x): what `co_await x` is in a task, for code that runs in a fiber, at any call depth.
//
//   void login(session& s) {
//     auto reply = await(s.db().load(s.id()));         // the fiber waits; its thread runs others
//
// On a plain thread it blocks the thread instead, like sync_wait. Elsewhere there is nothing that could wait: in a task
// (write co_await), in a raw coroutine<> (its owner resumes it) and in a coroutine that is being unwound it is fatal,
// and the message tells what to do.
//
// What is awaited may be anything that C++20 can await: hocket's operations and tasks, and foreign awaitables whose
// await_suspend takes a std::coroutine_handle<> (core/detail/foreign_wait.hpp).
// await returns what `co_await x` would, and throws what it would; but an rvalue reference becomes a value, since what
// it refers to may be gone. In a task `await` is fatal where it has to wait, and at check level `debug` always.
#pragma once
#include <hocket/base/memory_source.hpp>
#include <hocket/context/detail/switch.hpp>
#include <hocket/core/detail/foreign_wait.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/detail/round_trip.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>
#include <bit>
#include <span>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// What the caller runs on: a scheduled fiber or a raw coroutine; null if neither. `here` is the caller's own thread.
inline control_block* running_fiber(thread_state& here) noexcept {
  auto* thread = static_cast<fiber_thread*>(slot_of(here, thread_slot::fiber));
  return thread && !here.eager ? thread->running : nullptr;
}
control_block* running_fiber() noexcept;

// Whether `running` is a fiber that can wait.
inline bool is_scheduled(const control_block* running) noexcept {
  return running && (running->header.flags & fiber_flag::scheduled) != 0;
}

// Fatal where there is nothing that could wait: on a raw coroutine, and on no fiber inside an executor (a task).
[[gnu::noinline]] void expect_fiber(const control_block* running) noexcept;
inline control_block* awaiting_fiber(control_block* running = running_fiber()) noexcept {
  if (!is_scheduled(running)) [[unlikely]]
    expect_fiber(running);
  return running;
}

// The budget is used up (core/detail/budget.hpp): the running fiber goes through its executor's queue. Gives what its
// next wait is to be ended by. Other callers go on, and so does a wait that ignores a kill.
[[gnu::cold, gnu::noinline]] wait_end pause_fiber(stop_level ignore, duration::rep until);

// Calls await_suspend and maps its answer as park_request has it.
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

// How a yield goes on. `own` is the fiber that yields, queued again already: only the thread that runs it pops from
// that queue, so nobody can resume it before it has parked, and there is nothing to commit. `to` is the record to
// switch to: the worker's, or that of the fiber that is next in the queue, if that could be resumed by nothing but a
// switch. Null `own`: none of this is possible, the yield is a wait like any other.
struct yield_way {
  control_block* own;
  void* to;
};
yield_way prepare_yield() noexcept;

// At a landing: notes the record of whoever switched here, the worker or another fiber that yielded.
[[gnu::always_inline]] inline void note_arrival(control_block& own, const machine::arrival& back) noexcept {
  if (back.transfer == &own) own.thread().worker = back.from;
  else static_cast<control_block*>(back.transfer)->record = back.from;
}

// Parks the fiber until somebody resumes it; the request runs meanwhile. Inline: a switch at the place of the await is
// three times as fast as one in a function that it calls (the return predictor).
[[gnu::always_inline]] inline void park_fiber(control_block& block, void* request) {
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(block);
  if constexpr (switch_annotation::active) annotation->before_yield();
  machine::arrival back = machine::switch_to_in_caller(block.thread().worker, request);
  if constexpr (switch_annotation::active) annotation->after_yield();
  note_arrival(block, back);
}

// The same for a fiber that yields.
[[gnu::always_inline]] inline void park_for_yield(const yield_way& way) {
  control_block& own = *way.own;
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(own);
  if constexpr (switch_annotation::active) annotation->before_yield();
  machine::arrival back = machine::switch_to_in_caller(way.to, empty_message(own));
  if constexpr (switch_annotation::active) annotation->after_yield();
  note_arrival(own, back);
}
[[gnu::always_inline]] inline waited park_yielding(const yield_way& way) {
  park_for_yield(way);
  auto& self = static_cast<scheduled&>(*way.own->header.ctx);
  if (self.may_be_stopped()) [[unlikely]]
    return check_stop(this_thread().ctx);
  return {};
}

// How a fiber waits where it cannot say await (core/detail/wait_here.hpp).
bool suspend_this_stack(void* awaiter, bool (*suspend)(void* awaiter, std::coroutine_handle<> who) noexcept) noexcept;

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

// Whether the stack of this fiber (null: of none) may be packed while it waits: then others may not be told of anything
// that lies on it.
inline bool stack_moves(const control_block* fiber) noexcept {
  return fiber && (fiber->header.reserved & stack_bit::moves) != 0;
}

// What is awaited and its awaiter, in memory of their own. What cannot be moved there stays where it is.
template <class A>
struct apart {
  static constexpr bool taken = !std::is_lvalue_reference_v<A> && std::is_move_constructible_v<A>;
  using held = std::conditional_t<taken, A, A&&>;
  using wait = typename decltype([] {
    if constexpr (foreign_awaitable<A>) return std::type_identity<foreign_wait<A>>{};
    else return std::type_identity<awaiter_of<A>>{};
  }())::type;

  explicit apart(A&& a) : what(static_cast<A&&>(a)), awaiter(begin(what)) {}
  static wait begin(held& what) {
    if constexpr (foreign_awaitable<A>) return foreign_wait<A>(static_cast<A&&>(what));
    else return get_awaiter(static_cast<A&&>(what));
  }

  held what;
  wait awaiter;
};

template <class T>
class apart_memory {
 public:
  // Zeros, for those who look through it; volatile, so that the compiler does not find that useless.
  apart_memory() : memory_(allocate()) {
    auto* words = static_cast<volatile std::uintptr_t*>(memory_);
    for (std::size_t i = 0; i < sizeof(T) / sizeof *words; ++i) words[i] = 0;
  }
  apart_memory(const apart_memory&) = delete;
  apart_memory& operator=(const apart_memory&) = delete;
  ~apart_memory() {
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

// The bytes of what is awaited in which others may find addresses of the fiber's stack. `all`: nobody knows where they
// are kept (a task has its arguments in its frame).
struct told_to_others {
  const void* data = nullptr;
  std::size_t size = 0;
  bool all = false;
  std::span<const std::byte> list{};  // more of them, elsewhere: a list of buffers
};

template <class Op, class Options>
told_to_others told_by(const operation<Op, Options>& what) noexcept {
  static_assert(std::has_unique_object_representations_v<Op> || alignof(Op) > sizeof(void*),
                "hocket: an operation that a fiber waits for has no padding: see op_flag in core/detail/operation.hpp");
  told_to_others told{&what.op(), sizeof(Op)};
  if constexpr (requires { what.op().list_of_addresses(); }) told.list = what.op().list_of_addresses();
  return told;
}
template <class A>
told_to_others told_by(const A& what) noexcept {
  if constexpr (requires { what.awaited(); }) return told_by(what.awaited());  // an adaptor
  else if constexpr (requires { A::is_run_by_others; }) return {&what, sizeof what, true};
  else return {nullptr, 0, is_task<A> || std::derived_from<std::remove_cvref_t<awaiter_of<A>>, body_awaiter>};
}
template <class A>
told_to_others what_is_told(const apart<A>& of) noexcept {
  if constexpr (foreign_awaitable<A> || (std::is_reference_v<awaiter_of<A>> && !apart<A>::taken)) {
    return {&of, sizeof of};
  } else {
    return told_by(of.what);
  }
}

// While a fiber waits by an awaiter that refers to its stack: that stays where it is; fatal if it cannot.
class stay_for_wait {
 public:
  stay_for_wait() noexcept = default;
  stay_for_wait(control_block& fiber, const told_to_others& what) noexcept { begin(fiber, what); }
  stay_for_wait(const stay_for_wait&) = delete;
  stay_for_wait& operator=(const stay_for_wait&) = delete;
  ~stay_for_wait() {
    if (pinned_) [[unlikely]]
      pinned_->unpin();
  }
  void begin(control_block& fiber, const told_to_others& what) noexcept;

 private:
  scheduled_fiber* pinned_ = nullptr;
};

// await on a stack that moves.
template <class A>
[[gnu::noinline]] typename sync_result<await_result_t<A>>::type await_apart(control_block& fiber, A&& a) {
  apart_memory<apart<A>> memory;
  struct built {
    apart<A>* wait;
    ~built() { wait->~apart(); }
  } in{::new (memory.get()) apart<A>(std::forward<A>(a))};
  if (!in.wait->awaiter.await_ready()) {
    stay_for_wait stay(fiber, what_is_told(*in.wait));
    suspend_on(&fiber, in.wait->awaiter);
  }
  return in.wait->awaiter.await_resume();
}

// A fiber's wait for an operation that is not possible at once, in memory of its own, from the frames that its thread
// keeps. So the switch can stand at the place of the await, where the return predictor likes it, and the frame of the
// caller has no room for an awaiter, which would be in every packed image, and in every frame that is on the stack with
// it; and a stack that moves needs nothing else.
template <class Op>
class fiber_wait : public park_request {
 public:
  fiber_wait(control_block& fiber, Op op, const wait_options& options) noexcept
      : park_request{nullptr, &fiber_wait::commit_wait},
        fiber_(fiber),
        what_(op, options),
        awaiter_(std::move(what_).operator co_await()) {
    if (stack_moves(&fiber)) [[unlikely]]
      stay_.begin(fiber, told_by(what_));
  }
  control_block& fiber() const noexcept { return fiber_; }
  given_by_t<Op> end() { return awaiter_.await_resume(); }

 private:
  static std::coroutine_handle<> commit_wait(park_request& self, fiber_handle parked) noexcept {
    return static_cast<fiber_wait&>(self).awaiter_.await_suspend(parked) ? std::coroutine_handle<>{} : parked;
  }

  control_block& fiber_;
  limited_operation<Op> what_;
  wait<Op, wait_options> awaiter_;
  stay_for_wait stay_;
};

// How an operation is tried and handed on: one of a word in a register, without its options; a larger one where it was
// made, since a copy of words that were just written costs more than they do.
template <class Op>
using tried = std::conditional_t<sizeof(Op) <= sizeof(std::uintptr_t), Op, Op&>;

// Null: the caller is no fiber, or there is no memory. The options come one by one: as one object they would be put
// together in memory before every try.
template <class Op>
[[gnu::noinline]] fiber_wait<Op>* begin_wait(tried<Op> op, duration::rep until, duration::rep within, stop_level ignore,
                                             call_site at) {
  static_assert(alignof(fiber_wait<Op>) <= 16);
  thread_state& here = this_thread();
  control_block* const fiber = awaiting_fiber(running_fiber(here));
  if (!fiber) [[unlikely]]
    return nullptr;
  void* memory = nullptr;
  try {
    memory = allocate_frame(sizeof(fiber_wait<Op>), here);
  } catch (const std::bad_alloc&) {
    if (stack_moves(fiber)) {
      if constexpr (requires { op.resumed(); }) op.resumed();  // what it has tried is over
      throw;
    }
    return nullptr;
  }
  return ::new (memory) fiber_wait<Op>(*fiber, op, {time_point(duration(until)), duration(within), ignore, at});
}

template <class Op>
[[gnu::noinline]] given_by_t<Op> end_wait(fiber_wait<Op>* wait) {
  struct to_its_end {
    fiber_wait<Op>* wait;
    ~to_its_end() {
      wait->~fiber_wait();
      release_frame(wait, sizeof *wait);
    }
  } in{wait};
  return in.wait->end();
}

// The same where begin_wait() could not: on a plain thread, or on the stack of the caller.
template <class Op>
[[gnu::noinline, gnu::cold]] given_by_t<Op> await_in_place(tried<Op> op, duration::rep until, duration::rep within,
                                                           stop_level ignore, call_site at) {
  limited_operation<Op> what(op, {time_point(duration(until)), duration(within), ignore, at});
  auto awaiter = std::move(what).operator co_await();
  suspend_on(awaiting_fiber(), awaiter);
  return awaiter.await_resume();
}

}  // namespace detail

template <class A>
  requires awaitable<A>
[[gnu::always_inline]] inline typename detail::sync_result<await_result_t<A>>::type await(A&& a) {
  detail::control_block* fiber = detail::running_fiber();
  if (detail::stack_moves(fiber)) [[unlikely]]
    return detail::await_apart<A>(*fiber, std::forward<A>(a));
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

// The same for an operation. Most are possible at once: what a wait needs is made, out of line, only where there is
// one.
template <class Op, class Options>
[[gnu::always_inline]] inline detail::given_by_t<Op> await(primitive::operation<Op, Options>&& what) {
  if constexpr (detail::debug_checks) static_cast<void>(detail::awaiting_fiber());
  const detail::wait_options options(what.options());
  detail::expect_no_lock_to_await(options.at);
  Op&& where_it_is = std::move(what).unwrap();
  detail::tried<Op> op = where_it_is;
  if (detail::spend_budget<detail::price_of<Op>>()) [[unlikely]] {
    const detail::wait_end ended = detail::pause_fiber(options.ignore, options.until.time_since_epoch().count());
    if (ended != detail::wait_end::none) return detail::failure_of_wait<Op>(ended);
  }
  if (op.try_now()) [[likely]]
    return op.take();
  const duration::rep until = options.until.time_since_epoch().count(), within = options.within.count();
  detail::fiber_wait<Op>* const begun = detail::begin_wait<Op>(op, until, within, options.ignore, options.at);
  // What a call gave is moved out of a place of its own: else g++ keeps the result of try_now() in memory, too. Where
  // that is in memory anyway, so may this be.
  if (!begun) [[unlikely]] {
    auto ended = detail::await_in_place<Op>(op, until, within, options.ignore, options.at);
    return detail::given_by_t<Op>(std::move(ended));
  }
  detail::park_fiber(begun->fiber(), static_cast<detail::park_request*>(begun));
  if constexpr (sizeof(Op) > sizeof(std::uintptr_t)) {
    return detail::end_wait(begun);
  } else {
    auto ended = detail::end_wait(begun);
    return detail::given_by_t<Op>(std::move(ended));
  }
}

// The same for a yield, which fibers do most often.
[[gnu::always_inline]] inline waited await(yield&&) {
  if (detail::yield_way way = detail::prepare_yield(); way.own) [[likely]]
    return detail::park_yielding(way);
  detail::control_block* fiber = detail::running_fiber();
  if (detail::stack_moves(fiber)) return detail::await_apart(*fiber, yield{});
  auto pause = yield{}.operator co_await();
  detail::suspend_here(fiber, pause);
  return pause.await_resume();
}

}}  // namespace hocket
