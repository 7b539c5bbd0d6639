#include <hocket/base/error.hpp>
#include <hocket/base/fatal.hpp>
#include <hocket/base/seam/forks.hpp>
#include <hocket/core/parker.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/primitive.hpp>
#include <hocket/runtime/blocking_pool.hpp>
#include <hocket/runtime/detail/blocking_job.hpp>
#include <hocket/runtime/detail/signal_count.hpp>

#include "runtime/platform/thread_name.hpp"
#include "runtime/system_thread.hpp"

#include <memory>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

struct blocking_pool::thread : list_node {
  explicit thread(std::size_t number) noexcept : index(number) {}
  const std::size_t index;
  futex_parker park;
  bool asleep = false;  // in the stack of idle threads
  system_thread system;
};

// The queue of calls, and the threads that run them.
struct blocking_pool::state final : wait_source {
  explicit state(const blocking_pool_options& options) : limits(options) { idle.reserve(options.threads); }

  waiter* take() noexcept {  // the first queued call; null: none
    if (calls.empty()) return nullptr;
    --queued;
    return &calls.pop_front();
  }
  const char* what() const noexcept override { return "a blocking call"; }
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  const blocking_pool_options limits;
  const std::uint32_t forks = forks_so_far();  // at construction
  blocking_pool* of_parent = nullptr;  // the pool of the process in a forked child: never destroyed, and no leak
  mutable thread_mutex mutex;
  // Under the mutex:
  wait_queue calls;
  std::size_t queued = 0;    // length of `calls`
  std::size_t starting = 0;  // threads that were started or woken for a queued call and have not taken one yet
  std::size_t next_index = 0;
  std::uint64_t begun = 0;
  std::uint64_t refused = 0;
  bool closing = false;
  bool immortal = false;      // never destroyed; set before the first thread starts
  std::vector<thread*> idle;  // a stack: the thread that fell asleep last is woken first
  list<thread> threads;
  std::unique_ptr<thread> ended;  // the thread that ended last, to be joined

  atomic<std::size_t> references{1};  // one of the pool, one of each wait
  atomic<std::uint32_t> running{0};   // number of threads; changes under the mutex, and the destructor sleeps on it
};

namespace {

detail::blocking_job& job_of(waiter& entry) noexcept { return *static_cast<detail::blocking_job*>(entry.resource); }

const blocking_pool_options& checked(const blocking_pool_options& options) {
  if (options.threads == 0 || options.threads > blocking_pool::max_threads)
    throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                            "a blocking_pool needs at least 1 thread, and takes 4,096 at most");
  return options;
}

constinit atomic<blocking_pool*> pool_of_process{nullptr};

// The executor of the thread that begins a call. Inside a blocking call: the executor that waits for that call.
const executor* caller() noexcept {
  const thread_state& current = this_thread();
  if (current.serves) return current.serves;
  return current.binding.pool ? current.binding.pool : current.binding.running_on;
}

// On a thread of the pool. False: the call's wait has ended already, so the call does not run.
bool run_call(waiter& entry, const wait_source& source) noexcept {
  detail::blocking_job& job = job_of(entry);
  grant won = entry.claim_popped();
  if (!won) return false;
  waiter& granted = won.defer(source);
  this_thread().serves = job.caller;
  job.run(job);
  this_thread().serves = nullptr;
  granted.deferred().post();
  return true;
}

}  // namespace

blocking_pool::blocking_pool(const blocking_pool_options& options) : state_(new state(checked(options))) {}

// --- the pool of the process

// Replaces `expected` by a new pool. Returns the pool that was installed before; if that is not `expected`, nothing
// changes.
blocking_pool* blocking_pool::install_for_process(const blocking_pool_options& options, blocking_pool* expected) {
  auto pool = std::make_unique<blocking_pool>(options);
  pool->state_->immortal = true;
  pool->state_->of_parent = expected;
  // ORDER: release, pairs with the loads in process_pool(): they find a constructed pool; relaxed on failure: an
  // address.
  if (pool_of_process.compare_exchange_strong(expected, pool.get(), std::memory_order_release,
                                              std::memory_order_relaxed))
    static_cast<void>(pool.release());
  return expected;
}

