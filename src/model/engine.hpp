// The engine: runs the body once, under the decisions of `choices`, on the memory of `memory`.
//
// ONE STEP. A thread that reaches an operation on an atomic, a futex or a mutex calls arrive(): here, before the
// operation, the engine may switch to another thread (a preemption). When it is switched back to, or if it was not
// switched away from, the operation is performed in one piece. A thread that has just been chosen performs its next
// operation without another decision: a switch there would be the same as not having chosen it.
//
// STATES of a thread
//   ready      declared or in the middle; can be chosen
//   sleeping   in a futex wait on `address`; a wake makes it ready. If no other thread can be chosen, a timed wait
//   times
//              out
//   expiring   in a timed futex wait that will time out: can be chosen, and has timed out then; a wake may be earlier
//   shut_out   waits for mutex `blocked_on`; its unlock makes it ready (and another may be faster)
//   paused     in pause(); can be chosen once the memory has been changed by others since it first looked. If no thread
//              can be chosen at all, each paused one gets one more chance: its last look may have been stale
//   finished
// No thread can be chosen, not all are finished: deadlock, lost wake-up (one sleeps) or livelock (one is paused).
//
// ENDING EARLY. note() records the first bug and sets `abandoning_`; then
//   1. the thread that runs throws `abandoned` from the operation (or its next one), which unwinds it;
//   2. join() enters every started and unfinished thread once more: it wakes up in an operation, which throws;
//   3. join() throws in the body.
// While it unwinds, a thread's operations act plainly on the newest values, so destructors work. It is dropped if it
// would block, if it makes too many operations, or in the terminate handler, which is where the exception ends up when
// it meets a noexcept function. The body's own stack cannot be dropped: there it is a fatal error with the bug's
// message.
//
// Everything here runs on one real thread.
#pragma once
#include "choices.hpp"
#include "memory.hpp"
#include "strand.hpp"
#include "trace.hpp"
#include <hocket/model/detail/explore.hpp>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

struct abandoned {};

// An ordering in the code under test, identified by its source line.
struct ordering {
  site where;
  std::memory_order order;

  bool is(const site& other, std::memory_order requested) const noexcept {
    return order == requested && where.line() == other.line() && where.column() == other.column() &&
           std::string_view(where.file_name()) == other.file_name();
  }
};

class engine {
 public:
  static constexpr std::uint32_t unlimited = ~std::uint32_t{0};
  struct limits {
    std::uint32_t preemptions = unlimited, stale_reads = unlimited, spurious = unlimited;
  };

  engine(const options& bounds, detail::test body);
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  // The engine of the running execution, or null.
  static engine* current() noexcept { return current_; }

  // One execution; an exception of the body passes through. Afterwards `bug_kind`, `describe` and `cut` describe it.
  void execute(const limits& allowed);
  choices& decisions() noexcept { return choices_; }
  bool cut() const noexcept { return cut_; }  // some bound narrowed a decision since the last call of uncut()
  void uncut() noexcept { cut_ = false; }
  bug bug_kind() const noexcept { return kind_; }
  std::uint64_t step_count() const noexcept { return steps_; }
  void describe(report& out) const;

  // From now on: records each requested ordering; performs one ordering as another one.
  void record_orderings(std::vector<ordering>* into) noexcept { orderings_ = into; }
  void weaken(const ordering& from, std::memory_order to) noexcept {
    weakened_ = from;
    weakened_to_ = to;
  }

  // For class execution.
  void declare(const char* name, std::unique_ptr<detail::thread_body> work);
  void join();

  // For the operations of shadow.hpp and explore.hpp.
  void construct(detail::shadow& object);
  void retire(detail::shadow& object) noexcept;
  std::uint64_t load(const detail::shadow& object, std::memory_order order, site where);
  void store(detail::shadow& object, std::uint64_t value, std::memory_order order, site where);
  std::uint64_t rmw_read(detail::shadow& object, std::memory_order order, site where);
  void rmw_write(detail::shadow& object, std::uint64_t value, std::memory_order order, const char* verb, site where);
  bool compare_exchange(detail::shadow& object, std::uint64_t& expected, const detail::exchange_request& request,
                        site where);
  void fence(std::memory_order order, site where);
  void asymmetric_fence(detail::half which, site where);
  void futex_wait(const detail::shadow& word, std::uint64_t expected, site where);
  bool futex_wait_timed(const detail::shadow& word, std::uint64_t expected, site where);
  void futex_wake(const detail::shadow& word, bool all, site where);
  void plain_access(const detail::shadow& object, bool write, site where);
  void lock(detail::shadow& mutex, site where);
  bool try_lock(detail::shadow& mutex, site where);
  void unlock(detail::shadow& mutex, site where);
  void pause(site where);
  [[noreturn]] void require_failed(const char* message, site where);

