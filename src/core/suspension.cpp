#include <hocket/base/fatal.hpp>
#include <hocket/core/context.hpp>
#include <hocket/core/current.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/observer.hpp>
#include <hocket/core/suspension.hpp>

namespace hocket::inline HOCKET_ABI {

// --- waiter

waiter::~waiter() {
  debug_expects(!wait_ || !wait_->claim_.held(), "a coroutine was destroyed while it waits",
                "cancel or kill it and join it: only unstarted and finished coroutines may be destroyed");
  if (wait_ && !wait_->finished_ && wait_->winner_ == this) source_->pass_on(*this);
}

void waiter::enlist(suspension& wait, wait_source& source) noexcept {
  wait_ = &wait;
  source_ = &source;
  sibling_ = wait.first_;
  wait.first_ = this;
  wait.claim_.hold();
}

bool waiter::grant() noexcept {
  settlement how = wait_->claim_.settle(verdict::granted);
  settled(how);
  return how != settlement::lost;
}

bool waiter::grant_both(waiter& one, waiter& other) noexcept {
  auto [at_one, at_other] = claim::settle_both(one.wait_->claim_, other.wait_->claim_);
  if (at_one == settlement::lost) return false;
  one.settled(at_one);
  other.settled(at_other);
  return true;
}

void waiter::abandon() noexcept { wait_->conclude(settlement::lost, this); }

bool waiter::decided() const noexcept { return wait_->claim_.outcome() > verdict::reserved; }

void waiter::settled(settlement how) noexcept {
  if (how != settlement::lost) wait_->winner_ = this;
  wait_->conclude(how, this);
}

// --- suspension: the registrar's side

suspension::suspension() noexcept {
  stop_node::fire = &suspension::on_stop;
  timer_node::fire = &suspension::on_alarm;
}

suspension::~suspension() {
  debug_expects(!claim_.held(), "a coroutine was destroyed while it waits",
                "cancel or kill it and join it: only unstarted and finished coroutines may be destroyed");
}

void suspension::arm(std::coroutine_handle<> handle) noexcept {
  thread_state& here = this_thread();
  expects(here.running_on != nullptr, "a coroutine waited outside of any executor",
          "start it with spawn, run or sync_wait, so that somebody can resume it");
  run_ = {nullptr, handle, here.running_on};
  ctx_ = here.ctx ? here.ctx : &context::root();
  first_ = winner_ = nullptr;
  stop_ = nullptr;
  timers_ = nullptr;
  finished_ = false;
  claim_.arm();
}

void suspension::disarm() noexcept {
  finished_ = true;
  [[maybe_unused]] bool last = claim_.drop();
}

bool suspension::commit() noexcept {
  if (observer* watcher = installed_observer())
    watcher->suspended(run_.handle.address(), first_ ? first_->source_ : nullptr);
  watch();
  if (claim_.commit()) return true;
  if (!claim_.drop(1 + release_all(nullptr))) return true;
  if (observer* watcher = installed_observer()) watcher->woken(run_.handle.address());
  return false;
}

void suspension::watch() noexcept {
  if (ctx_->deadline() != time_point::max() && run_.home->timers()) {
    timer_node::when = ctx_->deadline();
    timers_ = run_.home->timers();
    claim_.hold();
    timers_->attach(*this);
  }
  if (stop_source* source = ctx_->stop()) {
    claim_.hold();
    stop_ = source;
    verdict requested = source->attach(*this);
    if (requested == verdict::idle) return;
    stop_ = nullptr;
    // The wait is not committed, so whatever the answer, commit() lets go of the rest.
    [[maybe_unused]] settlement how = claim_.settle(requested);
    [[maybe_unused]] bool last = claim_.drop();
  }
}

verdict suspension::finish() noexcept {
  finished_ = true;
  return claim_.outcome();
}

std::size_t suspension::granted_index() const noexcept {
  std::size_t later = 0;
  for (waiter* entry = winner_; entry && entry->sibling_; entry = entry->sibling_) ++later;
  return later;
}

// --- suspension: the side of whoever ends it

// Takes every registration but `except` back. Returns how many holds that frees: a registration that cannot be taken
// back has been popped by its source, which drops the hold itself.
std::uint32_t suspension::release_all(const void* except) noexcept {
  std::uint32_t freed = 0;
  for (waiter* entry = first_; entry;) {
    waiter* next = entry->sibling_;
    if (entry != except && entry->source_->detach(*entry)) ++freed;
    entry = next;
  }
  stop_node* stopper = this;
  timer_node* alarm = this;
  if (stop_ && stopper != except && stop_->detach(*stopper)) ++freed;
  if (timers_ && alarm != except && timers_->detach(*alarm)) ++freed;
  return freed;
}

// A source that popped the registration `self` is done with it.
void suspension::conclude(settlement how, const void* self) noexcept {
  std::uint32_t holds = 1 + (how == settlement::won ? release_all(self) : 0);
  if (claim_.drop(holds)) post();
}

void suspension::post() noexcept {
  if (observer* watcher = installed_observer()) watcher->woken(run_.handle.address());
  run_.home->post(run_);
}

void suspension::on_stop(stop_node& self, verdict strength) noexcept {
  auto& wait = static_cast<suspension&>(self);
  wait.conclude(wait.claim_.settle(strength), &self);
}

void suspension::on_alarm(timer_node& self) noexcept {
  auto& wait = static_cast<suspension&>(self);
  wait.conclude(wait.claim_.settle(verdict::timed_out), &self);
}

}  // namespace hocket::inline HOCKET_ABI