blocking_pool& blocking_pool::process_pool() {
  // ORDER: acquire, pairs with the compare-exchange in install_for_process().
  blocking_pool* seen = pool_of_process.load(std::memory_order_acquire);
  while (!seen || seen->is_copy_in_child()) {
    install_for_process(seen ? seen->state_->limits : blocking_pool_options{}, seen);
    // ORDER: acquire, pairs with the compare-exchange in install_for_process().
    seen = pool_of_process.load(std::memory_order_acquire);
  }
  return *seen;
}

blocking_pool* blocking_pool::process_pool_if_any() noexcept {
  // ORDER: acquire, pairs with the compare-exchange in install_for_process().
  blocking_pool* const seen = pool_of_process.load(std::memory_order_acquire);
  return seen && !seen->is_copy_in_child() ? seen : nullptr;
}

blocking_pool& blocking_pool::make_process_pool(const blocking_pool_options& options) {
  // ORDER: acquire, pairs with the compare-exchange in install_for_process().
  blocking_pool* const seen = pool_of_process.load(std::memory_order_acquire);
  blocking_pool* const of_parent = seen && seen->is_copy_in_child() ? seen : nullptr;
  if (install_for_process(options, of_parent) != of_parent)
    throw std::logic_error("hocket: the blocking_pool of the process exists: make it before its first use");
  return process_pool();
}

bool blocking_pool::is_copy_in_child() const noexcept { return state_->forks != forks_so_far(); }

void blocking_pool::expect_threads() const noexcept {
  expects(!is_copy_in_child(), "a blocking_pool was used in a child of the process that made it",
          "fork() takes no threads along: make another pool in the child", state_->limits.name.c_str());
}

blocking_pool::counts blocking_pool::statistics() const noexcept {
  expect_threads();
  const state& all = *state_;
  const locked guard(all.mutex);
  // ORDER: relaxed, pairs with nothing: it changes under the mutex.
  return {all.running.load(std::memory_order_relaxed), all.idle.size(), all.queued, all.begun, all.refused};
}

// --- a call

blocking_pool::state* blocking_pool::enqueue(suspension& wait, waiter& entry, detail::blocking_job& job) noexcept {
  expect_threads();
  state& all = *state_;
  if (wait.stopped_before()) return nullptr;
  job.caller = caller();
  entry.resource = &job;
  const locked guard(all.mutex);
  // ORDER: relaxed, pairs with nothing: the pool holds a reference.
  all.references.fetch_add(1, std::memory_order_relaxed);
  if ((job.refusal = admit_call())) {
    [[maybe_unused]] const bool granted = wait.take_now(entry, all);
    return &all;
  }
  all.calls.enlist(wait, all, entry);
  ++all.queued;
  return &all;
}

