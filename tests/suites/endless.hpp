// Operations that are always possible at once, for the suite of the budget: an `endless_thing<S>` has wait(), which
// gives the operation, had(), called when it was granted, and over(): whether nothing was lost.
#pragma once
#include <hocket/coro/shared_task.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/barrier.hpp>
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/completion.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/latch.hpp>
#include <hocket/sync/monitor.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/sync/shared_mutex.hpp>
#include <hocket/sync/spsc_channel.hpp>
#include <hocket/sync/stopped.hpp>
#include <hocket/sync/watch.hpp>
#include <hocket/time/sleep.hpp>

#include <chrono>
#include <utility>

namespace hocket_test {

// Each item that was sent was received, or is still there.
template <class S>
struct endless_items {
  hocket::basic_channel<S, int> items{4};
  int sent = 0, received = 0;
  void fill() {
    while (items.try_send(1)) ++sent;
  }
  auto wait() {
    fill();
    return items.receive();
  }
  void had() { ++received; }
  bool over() { return sent - received == static_cast<int>(items.size()); }
};
// A sender does not wait as long as a receiver takes its items.
template <class S>
struct endless_room : endless_items<S> {
  auto wait() {
    while (this->items.try_receive()) ++this->received;
    return this->items.send(1);
  }
  void had() { ++this->sent; }
};
template <class S>
struct endless_batches : endless_items<S> {
  int into[1];
  auto wait() {
    this->fill();
    return this->items.receive_batch(into);
  }
};
template <class S>
struct endless_ring {
  hocket::basic_spsc_channel<S, int> items{4};
  int sent = 0, received = 0;
  auto wait() {
    while (items.try_send(1)) ++sent;
    return items.receive();
  }
  void had() { ++received; }
  bool over() { return sent - received == static_cast<int>(items.size()); }
};
template <class S>
struct endless_broadcast {
  hocket::basic_broadcast<S, int> items{1};
  typename hocket::basic_broadcast<S, int>::receiver at = items.subscribe();
  int sent = 0;
  auto wait() {
    if (at.size() == 0 && items.send(1)) ++sent;
    return at.receive();
  }
  void had() { --sent; }
  bool over() { return sent == static_cast<int>(at.size()); }
};
template <class S>
struct endless_broadcast_batches : endless_broadcast<S> {
  int into[2];
  auto wait() {
    if (this->at.size() == 0 && this->items.send(1)) ++this->sent;
    return this->at.receive_batch(into);
  }
};
template <class S>
struct endless_news {
  hocket::basic_watch<S, int> last{0};
  typename hocket::basic_watch<S, int>::receiver at = last.subscribe();
  auto wait() {
    last.set(1);
    return at.receive();
  }
  void had() {}
  bool over() { return true; }
};
// The destructor of the operation's result releases the acquired object.
template <class S>
struct endless_permits {
  hocket::basic_semaphore<S> permits{2};
  auto wait() { return permits.acquire(); }
  void had() {}
  bool over() { return permits.available() == 2; }
};
template <class S>
struct endless_event {
  hocket::basic_event<S> event{true};
  auto wait() { return event.wait(); }
  void had() {}
  bool over() { return true; }
};
template <class S>
struct endless_wakes {
  hocket::basic_auto_reset_event<S> event{true};
  int had_it = 0, gave_it = 1;
  auto wait() {
    if (gave_it == had_it) event.set(), ++gave_it;
    return event.wait();
  }
  void had() { ++had_it; }
  bool over() { return event.try_wait() == (gave_it != had_it); }
};
template <class S>
struct endless_choice : endless_items<S> {
  hocket::basic_event<S> never;
  auto wait() {
    this->fill();
    return hocket::select(never.wait(), this->items.receive());
  }
};

// An operation that takes nothing, or releases it at once.
struct endless {
  void had() {}
  bool over() { return true; }
};
template <class S>
struct endless_lock : endless {
  hocket::basic_mutex<S> mutex;
  auto wait() { return mutex.lock(); }
};
template <class S>
struct endless_writes : endless {
  hocket::basic_shared_mutex<S> mutex;
  auto wait() { return mutex.lock(); }
};
template <class S>
struct endless_reads : endless {
  hocket::basic_shared_mutex<S> mutex;
  auto wait() { return mutex.lock_shared(); }
};
template <class S>
struct endless_entries : endless {
  hocket::basic_monitor<S> monitor;
  auto wait() { return monitor.enter(); }
};
template <class S>
struct endless_latch : endless {
  hocket::basic_latch<S> latch{0};
  auto wait() { return latch.wait(); }
};
template <class S>
struct endless_phases : endless {
  hocket::basic_barrier<S> barrier{1};
  auto wait() { return barrier.arrive_and_wait(); }
};
template <class S>
struct endless_completion : endless {
  hocket::basic_completion<S, int, hocket::no_hooks> complete;
  endless_completion() { complete.complete(1); }
  auto wait() { return complete.wait(); }
};
template <class S>
struct endless_turns : endless {  // of work that is never done
  hocket::basic_once<S> once;
  auto wait() { return once.enter(); }
};
struct endless_stop : endless {
  hocket::stop_source stop;
  endless_stop() { stop.request(hocket::stop_level::cancel); }
  auto wait() { return hocket::stopped(stop); }
};
struct endless_short_sleeps : endless {
  auto wait() { return hocket::sleep_for(std::chrono::seconds(0)); }
};
struct endless_late_sleeps : endless {
  auto wait() { return hocket::sleep_until(hocket::time_point{}); }
};
struct endless_shared_task : endless {
  hocket::shared_task<int> one = []() -> hocket::shared_task<int> { co_return 1; }();
  auto wait() { return std::as_const(one).wait(); }
};

}  // namespace hocket_test
