#include <hocket/coro/spawn.hpp>
#include <hocket/pool/detail/connection_pool_core.hpp>
#include <hocket/time/within.hpp>

#include <algorithm>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

connection_pool_core::connection_pool_core(spawn_target& target, const connection_pool_options& options)
    : target_(target),
      home_(target.home()),
      options_(options),
      limit_(options.limit),
      random_(random_seed()),
      metrics_(*this) {
  expects(options.limit != 0, "a connection pool for no connections", "its limit is at least 1", options.name.c_str());
}

void connection_pool_core::retain() noexcept {
  // ORDER: relaxed, pairs with nothing: the caller has a share.
  shares_.fetch_add(1, std::memory_order_relaxed);
}

void connection_pool_core::release() noexcept {
  if (is_copy()) return;
  // ORDER: acq_rel, pairs with itself: the uses of the other shares are before the end.
  if (shares_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  unlist_section(*this);
  destroy_self();
}

spawn_options connection_pool_core::options_of(literal_name name, duration limit) const noexcept {
  return {.name = name, .within = limit, .stack_size = options_.stack_size, .daemon = true, .location = {}};
}

// --- acquire()

void connection_pool_core::ensure_maintenance() {
  if (is_copy()) return;
  // ORDER: acquire, pairs with the store in maintenance_ended(): a new maintenance begins after the old one's end.
  if (is_maintained_.load(std::memory_order_acquire)) return;
  {
    const primitive::locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: changed under the mutex.
    if (is_closed_ || is_maintained_.load(std::memory_order_relaxed)) return;
    // ORDER: relaxed, pairs with nothing: the spawn orders it before the maintenance.
    is_maintained_.store(true, std::memory_order_relaxed);
  }
  maintenance_run run(*this);
  static_cast<void>(spawn(target_, options_of("pool maintenance", duration::max()), &connection_pool_core::maintain,
                          this, std::move(run)));
}

// Under the mutex, by the coroutine that will hold the entry.
void connection_pool_core::set_holder(pool_entry& entry, call_site site, time_point present) noexcept {
  const strand_state* const coroutine = current_context().coroutine();
  entry.since = present;
  entry.acquired = site;
  entry.holder = coroutine ? coroutine->spawned() : std::source_location();
  entry.is_reported = false;
  if (options_.report_lease_after != duration::max()) begin_ticks(present);
}

void connection_pool_core::record_holder(pool_entry& entry, call_site site) noexcept {
  const time_point present = now();
  const primitive::locked guard(mutex_);
  set_holder(entry, site, present);
}

// The count of a reason why the entry, which was idle since `since`, is not lent; null: there is none.
connection_pool_core::counter connection_pool_core::defect_of(pool_entry& entry, time_point since,
                                                              time_point present) noexcept {
  if (present >= entry.expires || present - since > options_.max_idle) return &connection_pool_statistics::expired;
  if (state_of(entry) != connection_state::idle) return &connection_pool_statistics::dead;
  if (present - since < recent || looks_idle(entry)) return nullptr;
  return &connection_pool_statistics::dead;
}

// An idle entry, lent to the caller; null: there is none, or another waiter is first.
pool_entry* connection_pool_core::pop_lendable(call_site site) noexcept {
  for (;;) {
    const time_point present = now();
    pool_entry* entry = nullptr;
    time_point since;
    {
      const primitive::locked guard(mutex_);
      if (is_closed_ || !wait_queue_.empty() || idle_.empty()) return nullptr;
      entry = &idle_.back();
      since = entry->since;
      list<pool_entry>::erase(*entry);
      lent_.push_back(*entry);
      --idle_count_, ++lent_count_;
      set_holder(*entry, site, present);
    }
    const counter defect = defect_of(*entry, since, present);
    if (!defect) return entry;
    remove(*entry, defect, lent_count_);
  }
}

bool connection_pool_core::try_acquire(pool_request& request, call_site site) noexcept {
  if (is_copy()) {
    request.fail(std::make_error_code(std::errc::connection_aborted));
    return true;
  }
  request.entry = pop_lendable(site);
  if (request.entry) return true;
  const primitive::locked guard(mutex_);
  if (is_closed_) request.fail(make_error_code(errc::closed));
  return is_closed_;
}

void connection_pool_core::begin(suspension& wait, waiter& entry, pool_request& request, call_site site) noexcept {
  retain();
  entry.resource = &request;  // set even if an entry is taken at once: pass_on() reads it
  for (;;) {
    request.entry = pop_lendable(site);
    if (request.entry) {
      if (!wait.take_now(entry, *this)) give_back(*std::exchange(request.entry, nullptr));
      return;
    }
    const primitive::locked guard(mutex_);
    if (wait.decided()) return;
    if (!is_closed_ && wait_queue_.empty() && !idle_.empty()) continue;
    // ORDER: relaxed, pairs with nothing: changed under the mutex.
    if (is_closed_ || !is_maintained_.load(std::memory_order_relaxed)) {
      request.fail(make_error_code(is_closed_ ? errc::closed : errc::cancelled));
      static_cast<void>(wait.take_now(entry, *this));
      return;
    }
    wait_queue_.enlist(wait, *this, entry);
    ++waiters_;
    wake_for_attempt();
    return;
  }
}

// While the ended waiter was linked, an entry may have become idle, and other waiters may have queued behind it.
bool connection_pool_core::detach(waiter& entry) noexcept {
  grants served;
  {
    const primitive::locked guard(mutex_);
    if (!wait_queue::take_out(entry)) return false;
    --waiters_;
    unlink_attempt(entry);
    serve_idle(served);
    wake_for_attempt();
  }
  served.post_in_turn();
  return true;
}

void connection_pool_core::pass_on(waiter& entry) noexcept {
  pool_request& request = request_of(entry);
  if (request.entry) give_back(*std::exchange(request.entry, nullptr));
}

// --- entries, under the mutex

void connection_pool_core::begin_ticks(time_point present) noexcept {
  if (ticks_) return;
  ticks_ = true;
  next_check_ = present + tick;
  work_.set();
}

// In the order of their times; the entry is usually the last one.
void connection_pool_core::push_idle(pool_entry& entry, time_point present) noexcept {
  auto place = idle_.end();
  while (place != idle_.begin()) {
    auto before = place;
    if ((--before)->since <= entry.since) break;
    place = before;
  }
  if (place == idle_.end()) idle_.push_back(entry);
  else idle_.insert_before(*place, entry);
  ++idle_count_;
  begin_ticks(present);
}

// Gives the entry to the first waiter. Empty: there is none.
grant connection_pool_core::serve(pool_entry& entry) noexcept {
  grant granted = wait_queue_.claim_first();
  if (!granted) return granted;
  --waiters_;
  unlink_attempt(granted.entry());
  request_of(granted.entry()).entry = &entry;
  lent_.push_back(entry);
  ++lent_count_;
  wake_for_attempt();
  return granted;
}

void connection_pool_core::serve_idle(grants& served) noexcept {
  while (!idle_.empty() && !wait_queue_.empty()) {
    pool_entry& entry = idle_.pop_back();
    --idle_count_;
    grant granted = serve(entry);
    if (!granted) {
      idle_.push_back(entry);
      ++idle_count_;
      return;
    }
    served.add(std::move(granted));
  }
}

// The waiter no longer needs its attempt.
void connection_pool_core::unlink_attempt(waiter& entry) noexcept {
  pool_attempt* const attempt = std::exchange(request_of(entry).attempt, nullptr);
  if (!attempt) return;
  attempt->awaited_by = nullptr;
  ++orphans_;
}

void connection_pool_core::fail_waiters(grants& ended, std::error_code error) noexcept {
  wait_queue_.claim_all(ended, [&](waiter& entry) {
    --waiters_;
    unlink_attempt(entry);
    request_of(entry).fail(error);
  });
}

void connection_pool_core::wake_for_attempt() noexcept {
  const bool is_wanted = !wait_queue_.empty() || size_ < options_.min_size;
  if (is_wanted && (may_grow() || orphans_ != 0)) work_.set();
}

// After a place became free.
void connection_pool_core::notify_removed() noexcept {
  wake_for_attempt();
  if (is_closed_ && lent_count_ + returning_ == 0) is_empty_.set();
}

// --- entries, without the mutex

// Moves an entry from its place, a count, to the first waiter or to the idle entries. `since`: idle since.
void connection_pool_core::make_available(pool_entry& entry, time_point since, time_point present,
                                          std::size_t& place) noexcept {
  counter cause = nullptr;
  {
    grant granted;
    mutex_.lock();
    const bool is_expired = present >= entry.expires;
    const bool lacks_hook = needs_hook_ && !entry.is_prepared;
    if (!is_closed_ && size_ <= limit_ && !is_expired && !lacks_hook) {
      if (entry.linked()) list<pool_entry>::erase(entry);
      --place;
      entry.since = since;
      granted = serve(entry);
      if (!granted) push_idle(entry, present);
      else entry.since = present;
      mutex_.unlock();
      granted.post();
      return;
    }
    mutex_.unlock();
    if (is_expired) cause = &connection_pool_statistics::expired;
  }
  remove(entry, cause, place);
}

// Destroys an entry in `place`. `cause`: the count to increment; null: none.
void connection_pool_core::remove(pool_entry& entry, counter cause, std::size_t& place) noexcept {
  {
    const primitive::locked guard(mutex_);
    if (entry.linked()) list<pool_entry>::erase(entry);
    if (cause) ++(counts_.*cause);
    --place, --size_;
    notify_removed();
  }
  destroy(entry);
}

void connection_pool_core::destroy_surplus(std::size_t limit) noexcept {
  for (;;) {
    pool_entry* entry = nullptr;
    {
      const primitive::locked guard(mutex_);
      if (size_ <= limit || idle_.empty()) return;
      entry = &idle_.front();
      list<pool_entry>::erase(*entry);
      --idle_count_, --size_;
    }
    destroy(*entry);
  }
}

// --- the end of a lease

void connection_pool_core::give_back(pool_entry& entry) noexcept {
  if (is_copy()) return discard(entry);
  const connection_state state = state_of(entry);
  const bool in_doubt = state != connection_state::idle;
  if (!in_doubt && !has_recycle_hook()) {
    const time_point present = now();
    return make_available(entry, present, present, lent_count_);
  }
  if (state != connection_state::broken && (!in_doubt || can_drain()) && begin_return(entry, in_doubt))
    return start(&connection_pool_core::start_return,
                 pool_job(*this, entry, in_doubt ? pool_job::kind::drain : pool_job::kind::recycle));
  remove(entry, &connection_pool_statistics::dropped, lent_count_);
}

// False: too many drains are under way, or the pool is closed.
bool connection_pool_core::begin_return(pool_entry& entry, bool in_doubt) noexcept {
  const primitive::locked guard(mutex_);
  if (is_closed_ || (in_doubt && draining_ >= options_.max_drains)) return false;
  list<pool_entry>::erase(entry);
  --lent_count_, ++returning_;
  if (in_doubt) ++draining_;
  return true;
}

void connection_pool_core::discard(pool_entry& entry) noexcept {
  if (!is_copy()) return remove(entry, nullptr, lent_count_);
  list<pool_entry>::erase(entry);
  destroy(entry);
}

// --- the pool's own calls

void connection_pool_core::close() noexcept {
  if (is_copy()) return;
  grants ended;
  {
    const primitive::locked guard(mutex_);
    is_closed_ = true;
    fail_waiters(ended, make_error_code(errc::closed));
    work_.set();
    notify_removed();
  }
  ended.post();
  destroy_surplus(0);
}

void connection_pool_core::resize(std::size_t limit) noexcept {
  expects(limit != 0, "a connection pool for no connections", "its limit is at least 1", options_.name.c_str());
  if (is_copy()) return;
  {
    const primitive::locked guard(mutex_);
    limit_ = limit;
    wake_for_attempt();
  }
  destroy_surplus(limit);
}

void connection_pool_core::require_hook() noexcept {
  if (is_copy()) return;
  {
    const primitive::locked guard(mutex_);
    needs_hook_ = true;
  }
  destroy_surplus(0);
  const primitive::locked guard(mutex_);
  wake_for_attempt();
}

connection_pool_statistics connection_pool_core::statistics() const noexcept {
  if (is_copy()) return {};
  const primitive::locked guard(mutex_);
  return numbers_now();
}

// Under the mutex.
connection_pool_statistics connection_pool_core::numbers_now() const noexcept {
  connection_pool_statistics numbers = counts_;
  numbers.size = size_;
  numbers.idle = idle_count_;
  numbers.lent = lent_count_;
  numbers.connecting = connecting_;
  numbers.returning = returning_;
  numbers.waiters = waiters_;
  return numbers;
}

task<shutdown_report> connection_pool_core::graceful_shutdown(shutdown_options options) {
  if (is_copy()) co_return {};
  const connection_pool_statistics before = statistics();
  close();
  static_cast<void>(co_await within(options.drain, is_empty_.wait()));
  const connection_pool_statistics after = statistics();
  const std::size_t held = before.lent + before.returning, remaining = after.lent + after.returning;
  shutdown_report report{.drained = held > remaining ? held - remaining : 0};
  report.remaining = remaining;
  co_return report;
}

}}}  // namespace hocket::detail
