// A scheduled coroutine: what spawn allocates for it, whatever its kind.
//
// One object is everything that is known of the coroutine from spawn to the last reference: the state of its strand,
// with its context and stop source (core/wait/seam/strand_state.hpp), the link to its target, how it ended, and (in
// scheduled_result) its result. The frame or stack of the coroutine is gone when it has ended; this object stays for
// the join_handle.
//
// References (the context's count): the run and the join_handle hold one together, which whoever comes last of the end
// and the drop of the handle gives up; every context below holds one. So from its end on (2. below) the run leaves the
// object alone, unless the handle has been dropped before.
//
// Joining. One word says who is told of the end:
//
//   open      it runs, nobody waits             -> waiting (join) | stopped | dropped (handle gone) | ended
//   waiting   the address of the joiner's waiter -> open (the joiner gives up) | ended (and the waiter is granted)
//   stopped   as open: a stop has ended the joiner's wait before its waiter was published -> open (join) | ended
//   dropped   nobody can ask any more           -> ended
//   ended     final
//
// A join commits first (core/wait/seam/suspension.hpp), although it publishes by a compare-exchange and not under a
// lock. The word itself orders the two: a stop before the waiter is published leaves the mark `stopped` in
// detach(), and join() then does not publish. There is one joiner at a time, so the mark can mean no other.
//
// An exception is received by the handle, or nobody: by whichever comes last of the end and the drop of the handle, it
// goes to on_unhandled (3. below, or drop_handle() if nothing was taken).
//
// Who may touch what. Constant: the context, target, home (the start's, in the runnable). The coroutine's own thread:
// its strand_state, begun_, foreign_, the registry's links. Written before `ended`, read after it: ending_,
// error_, unhandled_ and the result. The handle's owner: taken_. Any thread: request(), the join word.
//
// The end, as numbered steps (finish(), on the home executor, off the coroutine's stack):
//   1. it is taken out of its registry, and leaves its parent's stop source: no stop reaches it from above any more;
//   2. the join word becomes `ended`, and a waiting joiner is granted;
//   3. if the handle is gone, an exception goes to on_unhandled, and the reference is given up;
//   4. the target is told (it may be destroyed from then on).
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/core/spawn/seam/return_slot.hpp>
#include <hocket/core/spawn_options.hpp>
#include <hocket/core/spawn_target.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/core/wait/seam/suspension.hpp>
#include <hocket/core/wait/seam/unwind.hpp>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

enum class activity : std::uint8_t { unstarted, ready, waiting, waiting_foreign, ended };

class registry;

// At check level `debug`: the thread or coroutine that has the coroutine's batch.
template <bool checks>
struct batch_mark {
  // ORDER: relaxed, pairs with nothing: it matters to the code alone that has written it.
  void set(const void* holder) noexcept { holder_.store(holder, std::memory_order_relaxed); }
  const void* get() const noexcept { return holder_.load(std::memory_order_relaxed); }  // ORDER: relaxed, as above

 private:
  atomic<const void*> holder_{nullptr};
};
template <>
struct batch_mark<false> {
  void set(const void*) noexcept {}
  static const void* get() noexcept { return nullptr; }
};

// A base, so that it lies in the last byte of the strand's state.
struct begun_mark {
  bool begun_ = false;
};

class scheduled : public strand_state, private begun_mark, public list_node, private runnable {
 public:
  spawn_target& target() const noexcept { return target_; }
  executor& home() const noexcept { return *runnable::home; }
  // On the thread of its home: what it is doing.
  activity state() const noexcept;
  const void* spawned_by() const noexcept { return caller_; }  // an address in the code that called spawn
  // By its own code: a wait for a foreign awaitable begins, or is over.
  void waits_for_foreign(bool waits) noexcept {
    // ORDER: relaxed, pairs with the load in state(): a number for those who look while its threads stand still.
    foreign_.fetch_add(waits ? 1 : ~std::uint32_t{0}, std::memory_order_relaxed);
  }

  // --- for the kinds (fiber/spawn.hpp, coro/spawn.hpp)
  // 1. On the spawning thread. False: it is refused, has ended, and the handle tells so; nothing else is to be called.
  [[nodiscard]] bool enroll() noexcept;
  // 2. Posts it; or takes the enrolment back, if it cannot be started.
  void launch(std::coroutine_handle<> start) noexcept;
  void launch_at(executor& first, std::coroutine_handle<> start) noexcept;  // one that resumes it for its home, once
  void withdraw() noexcept;
  // Or, by a batch, instead of both: what is to be posted later, when it has enrolled with others.
  runnable& enter_batch(std::coroutine_handle<> start, const void* caller) noexcept;
  // Then, before it is posted; or if it is refused: ends it, and gives up its callable (it may be gone afterwards).
  static void leave_batch(runnable& collected) noexcept;
  static void refuse(runnable& collected, std::error_code why) noexcept;
  // 3. At its first run, on the thread of its home. False: it was killed, or refused, and must not run.
  [[nodiscard]] bool begin() noexcept;
  // It was resumed where it cannot go on: to the queue of its home again.
  void post_again(std::coroutine_handle<> parked) noexcept;
  // After the body: it returned, or (in a catch (...)) something left it.
  void succeed() noexcept {
    expect_unwound();
    ending_ = outcome_kind::value;
  }
  void fail() noexcept;
  // See above; the object may be gone afterwards.
  void finish() noexcept;

