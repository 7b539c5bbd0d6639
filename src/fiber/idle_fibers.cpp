#include "fiber/idle_fibers.hpp"

#include <hocket/fiber/detail/packing.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// An alarm scans a slice of the members, so that a loop with very many fibers is not delayed. The next slice follows
// soon, the next round after the whole time. A member that takes the index of an ended one may miss a round.
struct idle_fibers::group : timer_node {
  static constexpr std::size_t slice = 256;
  static constexpr duration between_slices = std::chrono::milliseconds(1);

  group(executor& owner, duration time, group* before) noexcept : home(owner), after(time), next(before) {
    kind = &alarm_kind;
  }

  void attach(duration in) noexcept {
    timer_service* timers = home.timers();
    if (!timers) return;  // no timers, so no ageing; hibernate_parked() still works
    when = deadline_after(timers->now(), in);
    timers->attach(*this);
    attached = true;
  }
  void detach() noexcept {
    if (attached) static_cast<void>(home.timers()->detach(*this));
    attached = false;
  }
  static void on_alarm(timer_node& self, timer_call) noexcept {
    auto& that = static_cast<group&>(self);
    that.scan();
    that.attach(that.scanned == 0 ? that.after : between_slices);
  }
  void scan() noexcept;

  static constexpr timer_kind alarm_kind{&on_alarm};
  executor& home;
  const duration after;
  group* next;
  bool attached = false;
  std::size_t scanned = 0;  // members scanned in this round; 0 between two
  std::vector<scheduled_fiber*> members;
};

namespace {

bool waits(const scheduled_fiber& fiber) noexcept {
  const activity now = fiber.activity().state();
  return now == activity::waiting || now == activity::waiting_foreign;
}

}  // namespace

// On the thread of the group, off the fibers' stacks.
void idle_fibers::group::scan() noexcept {
  packing_batch batch;
  const std::size_t end = std::min(members.size(), scanned + slice);
  for (; scanned < end; ++scanned) {
    scheduled_fiber& fiber = *members[scanned];
    control_block& block = *fiber.block();
    if (is_packed(block) || !waits(fiber)) continue;
    if (block.header.reserved & stack_bit::aged) {
      batch.add(block);
    } else {
      block.header.reserved |= stack_bit::aged;
      block.header.flags |= fiber_flag::idle;
    }
  }
  if (scanned >= members.size()) scanned = 0;
}

idle_fibers* idle_fibers::for_thread(fiber_thread& thread) noexcept {
  if (!thread.idle) thread.idle = new (std::nothrow) idle_fibers;
  return thread.idle;
}

idle_fibers::~idle_fibers() {
  while (group* first = groups_) {
    groups_ = first->next;
    first->detach();
    delete first;
  }
}

idle_fibers::group& idle_fibers::group_of(const scheduled_fiber& fiber) {
  executor& home = fiber.activity().home();
  for (group* candidate = groups_; candidate; candidate = candidate->next)
    if (&candidate->home == &home && candidate->after == fiber.hibernate_after()) return *candidate;
  return *(groups_ = new group(home, fiber.hibernate_after(), groups_));
}

void idle_fibers::add(scheduled_fiber& fiber) {
  group& own = group_of(fiber);
  try {
    own.members.push_back(&fiber);
  } catch (...) {
    if (own.members.empty()) delete_group(own);
    throw;
  }
  fiber.idle_index = static_cast<std::uint32_t>(own.members.size() - 1);
  if (!own.attached) own.attach(own.after);
}

void idle_fibers::remove(scheduled_fiber& fiber) noexcept {
  group& own = group_of(fiber);  // the group exists: nothing is allocated
  scheduled_fiber* last = own.members.back();
  own.members[fiber.idle_index] = last;
  last->idle_index = fiber.idle_index;
  own.members.pop_back();
  if (own.members.empty()) delete_group(own);
}

void idle_fibers::delete_group(group& empty) noexcept {
  group** candidate = &groups_;
  while (*candidate != &empty) candidate = &(*candidate)->next;
  *candidate = empty.next;
  empty.detach();
  delete &empty;
}

std::size_t idle_fibers::pack_waiting() noexcept {
  packing_batch batch;
  std::size_t packed = 0;
  for (group* candidate = groups_; candidate; candidate = candidate->next)
    for (scheduled_fiber* each : candidate->members) packed += waits(*each) && batch.add(*each->block());
  return packed;
}

idle_membership::idle_membership(fiber_thread& thread, scheduled_fiber& fiber) : fiber_(fiber) {
  if (!fiber.hibernates()) return;
  idle_fibers* list = idle_fibers::for_thread(thread);
  if (!list) throw std::bad_alloc();
  list->add(fiber);
  list_ = list;
}

idle_membership::~idle_membership() {
  if (list_) list_->remove(fiber_);
}

bool idle_membership::commit() noexcept { return std::exchange(list_, nullptr) != nullptr; }

}}}  // namespace hocket::detail
