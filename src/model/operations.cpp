// The effect of each operation of a model object on the execution: see engine.hpp and memory.hpp.
#include "engine.hpp"

#include <algorithm>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

using detail::shadow;

void engine::add(step done) {
  if (abandoning_) return;
  done.thread = static_cast<std::uint8_t>(running_);
  trace_.add(done);
}

// Locations exist per execution. An older object enters the execution with its present value.
std::uint32_t engine::attach(const shadow& object, bool shared_before) {
  object.execution = execution_;
  object.location = memory_.create(object.name, object.shape, object.bits, shared_before);
  memory_.at(object.location).object = &object;
  return object.location;
}

void engine::construct(shadow& object) {
  if (!abandoning_) memory_.advance(running_);
  auto id = attach(object, false);
  memory_.change(running_, id, trace_.next());
}

void engine::retire(shadow& object) noexcept {
  if (object.execution != execution_) return;
  auto id = object.location;
  memory_.at(id).object = nullptr;
  if (abandoning_) return;
  memory_.advance(running_);
  auto race = memory_.change(running_, id, trace_.next());
  if (!race.found) return;
  add({.shape = form::object, .location = id, .verb = "is destroyed", .where = {}});
  record_bug(bug::data_race, called(id) + " is destroyed by " + self().name + ", not ordered after step " +
                                 std::to_string(race.step) + " by " + threads_[race.thread].name);
}

void engine::check(const conflict& race, std::uint32_t id, const char* access) {
  if (!race.found) return;
  fail(bug::data_race, called(id) + ' ' + access + " by " + self().name + ", not ordered after the " +
                           (race.write ? "change" : "access") + " in step " + std::to_string(race.step) + " by " +
                           threads_[race.thread].name);
}

// The start of every operation on an atomic or a mutex.
std::uint32_t engine::open(const shadow& object, site where) {
  arrive();
  if (object.state != shadow::alive) {
    add({.shape = form::thread, .verb = "uses a destroyed object", .where = where});
    fail(bug::use_after_destroy, std::string(self().name) + " uses an object that is destroyed or was never made");
    return attach(object, true);
  }
  if (object.execution != execution_) return attach(object, true);
  if (abandoning_) return object.location;
  auto race = memory_.touch(running_, object.location, trace_.next());
  if (race.found) add({.shape = form::object, .location = object.location, .verb = "is used", .where = where});
  check(race, object.location, "is used");
  return object.location;
}

// The order with which an operation is performed: the requested one, unless unneeded_orderings() weakens it.
std::memory_order engine::granted(std::memory_order requested, const site& where) const {
  if (requested == std::memory_order_relaxed || where.line() == 0) return requested;
  if (weakened_.is(where, requested)) return weakened_to_;
  if (orderings_) {
    auto same = [&](const ordering& known) { return known.is(where, requested); };
    if (std::none_of(orderings_->begin(), orderings_->end(), same)) orderings_->push_back({where, requested});
  }
  return requested;
}

void engine::looked(std::uint32_t id) {
  auto& thread = self();
  if (thread.looked_at.empty()) thread.seen = changes_by_others(thread);
  for (auto known : thread.looked_at) {
    if (known == id) return;
  }
  thread.looked_at.push_back(id);
}

void engine::changed(bool really) {
  if (!really) return;
  ++changes_;
  ++self().own_changes;
}

std::uint64_t engine::load(const shadow& object, std::memory_order order, site where) {
  order = granted(order, where);
  auto id = open(object, where);
  auto newest = memory_.at(id).newest();
  auto stamp = newest;
  if (!abandoning_) {
    auto candidates = newest - memory_.floor(running_, id, order) + 1;
    stamp -= decide(decision::read, candidates, used_.stale_reads, allowed_.stale_reads);
  }
  looked(id);
  auto value = memory_.read(running_, id, stamp, order);
  add({.shape = form::read,
       .stale = stamp != newest,
       .order = order,
       .location = id,
       .verb = "load",
       .value = value,
       .where = where});
  return value;
}

void engine::store(shadow& object, std::uint64_t value, std::memory_order order, site where) {
  order = granted(order, where);
  auto id = open(object, where);
  changed(memory_.at(id).newest_value() != value);
  memory_.write(running_, id, value, order, false);
  add({.shape = form::write, .order = order, .location = id, .verb = "store", .value = value, .where = where});
}

std::uint64_t engine::rmw_read(shadow& object, std::memory_order order, site where) {
  order = granted(order, where);
  auto id = open(object, where);
  looked(id);
  before_update_ = memory_.read(running_, id, memory_.at(id).newest(), order);
  return before_update_;
}

