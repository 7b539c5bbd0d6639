// The maintenance of a pool: one coroutine, which begins attempts, looks at idle entries, and reports long leases.
#include <hocket/pool/detail/connection_pool_core.hpp>
#include <hocket/time/within.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <new>
#include <span>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

task<> connection_pool_core::maintain([[maybe_unused]] maintenance_run run) {
  while (!is_copy()) {
    run_maintenance();
    const duration time = time_to_sleep();
    if (time < duration::zero()) co_return;  // closed
    try {
      auto woken = co_await within(time, work_.wait());
      if (!woken && woken.error() == errc::cancelled) co_return;
    } catch (const std::bad_alloc&) {  // the next acquire() spawns another maintenance
      co_return;
    }
  }
}

void connection_pool_core::maintenance_ended() noexcept {
  if (is_copy()) return;
  grants ended;
  {
    const primitive::locked guard(mutex_);
    // ORDER: release, pairs with the load in ensure_maintenance().
    is_maintained_.store(false, std::memory_order_release);
    ticks_ = false;
    fail_waiters(ended, make_error_code(errc::cancelled));
  }
  ended.post();
}

void connection_pool_core::run_maintenance() noexcept {
  const time_point present = now();
  if (begin_round(present)) {
    check_idle(present);
    report_leases(present);
    end_round(present);
  }
  start_attempts();
}

bool connection_pool_core::begin_round(time_point present) noexcept {
  const primitive::locked guard(mutex_);
  if (!ticks_ || present < next_check_) return false;
  ++round_;
  return true;
}

void connection_pool_core::end_round(time_point present) noexcept {
  const primitive::locked guard(mutex_);
  ticks_ = idle_count_ != 0 || (lent_count_ != 0 && options_.report_lease_after != duration::max());
  next_check_ = present + tick;
}

// How long the maintenance may sleep; negative: it ends.
duration connection_pool_core::time_to_sleep() noexcept {
  const time_point present = now();
  const primitive::locked guard(mutex_);
  if (is_closed_) return duration(-1);
  duration time = duration::max();
  if (ticks_) time = std::max(duration::zero(), next_check_ - present);
  const bool is_wanted = may_grow() && (first_without_attempt() || size_ < options_.min_size);
  if (is_wanted && attempts_.empty()) time = std::min(time, std::max(first_back_off / 10, next_try_ - present));
  return time;
}

// --- attempts

// Under the mutex. Attempts without a waiter are adopted by waiters without an attempt; returns the first waiter that
// is left.
waiter* connection_pool_core::first_without_attempt() noexcept {
  auto attempt = attempts_.begin();
  for (waiter& entry : wait_queue_) {
    pool_request& request = request_of(entry);
    if (request.attempt) continue;
    if (orphans_ == 0) return &entry;
    while (attempt->awaited_by) ++attempt;
    attempt->awaited_by = &entry;
    request.attempt = &*attempt;
    --orphans_;
  }
  return nullptr;
}

// Null: none begins now.
pool_attempt* connection_pool_core::next_attempt(time_point present) noexcept {
  const primitive::locked guard(mutex_);
  waiter* const entry = first_without_attempt();
  if (!may_grow() || (!entry && size_ >= options_.min_size)) return nullptr;
  const bool fails = back_off_ != duration{};
  if (fails && (!attempts_.empty() || present < next_try_)) return nullptr;
  auto* const attempt = new (std::nothrow) pool_attempt;
  if (!attempt) return nullptr;
  attempt->awaited_by = entry;
  if (entry) request_of(*entry).attempt = attempt;
  else ++orphans_;
  attempts_.push_back(*attempt);
  ++connecting_, ++size_;
  return attempt;
}

void connection_pool_core::start_attempts() noexcept {
  while (pool_attempt* const attempt = next_attempt(now()))
    start(&connection_pool_core::start_connect, pool_job(*this, *attempt));
}

// --- idle entries

void connection_pool_core::check_idle(time_point present) noexcept {
  while (pool_entry* const entry = take_unchecked(present)) check_entry(*entry, present);
}

