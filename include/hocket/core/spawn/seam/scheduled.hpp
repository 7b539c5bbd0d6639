// A scheduled coroutine: the object that spawn allocates, for every kind of coroutine.
//
// It holds all state from the spawn to the last reference: the state of its strand, with its context and stop source
// (core/wait/seam/strand_state.hpp), the link to its target, its end, and (in scheduled_result) its result. The frame
// or stack is released at the end of the coroutine; this object stays for the join_handle.
//
// # References (the count of the context)
//
// The running coroutine and its join_handle share one reference. The later of the coroutine's end and the handle's
// destruction releases it. Every context below holds one. So after step 2 of the end (below) the run does not touch the
// object, unless the handle was dropped before.
//
// # Joining
//
// One word decides which waiter is granted at the end:
//
//   open      it runs, nothing waits           -> waiting (join) | stopped | dropped (handle destroyed) | ended
//   waiting   the address of the joiner's waiter -> open (the joiner's wait ends) | ended (and the waiter is granted)
//   stopped   as open: a stop has ended the joiner's wait before its waiter was published -> open (join) | ended
//   dropped   no join is possible any more     -> ended
//   ended     final
//
// A join commits first (core/wait/seam/suspension.hpp), although it publishes by a compare-exchange and not under a
// lock. The word itself orders the two: a stop before the waiter is published leaves the mark `stopped` in detach(),
// and join() then does not publish. There is one joiner at a time, so the mark is unambiguous.
//
// If no handle receives an exception, the later of the coroutine's end and the handle's destruction passes it to
// on_unhandled (step 3 below, or drop_handle() if the result was not taken).
//
// # Thread safety
//
// - Constant: the context, target, home (the start's, in the runnable).
// - The coroutine's own thread: its strand_state, begun_, foreign_, the registry's links.
// - Written before `ended`, read after it: ending_, error_, unhandled_ and the result.
// - The owner of the handle: taken_.
// - Any thread: request(), the join word.
//
// # The end: finish(), on the home executor, off the coroutine's stack
//
// 1. It leaves its registry, and its parent's stop source: no stop of a parent arrives any more.
// 2. The join word becomes `ended`, and a waiting joiner is granted.
// 3. If the handle was dropped, an exception is passed to on_unhandled, and the reference is released.
// 4. The target's leave() is called. The target may be destroyed from then on.
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

// At check level `debug`: the thread or coroutine that owns the coroutine's batch.
template <bool checks>
struct batch_mark {
  // ORDER: relaxed, pairs with nothing: only the writing code needs the value.
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

// A base class, so that it uses the last byte of the strand's state.
struct begun_mark {
  bool begun_ = false;
};

class scheduled : public strand_state, private begun_mark, public list_node, private runnable {
 public:
  spawn_target& target() const noexcept { return target_; }
  executor& home() const noexcept { return *runnable::home; }
  // On the thread of its home: the present activity.
  activity state() const noexcept;
  const void* spawned_by() const noexcept { return caller_; }  // an address in the code that called spawn
  // Called by its own code: a foreign wait begins, or is over.
  void waits_for_foreign(bool waits) noexcept {
    // ORDER: relaxed, pairs with the load in state(): a number for dumps, which read it while the threads are stopped.
    foreign_.fetch_add(waits ? 1 : ~std::uint32_t{0}, std::memory_order_relaxed);
  }

