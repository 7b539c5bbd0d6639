#include "manager/entry.hpp"

#include <hocket/core/spawn/seam/scheduled.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

managed_entry::managed_entry(place_table& owner, std::uint32_t place_number, const timer_kind& expiry) noexcept
    : table(owner), number(place_number) {
  membership.entry = this;
  when = time_point::max();
  timer_node::kind = &expiry;
}

task_id managed_entry::id() const noexcept {
  return static_cast<task_id>((std::uint64_t{use} << 32) | (std::uint64_t{number} << table_bits) | table.index);
}

void managed_entry::begin_use(const entry_options& options) noexcept {
  state = entry_state::opening;
  is_daemon = options.daemon;
  stop_reason = outcome_kind::none;
  coroutine = nullptr;
  group_id = options.group;
  user_data = options.data;
  location = options.location;
}

// The place has a reference to the coroutine until its end.
void managed_entry::bind(scheduled& target) noexcept {
  target.retain();
  coroutine = &target;
  show(&target);
  state = entry_state::coroutine;
}

void managed_entry::bind(const promise_kind& type, void* value) noexcept {
  kind = &type;
  promise = value;
  state = entry_state::reply;
}

void managed_entry::describe(task_info& info) const noexcept {
  info.id = id();
  info.expected = state == entry_state::reply;
  info.kind = coroutine ? coroutine->kind() : coroutine_kind{};
  info.name = coroutine ? coroutine->name() : "";
  info.group = group_id;
  info.data = user_data;
  info.deadline = when;
  info.stop_reason = stop_reason;
  info.spawned = location;
}

outcome_kind managed_entry::ending() const noexcept {
  const outcome_kind ending = coroutine->ending();
  if (ending == outcome_kind::refused) return outcome_kind::none;
  return ending == outcome_kind::cancelled && is_late() ? outcome_kind::timed_out : ending;
}

// --- the waiters for its end

void managed_entry::begin_wait(suspension& wait, waiter& entry) noexcept { waiters.enlist(wait, *this, entry); }

void managed_entry::claim_waiters(outcome_kind ending, grants& woken) noexcept {
  show(nullptr);
  waiters.claim_all(woken, [ending](waiter& entry) { *static_cast<outcome_kind*>(entry.resource) = ending; });
}

void managed_entry::show(const scheduled* spawned) noexcept {
  // ORDER: relaxed, pairs with the loads in subject() and holder(): a name to be printed, an address to be compared.
  shown_name_.store(spawned ? spawned->name() : nullptr, std::memory_order_relaxed);
  shown_holder_.store(spawned, std::memory_order_relaxed);
}

// ORDER: relaxed, pairs with the stores in show().
const char* managed_entry::subject() const noexcept { return shown_name_.load(std::memory_order_relaxed); }
// ORDER: relaxed, pairs with the stores in show().
const void* managed_entry::holder() const noexcept { return shown_holder_.load(std::memory_order_relaxed); }

bool managed_entry::detach(waiter& entry) noexcept {
  locked guard(table.mutex);
  return waiters.take_out(entry);
}

}}}  // namespace hocket::detail