// The oldest idle entry that this round has not looked at; null: there is none.
pool_entry* connection_pool_core::take_unchecked(time_point present) noexcept {
  const primitive::locked guard(mutex_);
  if (is_closed_) return nullptr;
  for (pool_entry& entry : idle_) {
    if (entry.round == round_ || present - entry.since < recent) continue;
    entry.round = round_;
    list<pool_entry>::erase(entry);
    --idle_count_, ++returning_;
    return &entry;
  }
  return nullptr;
}

void connection_pool_core::check_entry(pool_entry& entry, time_point present) noexcept {
  if (const counter defect = defect_of(entry, entry.since, present)) return remove(entry, defect, returning_);
  const bool pings = can_ping() && options_.ping_after != duration::max() &&
                     present - std::max(entry.since, entry.verified) >= options_.ping_after;
  if (pings) return start(&connection_pool_core::start_return, pool_job(*this, entry, pool_job::kind::ping));
  make_available(entry, entry.since, present, returning_);
}

// --- reports

// The next lease to be reported, marked; null: there is none.
bool connection_pool_core::next_long_lease(time_point present, lease_report& report) noexcept {
  const primitive::locked guard(mutex_);
  for (pool_entry& entry : lent_) {
    if (entry.is_reported || present - entry.since <= options_.report_lease_after) continue;
    entry.is_reported = true;
    report = {present - entry.since, entry.acquired, entry.holder};
    return true;
  }
  return false;
}

void connection_pool_core::report_leases(time_point present) noexcept {
  if (options_.report_lease_after == duration::max()) return;
  for (lease_report report; next_long_lease(present, report);) {
    const std::source_location site = location_of(report.acquired);
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(report.time).count();
    char text[512];
    std::snprintf(text, sizeof text,
                  "hocket: a connection of the pool \"%s\" has been lent for %lld ms; it was acquired at %s:%u, by a "
                  "coroutine that was spawned at %s:%u",
                  options_.name ? options_.name.c_str() : "", static_cast<long long>(milliseconds), site.file_name(),
                  site.line(), report.holder.file_name(), report.holder.line());
    notice(text);
  }
}

namespace {

void write_site(text_writer& out, const std::source_location& site) noexcept {
  if (site.line() == 0) out.literal("an unknown place");
  else out.path(site.file_name()).literal(":").number(site.line());
}

}  // namespace

// Under the mutex: the first leases; returns the time of the longest of all.
duration connection_pool_core::copy_leases(std::span<lease_report> leases, time_point present) noexcept {
  duration longest{};
  std::size_t rows = 0;
  for (const pool_entry& entry : lent_) {
    const duration time = present - entry.since;
    longest = std::max(longest, time);
    if (rows < leases.size()) leases[rows++] = {time, entry.acquired, entry.holder};
  }
  return longest;
}

// A dump may wait for its reader while it writes. So nothing is written under the mutex.
void connection_pool_core::write(text_writer& out) noexcept {
  out.literal("pool \"").text(options_.name ? options_.name.c_str() : "").literal("\": ");
  std::array<lease_report, 32> leases;
  connection_pool_statistics numbers;
  std::size_t limit = 0;
  if (!mutex_.try_lock()) {
    out.literal("in use").end_line();
    return;
  }
  numbers = numbers_now();
  limit = limit_;
  const duration longest = copy_leases(leases, now());
  mutex_.unlock();
  out.number(numbers.waiters).literal(" waiters, ").number(numbers.lent).literal(" lent, ").number(numbers.idle);
  out.literal(" idle, ").number(numbers.connecting).literal(" connecting, ").number(numbers.returning);
  out.literal(" returning; limit ").number(limit);
  if (numbers.lent != 0) out.literal("; longest lease ").seconds(longest);
  out.end_line();
  const std::size_t rows = std::min(numbers.lent, leases.size());
  for (const lease_report& lease : std::span(leases).first(rows)) {
    out.literal("  lent for ").seconds(lease.time).literal(", acquired at ");
    write_site(out, location_of(lease.acquired));
    out.literal(", by a coroutine spawned at ");
    write_site(out, lease.holder);
    out.end_line();
  }
}

}}}  // namespace hocket::detail