  // --- for the kinds (fiber/spawn.hpp, coro/spawn.hpp)
  // 1. On the spawning thread. False: it is refused, has ended, and the handle reports the error; call nothing else.
  [[nodiscard]] bool enroll() noexcept;
  // 2. Posts the coroutine. Or, if it cannot start, withdraw() takes the enrolment back.
  void launch(std::coroutine_handle<> start) noexcept;
  void launch_at(executor& first, std::coroutine_handle<> start) noexcept;  // `first` resumes it once for its home
  void withdraw() noexcept;
  // Or, by a batch, instead of both: returns the entry to post later, after the batch has enrolled.
  runnable& enter_batch(std::coroutine_handle<> start, const void* caller) noexcept;
  // Then, before the post, or if the batch is refused. refuse() ends the coroutine and destroys its callable; the
  // object may be destroyed afterwards.
  static void leave_batch(runnable& collected) noexcept;
  static void refuse(runnable& collected, std::error_code why) noexcept;
  // 3. At its first run, on the thread of its home. False: it was killed or refused, and must not run.
  [[nodiscard]] bool begin() noexcept;
  // For a coroutine that was resumed where it cannot run: posts it to its home again.
  void post_again(std::coroutine_handle<> parked) noexcept;
  // After the body: it returned, or (in a catch (...)) threw.
  void succeed() noexcept {
    expect_unwound();
    ending_ = outcome_kind::value;
  }
  void fail() noexcept;
  // See above; the object may be destroyed afterwards.
  void finish() noexcept;

  // --- for join_handle
  bool ended() const noexcept {
    // ORDER: acquire, pairs with the exchange in finish().
    return joiner_.load(std::memory_order_acquire) == over;
  }
  bool join(suspension& wait, waiter& entry) noexcept;  // for waits that commit first
  wait_source& as_source() noexcept { return *this; }
  void drop_handle() noexcept;  // the object may be destroyed afterwards
  outcome_kind ending() const noexcept { return ending_; }
  const std::exception_ptr& error() const noexcept { return error_; }  // if ending() is outcome_kind::exception
  void take_result() noexcept {                                        // once
    expects(!taken_, "a join_handle was awaited twice", "the first await took the result: keep that, or spawn again",
            name());
    taken_ = true;
  }
  std::error_code refusal() const noexcept { return refusal_; }  // if ending() is outcome_kind::refused

 protected:
  // `maker`: the context of the spawning code, which gives the bindings.
  scheduled(spawn_target& target, coroutine_kind kind, const spawn_options& options, disposer dispose,
            const context& maker = current_context()) noexcept;
  ~scheduled() {
    if (ending_ == outcome_kind::exception) error_.~exception_ptr();
    if (room_) [[unlikely]]
      release_room();  // stored by a task that a foreign coroutine awaited in this context, and that ended later
  }

 private:
  static constexpr std::uintptr_t open = 0, over = 1, dropped = 2, stopped = 3;  // greater: a waiter

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
    unhandled_handler unhandled_;   // afterwards: of the target, if an exception has left the body
  };
  union {
    std::error_code refusal_;   // set by enroll() or refuse(); until it begins
    std::exception_ptr error_;  // if an exception has left the body
  };
  registry* listed_ = nullptr;  // the registry that lists it
  atomic<std::uintptr_t> joiner_{open};
  [[no_unique_address]] batch_mark<debug_checks> batch_owner_;
  atomic<std::uint32_t> foreign_{0};  // foreign waits under way, also of its eager bodies and forks
  bool taken_ = false;
  outcome_kind ending_ = outcome_kind::none;  // last: members of derived classes follow it
};

// The coroutine of a strand. Null gives null. No cost, since both have one address.
inline scheduled* scheduled_of(strand_state* strand) noexcept { return static_cast<scheduled*>(strand); }

// A scheduled coroutine with its result, for the join_handle<T>. The result exists if the coroutine ended with
// outcome_kind::value.
template <class T>
class scheduled_result : public scheduled {
  using stored = std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>;

 public:
  // Called before succeed(). Constructs the result of call() in its place.
  template <class F>
  void store_result(F&& call) {
    if constexpr (std::is_reference_v<T>) {
      auto&& referent = call();
      slot_.value = std::addressof(referent);
    } else {
      ::new (const_cast<void*>(static_cast<const void*>(std::addressof(slot_.value)))) T(call());
    }
  }
  // The result, to move from. It stays there.
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
