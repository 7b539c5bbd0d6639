// An observer that records its events. Any thread.
#pragma once
#include <hocket/core/observer.hpp>

#include <mutex>
#include <string>
#include <vector>

namespace hocket_test {

class recorder final : public hocket::observer {
 public:
  struct event {
    std::string what;
    hocket::coroutine_id who;
    const void* detail = nullptr;  // the context that a coroutine was created with, the source that it waits for
    unsigned line = 0;             // where it was spawned, where the wait was asked for
  };

  recorder() { hocket::install_observer(*this); }
  ~recorder() { hocket::remove_observer(*this); }

  void on_create(hocket::coroutine_id who, const hocket::coroutine_info& facts) noexcept override {
    keep({"created", who, &facts.ctx, facts.spawned.line()});
    kind = facts.kind;
    name = facts.name;
    caller = facts.caller;
  }
  void on_suspend(hocket::coroutine_id who, const hocket::wait_info& facts) noexcept override {
    keep({"suspended", who, facts.source, facts.location.line()});
  }
  void on_wake(hocket::coroutine_id who) noexcept override { keep({"woken", who}); }
  void on_resume(hocket::coroutine_id who) noexcept override { keep({"resumed", who}); }
  void on_destroy(hocket::coroutine_id who) noexcept override { keep({"destroyed", who}); }

  std::vector<event> events() const {
    std::lock_guard guard(mutex_);
    return events_;
  }
  // The events, in order.
  std::vector<std::string> told() const {
    return told_if([](const event&) { return true; });
  }
  // Of one coroutine.
  std::vector<std::string> told(hocket::coroutine_id who) const {
    return told_if([who](const event& one) { return one.who == who; });
  }

  // Of the coroutine that was created last, for tests of one thread.
  hocket::observed_kind kind{};
  std::string name;
  const void* caller = nullptr;

 private:
  template <class Wanted>
  std::vector<std::string> told_if(Wanted wanted) const {
    std::vector<std::string> found;
    for (const event& one : events())
      if (wanted(one)) found.push_back(one.what);
    return found;
  }
  void keep(event&& one) {
    std::lock_guard guard(mutex_);
    events_.push_back(std::move(one));
  }

  mutable std::mutex mutex_;
  std::vector<event> events_;
};

using list_of = std::vector<std::string>;

}  // namespace hocket_test