  std::uint32_t running() const noexcept { return running_; }
  std::uint64_t number() const noexcept { return execution_; }
  // From the terminate handler: does not return if the running thread is being unwound.
  void terminating();

 private:
  static constexpr std::uint32_t body_thread = 0;
  static constexpr std::uint32_t no_thread = max_threads;
  static constexpr std::uint32_t unwinding_steps = 10'000;

  enum class state : std::uint8_t { ready, sleeping, expiring, shut_out, paused, finished };

  struct model_thread {
    const char* name = "";
    std::unique_ptr<detail::thread_body> work;
    std::unique_ptr<strand> stack;  // kept over executions
    state is = state::ready;
    bool started = false;
    bool unwinding = false;
    std::uint32_t unwound = 0;                // operations since
    bool timed = false;                       // sleeping or expiring: there is a limit
    bool timed_out = false;                   // how the last timed wait ended
    const detail::shadow* address = nullptr;  // sleeping or expiring
    std::uint32_t blocked_on = 0;             // the mutex, or the word slept on
    std::vector<std::uint32_t> looked_at;     // locations read since the last pause
    std::uint64_t seen = 0;                   // changes by others, when it first looked
    std::uint64_t own_changes = 0;
    std::uint64_t chance_at = 0;  // changes_ + 1 when it had its last chance; 0: never
  };

  // engine.cpp: the course of an execution.
  void reset(const limits& allowed);
  void run_loop();
  void run(std::uint32_t thread);
  static void job(void* self);
  void run_work(model_thread& thread);
  void escaped(const char* message);
  void unwind_threads();
  void discard_threads() noexcept;

  // scheduling.cpp
  void arrive();
  void leave();
  void maybe_preempt();
  bool can_run(const model_thread& thread) const noexcept;
  std::uint32_t pick();
  std::uint32_t choose_among(const std::array<std::uint32_t, max_threads>& ready, std::uint32_t count);
  void prepare(std::uint32_t thread);
  void report_stuck();
  std::uint32_t decide(decision kind, std::uint32_t options, std::uint32_t& used, std::uint32_t allowed);
  std::uint64_t changes_by_others(const model_thread& thread) const noexcept { return changes_ - thread.own_changes; }
  void block(state reason);
  bool must_sleep(std::uint32_t id, std::uint64_t expected, site where);
  void sleep(const detail::shadow& word, std::uint32_t id, state reason, bool timed);

  void record_bug(bug kind, std::string message);
  void fail(bug kind, std::string message);  // returns only while unwinding
  void unwind_step();
  void give_up();

  // operations.cpp
  std::uint32_t open(const detail::shadow& object, site where);
  std::uint32_t attach(const detail::shadow& object, bool shared_before);
  std::uint32_t choose_failure(std::uint32_t id, std::uint64_t expected, std::memory_order order);
  std::uint32_t find(const detail::shadow* word) const noexcept;
  void check(const conflict& race, std::uint32_t id, const char* access);
  std::memory_order granted(std::memory_order requested, const site& where) const;
  void looked(std::uint32_t id);
  void changed(bool really);
  void add(step done);
  std::string called(std::uint32_t id) const { return '`' + name_of(memory_, id) + '`'; }
  model_thread& self() noexcept { return threads_[running_]; }

  static inline engine* current_ = nullptr;
  static inline std::uint64_t last_execution_ = 0;

  // Constant.
  const options bounds_;
  const detail::test body_;

  // Over executions.
  choices choices_;
  std::vector<ordering>* orderings_ = nullptr;
  ordering weakened_{{}, std::memory_order_relaxed};  // relaxed: none
  std::memory_order weakened_to_ = std::memory_order_relaxed;
  bool cut_ = false;

  // Of the present execution.
  std::uint64_t execution_ = 0;
  limits allowed_, used_;
  memory memory_;
  trace trace_;
  std::array<model_thread, max_threads> threads_;
  std::uint32_t count_ = 1;   // threads declared, with the body
  std::uint32_t joined_ = 1;  // below: finished and joined
  std::uint32_t running_ = body_thread;
  std::uint32_t next_ = no_thread;  // chosen by a preemption
  bool fresh_ = false;              // the running thread has just been chosen
  bool abandoning_ = false;
  std::uint64_t steps_ = 0;
  std::uint64_t changes_ = 0;  // stores that changed a value, and unlocks
  std::uint64_t before_update_ = 0;
  bug kind_ = bug::none;
  std::string message_, path_;
};

}}}  // namespace hocket::model