  // --- for join_handle
  bool ended() const noexcept {
    // ORDER: acquire, pairs with the exchange in finish().
    return joiner_.load(std::memory_order_acquire) == over;
  }
  bool join(suspension& wait, waiter& entry) noexcept;  // for waits that commit first
  wait_source& as_source() noexcept { return *this; }
  void drop_handle() noexcept;  // the object may be gone afterwards
  outcome_kind ending() const noexcept { return ending_; }
  const std::exception_ptr& error() const noexcept { return error_; }  // if ending() is outcome_kind::exception
  void take_result() noexcept {                                        // once
    expects(!taken_, "a join_handle was awaited twice", "the first await took the result: keep that, or spawn again",
            name());
    taken_ = true;
  }
  std::error_code refusal() const noexcept { return refusal_; }  // if ending() is outcome_kind::refused

 protected:
  // `maker`: whose bindings it has; the code that spawns it.
  scheduled(spawn_target& target, coroutine_kind kind, const spawn_options& options, disposer dispose,
            const context& maker = current_context()) noexcept;
  ~scheduled() {
    if (ending_ == outcome_kind::exception) error_.~exception_ptr();
    if (room_) [[unlikely]]
      release_room();  // of a task that a foreign coroutine awaited in its context, and that has ended later
  }

 private:
  static constexpr std::uintptr_t open = 0, over = 1, dropped = 2, stopped = 3;  // more: a waiter

  void expect_unwound() const noexcept {
    expects(!unwinding(), "a coroutine swallowed the exception that unwinds it",
            "a catch (...) in its body must rethrow: catch the types that you handle", name());
  }
  const char* what() const noexcept override { return "the end of a coroutine"; }
  const char* subject() const noexcept override { return name(); }
  const void* holder() const noexcept override { return this; }
  bool is_late() const noexcept;
  void store_error() noexcept;
  void release_room() noexcept;
  runnable& prepare(std::coroutine_handle<> start, const void* caller) noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] void notify_creation() const noexcept;
  void expect_not_in_own_batch() const noexcept;
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  spawn_target& target_;
  union {
    const void* caller_ = nullptr;  // until it has ended
    unhandled_handler unhandled_;   // then, of the target, if an exception has left it
  };
  union {
    std::error_code refusal_;   // made by enroll() or refuse(); until it begins
    std::exception_ptr error_;  // if an exception has left it
  };
  registry* listed_ = nullptr;  // where it is listed
  atomic<std::uintptr_t> joiner_{open};
  [[no_unique_address]] batch_mark<debug_checks> batch_owner_;
  atomic<std::uint32_t> foreign_{0};  // waits under way, its own and those of its eager bodies and forks
  bool taken_ = false;
  outcome_kind ending_ = outcome_kind::none;  // last: what is derived has its first bytes behind it
};

// The coroutine of a strand. Null of null: there is no cost, since both have one address.
inline scheduled* scheduled_of(strand_state* strand) noexcept { return static_cast<scheduled*>(strand); }

// With its result, for the join_handle<T>. There is one if the coroutine ended with outcome_kind::value.
template <class T>
class scheduled_result : public scheduled {
  using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

 public:
  // Before succeed(): the result is what call() returns, constructed in its place.
  template <class F>
  void store_result(F&& call) {
    if constexpr (std::is_reference_v<T>) {
      auto&& referent = call();
      slot_.value = std::addressof(referent);
    } else {
      ::new (const_cast<void*>(static_cast<const void*>(std::addressof(slot_.value)))) T(call());
    }
  }
  // To be moved from; it stays there.
  T&& result() noexcept {
    if constexpr (std::is_reference_v<T>) return static_cast<T&&>(*slot_.value);
    else return std::move(slot_.value);
  }

 protected:
  using scheduled::scheduled;
  ~scheduled_result() {
    if (ending() == outcome_kind::value) slot_.value.~stored();
  }

 private:
  union slot {
    slot() noexcept {}
    ~slot() {}
    stored value;
  };
  slot slot_;
};

template <>
class scheduled_result<void> : public scheduled {
 public:
  template <class F>
  void store_result(F&& call) {
    call();
  }

 protected:
  using scheduled::scheduled;
  ~scheduled_result() = default;
};

}  // namespace detail

}}  // namespace hocket
