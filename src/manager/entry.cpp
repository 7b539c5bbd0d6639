#include "manager/entry.hpp"

#include <hocket/core/spawn/seam/scheduled.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

managed_entry::managed_entry(place_table& its_table, std::uint32_t its_number, const timer_kind& expiry) noexcept
    : table(its_table), number(its_number) {
  membership.of = this;
  when = time_point::max();
  timer_node::kind = &expiry;
}

task_id managed_entry::id() const noexcept {
  return static_cast<task_id>((std::uint64_t{use} << 32) | (std::uint64_t{number} << table_bits) | table.index);
}

void managed_entry::begin_use(const entry_options& options) noexcept {
  state = entry_state::opening;
  is_daemon = options.daemon;
  asked = outcome_kind::none;
  coroutine = nullptr;
  belongs_to = options.group;
  user_data = options.data;
  at = options.at;
}

// The place has a reference to the coroutine until its end.
void managed_entry::hold(scheduled& target) noexcept {
  target.retain();
  coroutine = &target;
  show(&target);
  state = entry_state::coroutine;
}

void managed_entry::hold(const promise_kind& type, void* value) noexcept {
  kind = &type;
  promise = value;
  state = entry_state::reply;
}

void managed_entry::describe(task_info& into) const noexcept {
  into.id = id();
  into.expected = state == entry_state::reply;
  into.kind = coroutine ? coroutine->kind() : coroutine_kind{};
  into.name = coroutine ? coroutine->name() : "";
  into.group = belongs_to;
  into.data = user_data;
  into.deadline = when;
  into.stop_reason = asked;
  into.spawned = at;
}

outcome_kind managed_entry::how_it_ended() const noexcept {
  const outcome_kind how = coroutine->ending();
  if (how == outcome_kind::refused) return outcome_kind::none;
  return how == outcome_kind::cancelled && is_late() ? outcome_kind::timed_out : how;
}

// --- those who wait for its end

void managed_entry::wait_for_end(suspension& wait, waiter& entry) noexcept { waiting.enlist(wait, *this, entry); }

void managed_entry::claim_waiting(outcome_kind how, grants& told) noexcept {
  show(nullptr);
  waiting.claim_all(told, [how](waiter& entry) { *static_cast<outcome_kind*>(entry.resource) = how; });
}

void managed_entry::show(const scheduled* made) noexcept {
  // ORDER: relaxed, pairs with the loads in subject() and holder(): a name to be printed, an address to be compared.
  shown_name_.store(made ? made->name() : nullptr, std::memory_order_relaxed);
  shown_holder_.store(made, std::memory_order_relaxed);
}

// ORDER: relaxed, pairs with the stores in show().
const char* managed_entry::subject() const noexcept { return shown_name_.load(std::memory_order_relaxed); }
// ORDER: relaxed, pairs with the stores in show().
const void* managed_entry::holder() const noexcept { return shown_holder_.load(std::memory_order_relaxed); }

bool managed_entry::detach(waiter& entry) noexcept {
  locked guard(table.mutex);
  return waiting.take_out(entry);
}

}}}  // namespace hocket::detail
