#include "manager/entry.hpp"

#include <manager/manager_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

managed_entry::managed_entry(shard& its_table, std::uint32_t its_number) noexcept
    : table(its_table), number(its_number) {
  membership.of = this;
  when = time_point::max();
  static constexpr timer_kind rings{[](timer_node& self, timer_call) noexcept {
    auto& entry = static_cast<managed_entry&>(self);
    entry.table.due.push_back(entry);
  }};
  timer_node::kind = &rings;
}

task_id managed_entry::id() const noexcept {
  return static_cast<task_id>((std::uint64_t{use} << 32) | (std::uint64_t{number} << shard::shard_bits) | table.index);
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

// A reference goes with it, until its end.
void managed_entry::hold(scheduled& made) noexcept {
  made.retain();
  coroutine = &made;
  show(&made);
  state = entry_state::coroutine;
  ++table.counts.spawned;
  ++table.counts.live;
}

task_id managed_entry::promise_there(const promise_kind& of, void* made) noexcept {
  kind = &of;
  promise = made;
  state = entry_state::reply;
  ++table.counts.promised;
  return id();
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
  waiting.claim_all(told, [how](waiter& entry) { static_cast<managed_end*>(entry.resource)->kind_ = how; });
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

// --- spawn_target, of its coroutine

executor& managed_entry::home() noexcept { return table.core->home(); }
context& managed_entry::parent_context() noexcept {
  return is_daemon ? table.core->daemon_context() : table.core->parent_context();
}
unhandled_handler managed_entry::on_unhandled() const noexcept { return table.core->on_unhandled(); }
spawn_target& managed_entry::for_children() noexcept { return table.core->children(); }
spawn_target& managed_entry::for_scopes() noexcept {
  return is_daemon ? table.core->present_daemons() : table.core->children();
}

// Of the one coroutine that it is for. What is refused below has no place any more.
std::error_code managed_entry::enroll(std::size_t count) noexcept {
  const std::error_code refused = table.core->target_below(is_daemon).enroll(count);
  if (!refused) return {};
  table.core->refuse(*this);
  return refused;
}

void managed_entry::leave() noexcept { table.core->end(*this); }

}}}  // namespace hocket::detail