// Called by a wait that has ended, and by the pool.
void blocking_pool::release(state* shared) noexcept {
  // ORDER: acq_rel, pairs with itself: the other owners' accesses happen before the deletion.
  if (shared->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete shared;
}

// Under the mutex, before a call is queued: wakes or starts a thread for it. Without one, the call may wait in the
// queue if that has space.
std::error_code blocking_pool::admit_call() noexcept {
  state& all = *state_;
  if (all.closing) return make_error_code(errc::cancelled);
  if (all.queued < all.starting || wake_thread() || start_thread()) return {};
  // ORDER: relaxed, pairs with nothing: it changes under the mutex.
  const bool hopeless = all.running.load(std::memory_order_relaxed) == 0;
  if (!hopeless && all.queued - all.starting < all.limits.queue) return {};
  ++all.refused;
  return make_error_code(errc::full);
}

bool blocking_pool::state::detach(waiter& entry) noexcept {
  const locked guard(mutex);
  if (!calls.take_out(entry)) return false;
  --queued;
  return true;
}

// --- threads

// Under the mutex.
bool blocking_pool::wake_thread() noexcept {
  state& all = *state_;
  if (all.idle.empty()) return false;
  thread& chosen = *all.idle.back();
  all.idle.pop_back();
  chosen.asleep = false;
  ++all.starting;
  chosen.park.wake();
  return true;
}

// Under the mutex, which the new thread locks first. False: the limit is reached, or the system has no thread.
bool blocking_pool::start_thread() noexcept {
  state& all = *state_;
  // ORDER: relaxed, pairs with nothing: it changes under the mutex.
  const std::uint32_t running = all.running.load(std::memory_order_relaxed);
  if (running >= all.limits.threads) return false;
  try {
    auto started = std::make_unique<thread>(all.next_index);
    started->system = system_thread([this, self = started.get()] { run(*self); });
    all.threads.push_back(*started.release());
  } catch (...) {  // bad_alloc, or the system has no more threads
    return false;
  }
  ++all.next_index;
  ++all.starting;
  // ORDER: relaxed, pairs with nothing: it changes under the mutex.
  all.running.store(running + 1, std::memory_order_relaxed);
  return true;
}

void blocking_pool::run(thread& self) noexcept {
  state& all = *state_;
  std::optional<exit_hook_scope>
      ending;  // without it, the registered hook keeps the library of a detached thread loaded
  if (!all.immortal) ending.emplace();
  name_this_thread(all.limits.name.c_str(), self.index);
  set_mask_of_library_thread();
  call(all.limits.on_start, self.index);
  all.mutex.lock();
  --all.starting;
  for (;;) {
    if (waiter* next = all.closing ? nullptr : all.take()) {
      ++all.begun;
      all.mutex.unlock();
      const bool ran = run_call(*next, all);
      all.mutex.lock();
      if (!ran) --all.begun;
    } else if (all.closing || !sleep(self)) {
      break;
    }
  }
  end(self);
}

// Under the mutex, which it releases while it sleeps. False: no call arrived within the idle time.
bool blocking_pool::sleep(thread& self) noexcept {
  state& all = *state_;
  all.idle.push_back(&self);  // reserved
  self.asleep = true;
  const time_point until = deadline_after(steady_clock().now(), all.limits.idle);
  bool late = false;
  while (self.asleep && !late) {
    all.mutex.unlock();
    late = !self.park.park(until) && steady_clock().now() >= until;
    all.mutex.lock();
  }
  if (!self.asleep) {
    --all.starting;
    return true;
  }
  std::erase(all.idle, &self);
  return false;
}

// Called under the mutex; releases it. The hook runs after that, when no call relies on the thread any more. The pool,
// its state and `self` live until the thread is joined.
void blocking_pool::end(thread& self) noexcept {
  state& all = *state_;
  list<thread>::erase(self);
  std::unique_ptr<thread> finished(&self);
  if (all.immortal) finished->system.detach();  // no thread would join the last one
  else std::swap(finished, all.ended);
  // ORDER: relaxed, pairs with nothing: it changes under the mutex, and the destructor locks that afterwards.
  all.running.fetch_sub(1, std::memory_order_relaxed);
  futex_wake_all(all.running);
  all.mutex.unlock();
  call(all.limits.on_stop, self.index);
  if (finished && finished->system.joinable()) join(finished->system);
}

void blocking_pool::call(blocking_hook hook, std::size_t index) noexcept {
  try {
    if (hook) hook(index);
  } catch (...) {
    fatal("a hook of a blocking_pool's thread threw", "catch what it throws in the hook", state_->limits.name.c_str());
  }
}

// --- the end

blocking_pool::~blocking_pool() {
  if (is_copy_in_child()) return;
  state& all = *state_;
  all.mutex.lock();
  for (const thread& member : all.threads)
    expects(!is_current(member.system), "a blocking_pool was destroyed by one of its own calls",
            "it would wait for itself: destroy it on another thread", all.limits.name.c_str());
  all.closing = true;
  while (wake_thread()) {
  }
  while (waiter* pending = all.take()) {
    all.mutex.unlock();
    job_of(*pending).refusal = make_error_code(errc::cancelled);
    pending->claim_popped().post();
    all.mutex.lock();
  }
  all.mutex.unlock();
  // ORDER: relaxed, pairs with nothing: the lock below orders the work of the threads.
  while (const std::uint32_t running = all.running.load(std::memory_order_relaxed)) futex_wait(all.running, running);
  all.mutex.lock();  // the thread that ended last has released it
  all.mutex.unlock();
  if (all.ended) join(all.ended->system);
  release(state_);
}

}}  // namespace hocket
