// The jobs of a pool: attempts to connect, and returns of connections; and the tokens of its coroutines.
#include <hocket/pool/detail/connection_pool_core.hpp>

#include <algorithm>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The job ends with an error if its coroutine cannot be spawned.
void connection_pool_core::start(void (connection_pool_core::*stage)(pool_job), pool_job job) noexcept {
  try {
    (this->*stage)(std::move(job));
  } catch (...) {  // bad_alloc; the job has ended
  }
}

void connection_pool_core::connected(pool_attempt& attempt, pool_entry& entry) noexcept {
  const time_point present = now();
  {
    const primitive::locked guard(mutex_);
    list<pool_attempt>::erase(attempt);
    if (attempt.awaited_by) request_of(*attempt.awaited_by).attempt = nullptr;
    else --orphans_;
    ++counts_.connects;
    entry.expires = end_of_life(present);
    entry.verified = present;
    if (std::exchange(back_off_, duration{}) != duration{}) work_.set();
  }
  delete &attempt;
  make_available(entry, present, present, connecting_);
}

void connection_pool_core::connect_failed(pool_attempt& attempt, std::error_code error) noexcept {
  const time_point present = now();
  grant granted;
  {
    const primitive::locked guard(mutex_);
    list<pool_attempt>::erase(attempt);
    --connecting_, --size_;
    record_failure(error, present);
    if (waiter* const entry = attempt.awaited_by) {
      pool_request& request = request_of(*entry);
      request.attempt = nullptr;
      granted = entry->claim();
      if (granted) {
        wait_queue::erase(*entry);
        --waiters_;
        request.fail(error);
      }
    } else {
      --orphans_;
    }
    notify_removed();
  }
  delete &attempt;
  granted.post();
}

void connection_pool_core::record_failure(std::error_code error, time_point present) noexcept {
  ++counts_.failed_connects;
  counts_.last_error = error;
  back_off_ = std::clamp(back_off_ * 2, first_back_off, last_back_off);
  next_try_ = present + back_off_ + duration(random_below(back_off_.count() / 4));
}

// A number from 0 to bound - 1.
std::int64_t connection_pool_core::random_below(std::int64_t bound) noexcept {
  return bound <= 0 ? 0 : static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
}

time_point connection_pool_core::end_of_life(time_point present) noexcept {
  if (options_.max_lifetime == duration::max()) return time_point::max();
  return deadline_after(present, options_.max_lifetime - duration(random_below(options_.max_lifetime.count() / 10)));
}

void connection_pool_core::returned(pool_entry& entry, pool_job::kind purpose) noexcept {
  const time_point present = now();
  time_point since = present;
  {
    const primitive::locked guard(mutex_);
    if (purpose == pool_job::kind::drain) --draining_, ++counts_.drained;
    if (purpose == pool_job::kind::ping) since = entry.since;
    entry.verified = present;
  }
  make_available(entry, since, present, returning_);
}

void connection_pool_core::dropped(pool_entry& entry, pool_job::kind purpose) noexcept {
  if (purpose == pool_job::kind::drain) {
    const primitive::locked guard(mutex_);
    --draining_;
  }
  const bool is_dead = purpose == pool_job::kind::ping;
  remove(entry, is_dead ? &connection_pool_statistics::dead : &connection_pool_statistics::dropped, returning_);
}

// --- tokens

pool_job::pool_job(connection_pool_core& core, pool_attempt& attempt) noexcept
    : core_(&core), attempt_(&attempt), entry_(nullptr), kind_(kind::connect) {
  core.retain();
}
pool_job::pool_job(connection_pool_core& core, pool_entry& entry, kind purpose) noexcept
    : core_(&core), attempt_(nullptr), entry_(&entry), kind_(purpose) {
  core.retain();
}
pool_job::pool_job(pool_job&& other) noexcept
    : core_(std::exchange(other.core_, nullptr)), attempt_(other.attempt_), entry_(other.entry_), kind_(other.kind_) {}

void pool_job::succeed() noexcept {
  connection_pool_core* const core = std::exchange(core_, nullptr);
  if (!core || core->is_copy()) return;
  if (attempt_) core->connected(*attempt_, *entry_);
  else core->returned(*entry_, kind_);
  core->release();
}

void pool_job::fail(std::error_code error) noexcept {
  connection_pool_core* const core = std::exchange(core_, nullptr);
  if (!core || core->is_copy()) return;
  if (attempt_) {
    if (entry_) core->destroy_unlisted(*entry_);
    core->connect_failed(*attempt_, error);
  } else {
    core->dropped(*entry_, kind_);
  }
  core->release();
}

maintenance_run::maintenance_run(connection_pool_core& core) noexcept : core_(&core) { core.retain(); }
maintenance_run::~maintenance_run() {
  if (!core_) return;
  core_->maintenance_ended();
  core_->release();
}

std::error_code error_of_exception() {
  try {
    throw;
  } catch (const forced_unwind&) {
    throw;
  } catch (const cancelled& stop) {
    return stop.code();
  } catch (const std::system_error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  } catch (...) {
    return std::make_error_code(std::errc::state_not_recoverable);
  }
}

}}}  // namespace hocket::detail