void engine::rmw_write(shadow& object, std::uint64_t value, std::memory_order order, const char* verb, site where) {
  order = granted(order, where);
  auto id = object.location;
  changed(before_update_ != value);
  memory_.write(running_, id, value, order, true);
  add({.shape = form::update,
       .order = order,
       .location = id,
       .verb = verb,
       .value = value,
       .before = before_update_,
       .where = where});
}

// Success needs the newest store. Failure is a load of any store that this thread may read and that differs from
// `expected`; besides, a weak one may fail although the newest store is as expected.
bool engine::compare_exchange(shadow& object, std::uint64_t& expected, const detail::exchange_request& request,
                              site where) {
  const auto success = granted(request.success, where), failure = granted(request.failure, where);
  auto id = open(object, where);
  looked(id);
  const auto newest = memory_.at(id).newest();
  const bool matches = memory_.at(id).newest_value() == expected;
  step done{.shape = form::exchange, .order = success, .location = id, .where = where};
  done.verb = request.weak ? "compare_exchange_weak" : "compare_exchange_strong";
  done.before = expected;

  if (matches && request.weak && !abandoning_) {
    done.spurious = decide(decision::spurious, 2, used_.spurious, allowed_.spurious) != 0;
  }
  auto stamp = newest;
  if (!done.spurious && !abandoning_) stamp = choose_failure(id, expected, failure);
  done.succeeded = matches && stamp == newest && !done.spurious;
  done.stale = stamp != newest;
  if (done.succeeded) {
    changed(expected != request.desired);
    memory_.read(running_, id, newest, success);
    memory_.write(running_, id, request.desired, success, true);
    done.value = request.desired;
  } else {
    done.order = failure;
    expected = done.value = memory_.read(running_, id, stamp, failure);
  }
  add(done);
  return done.succeeded;
}

// The newest store, or an older store with another value, which makes the exchange fail.
std::uint32_t engine::choose_failure(std::uint32_t id, std::uint64_t expected, std::memory_order order) {
  const auto& stores = memory_.at(id).stores;
  const auto floor = memory_.floor(running_, id, order);
  std::uint32_t candidates = 1;
  for (auto stamp = memory_.at(id).newest() - 1; stamp >= floor && stamp > 0; --stamp) {
    if (stores[stamp - 1].value != expected) ++candidates;
  }
  auto answer = decide(decision::read, candidates, used_.stale_reads, allowed_.stale_reads);
  auto chosen = memory_.at(id).newest();
  while (answer > 0) {
    if (stores[--chosen - 1].value != expected) --answer;
  }
  return chosen;
}

void engine::fence(std::memory_order order, site where) {
  order = granted(order, where);
  arrive();
  memory_.fence(running_, order);
  add({.shape = form::fence, .order = order, .where = where});
}

// A weakened fence has no effect.
void engine::asymmetric_fence(detail::half which, site where) {
  const std::memory_order order = granted(std::memory_order_seq_cst, where);
  arrive();
  if (order == std::memory_order_seq_cst) {
    if (which == detail::half::light) memory_.light_fence(running_);
    else memory_.heavy_fence(running_);
  }
  add({.shape = form::thread,
       .verb = which == detail::half::light ? "light_fence()" : "heavy_fence()",
       .where = where});
}

// The start of both futex waits. False: it returns at once.
bool engine::must_sleep(std::uint32_t id, std::uint64_t expected, site where) {
  memory_.refresh(running_, id);
  looked(id);
  step done{.shape = form::object, .location = id, .where = where};
  done.spurious = memory_.at(id).newest_value() == expected &&
                  decide(decision::spurious, 2, used_.spurious, allowed_.spurious) != 0;
  if (done.spurious) done.verb = "is as expected, but the futex wait returns";
  else if (memory_.at(id).newest_value() == expected) done.verb = "is as expected: the futex wait sleeps";
  else done.verb = "has another value: the futex wait returns";
  add(done);
  return !done.spurious && memory_.at(id).newest_value() == expected;
}

void engine::sleep(const shadow& word, std::uint32_t id, state reason, bool timed) {
  self().address = &word;
  self().blocked_on = id;
  self().timed = timed;
  self().timed_out = false;
  block(reason);
}

void engine::futex_wait(const shadow& word, std::uint64_t expected, site where) {
  auto id = open(word, where);
  if (abandoning_) return give_up();
  if (must_sleep(id, expected, where)) sleep(word, id, state::sleeping, false);
}

// Decides at once whether the wait times out while other threads could run. It times out when its thread is chosen.
bool engine::futex_wait_timed(const shadow& word, std::uint64_t expected, site where) {
  auto id = open(word, where);
  if (abandoning_) return false;
  if (!must_sleep(id, expected, where)) return true;
  bool expires = decide(decision::spurious, 2, used_.spurious, allowed_.spurious) != 0;
  sleep(word, id, expires ? state::expiring : state::sleeping, true);
  if (self().timed_out) {
    add({.shape = form::object, .location = id, .verb = "is no longer waited for: the time is up", .where = where});
  }
  return !self().timed_out;
}

void engine::futex_wake(const shadow& word, bool all, site where) {
  arrive();
  std::array<std::uint32_t, max_threads> asleep{};
  std::uint32_t count = 0;
  for (auto t = joined_; t < count_; ++t) {
    const auto& thread = threads_[t];
    if ((thread.is == state::sleeping || thread.is == state::expiring) && thread.address == &word) asleep[count++] = t;
  }
  std::uint64_t woken = 0;
  auto wake = [&](std::uint32_t t) {
    threads_[t].is = state::ready;
    woken |= std::uint64_t{1} << t;
  };
  if (all) {
    for (std::uint32_t i = 0; i < count; ++i) wake(asleep[i]);
  } else if (count > 0) {
    std::uint32_t free = 0;
    wake(asleep[abandoning_ ? 0 : decide(decision::waiter, count, free, 1)]);
  }
  add({.shape = form::wake,
       .location = find(&word),
       .verb = all ? "futex_wake_all" : "futex_wake_one",
       .value = woken,
       .where = where});
}

// A woken word may have been destroyed, so it is searched by its address.
std::uint32_t engine::find(const shadow* word) const noexcept {
  for (std::uint32_t id = 0; id < memory_.count(); ++id) {
    if (memory_.at(id).object == word) return id;
  }
  return nowhere;
}

void engine::plain_access(const shadow& object, bool write, site where) {
  if (abandoning_) return;
  memory_.advance(running_);
  const char* access = write ? "is written" : "is read";
  if (object.state != shadow::alive) {
    add({.shape = form::thread, .verb = "uses a destroyed object", .where = where});
    return fail(bug::use_after_destroy, std::string(self().name) + " uses an object that is destroyed or never was");
  }
  auto id = object.execution == execution_ ? object.location : attach(object, true);
  auto step_number = trace_.next();
  add({.shape = form::object, .location = id, .verb = access, .where = where});
  auto race = write ? memory_.change(running_, id, step_number) : memory_.touch(running_, id, step_number);
  check(race, id, access);
}

void engine::lock(shadow& mutex, site where) {
  auto id = open(mutex, where);
  while (memory_.at(id).owner != max_threads) {
    if (memory_.at(id).owner == running_) {
      add({.shape = form::object, .location = id, .verb = "is locked again", .where = where});
      return fail(bug::deadlock, called(id) + " is locked again by its owner");
    }
    add({.shape = form::object, .location = id, .verb = "is locked by another: waits", .where = where});
    self().blocked_on = id;
    block(state::shut_out);
    fresh_ = false;
  }
  memory_.lock(running_, id);
  add({.shape = form::object, .location = id, .verb = "is locked", .where = where});
}

bool engine::try_lock(shadow& mutex, site where) {
  auto id = open(mutex, where);
  looked(id);
  bool free = memory_.at(id).owner == max_threads;
  if (free) memory_.lock(running_, id);
  add({.shape = form::object, .location = id, .verb = free ? "is locked" : "is locked by another", .where = where});
  return free;
}

void engine::unlock(shadow& mutex, site where) {
  auto id = open(mutex, where);
  if (memory_.at(id).owner != running_) {
    add({.shape = form::object, .location = id, .verb = "is unlocked by a stranger", .where = where});
    return fail(bug::misuse, called(id) + " is unlocked by " + self().name + ", who does not hold it");
  }
  memory_.unlock(running_, id);
  changed(true);
  for (auto t = joined_; t < count_; ++t) {
    if (threads_[t].is == state::shut_out && threads_[t].blocked_on == id) threads_[t].is = state::ready;
  }
  add({.shape = form::object, .location = id, .verb = "is unlocked", .where = where});
}

void engine::require_failed(const char* message, site where) {
  if (!abandoning_) {
    add({.shape = form::thread, .verb = "finds a condition that does not hold", .where = where});
    fail(bug::assertion, message);
  }
  unwind_step();
  give_up();
  throw abandoned{};
}

}}}  // namespace hocket::model
