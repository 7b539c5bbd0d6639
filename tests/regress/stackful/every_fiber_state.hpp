// Fibers in every state in which a loop or a runtime may be destroyed (FAULTS 61), beside the tasks of every_state.hpp:
// unstarted, ready, asleep, on each kind of stack, deep in another stack, waiting for tasks, for others, for the end of
// a scope, at channels, for a thread that blocks, for what is foreign, and with a batch of spawns in the hand. What
// each of them holds is a `counted`.
#pragma once
#include <hocket/core/spawn_batch.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/sync/broadcast.hpp>
#include <hocket/sync/channel.hpp>
#include <hocket/sync/spsc_channel.hpp>
#include <hocket/sync/watch.hpp>
#include <hocket/time/sleep.hpp>

#include "regress/every_state.hpp"

#include <coroutine>
#include <mutex>
#include <utility>
#include <vector>

namespace hocket_test {

// What no kill ends: an awaitable of another library, which waits until the gate is opened.
class foreign_gate {
 public:
  void open() {
    std::vector<std::coroutine_handle<>> all;
    {
      std::lock_guard guard(mutex_);
      open_ = true;
      all.swap(waiting_);
    }
    for (auto one : all) one.resume();
  }
  class wait {
   public:
    explicit wait(foreign_gate& at) : at_(at) {}
    static bool await_ready() noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> handle) {
      std::lock_guard guard(at_.mutex_);
      if (!at_.open_) at_.waiting_.push_back(handle);
      return !at_.open_;
    }
    static void await_resume() noexcept {}

   private:
    foreign_gate& at_;
  };

  // Opens it at its end.
  class opener {
   public:
    explicit opener(foreign_gate& what) : what_(&what) {}
    opener(opener&& other) noexcept : what_(std::exchange(other.what_, nullptr)) {}
    ~opener() {
      if (what_) what_->open();
    }

   private:
    foreign_gate* what_;
  };

 private:
  std::mutex mutex_;
  bool open_ = false;
  std::vector<std::coroutine_handle<>> waiting_;
};

struct fiber_surroundings : surroundings {
  channel<int> empty{1}, full{1}, met{0};
  spsc_channel<int> ring{1};
  broadcast<int> news{1};
  watch<int> latest{0};
  broadcast<int>::receiver reader = news.subscribe();
  watch<int>::receiver watcher = latest.subscribe();
  foreign_gate gate;

  fiber_surroundings() {
    static_cast<void>(full.try_send(1));
    static_cast<void>(watcher.try_receive());
  }
};

inline void parks(fiber_surroundings& in) {
  counted local;
  static_cast<void>(await(in.never.wait()));
}
inline void sleeps(fiber_surroundings&) {
  counted local;
  static_cast<void>(await(sleep_for(1h)));
}
inline void parks_deep(fiber_surroundings& in) {
  counted local;
  call_on_big_stack([&in, kept = counted()] { parks(in); });
}
inline void awaits_a_task(fiber_surroundings& in) {
  counted local;
  static_cast<void>(await(wait(in)));
}
inline void awaits_a_group(fiber_surroundings& in) {
  counted local;
  static_cast<void>(await(when_all(wait(in), wait(in))));
}
inline void joins(fiber_surroundings& in) {
  counted local;
  auto other = spawn(parks, std::ref(in));
  await(other);
}
inline void closes_a_scope(fiber_surroundings& in) {
  counted local;
  scope all;
  spawn(all, parks, std::ref(in));
  spawn(all, wait, std::ref(in));
}
inline void holds_a_lock(fiber_surroundings& in) {
  counted local;
  auto held = await(in.guarding.lock());
  parks(in);
}
inline void receives(fiber_surroundings& in) {
  counted local;
  static_cast<void>(await(in.empty.receive()));
}
inline void sends(fiber_surroundings& in) {
  counted local;
  static_cast<void>(await(in.full.send(2)));
}
inline void meets_nobody(fiber_surroundings& in) {
  counted local;
  static_cast<void>(await(select(in.met.send(1), in.none.acquire())));
}
inline void reads_a_ring(fiber_surroundings& in) {
  counted local;
  static_cast<void>(await(in.ring.receive()));
}
inline void reads_news(fiber_surroundings& in) {
  counted local;
  static_cast<void>(await(select(in.reader.receive(), in.watcher.receive())));
}
inline void has_a_batch(fiber_surroundings& in) {
  counted local;
  spawn_batch held;
  spawn(held, [&in, kept = counted()] { parks(in); });
  parks(in);
}
inline void waits_for_a_foreigner(fiber_surroundings& in) {
  counted local;
  await(foreign_gate::wait(in.gate));
}
inline void blocks(fiber_surroundings&) {
  counted local;
  for (;;) static_cast<void>(await(blocking([] {})));
}
inline void yields_on(fiber_surroundings&) {
  counted local;
  for (;;) await(yield());
}

inline std::vector<join_handle<>> spawn_fibers_in_every_state(auto& where, fiber_surroundings& in, busy how) {
  using fiber = void (*)(fiber_surroundings&);
  constexpr fiber all[] = {parks,          sleeps,     parks_deep,     awaits_a_task,
                           awaits_a_group, joins,      closes_a_scope, holds_a_lock,
                           holds_a_lock,   receives,   sends,          meets_nobody,
                           reads_a_ring,   reads_news, has_a_batch,    waits_for_a_foreigner};
  std::vector<join_handle<>> handles;
  if (how == busy::yes) handles.push_back(spawn(where, yields_on, std::ref(in)));
  if (how == busy::yes) handles.push_back(spawn(where, blocks, std::ref(in)));
  for (fiber one : all) handles.push_back(spawn(where, one, std::ref(in)));
  for (fiber one : {parks, sleeps, receives}) {
    handles.push_back(spawn(where, {.stack = stack_kind::copied}, one, std::ref(in)));
    handles.push_back(spawn(where, {.stack = stack_kind::dense}, one, std::ref(in)));
    handles.push_back(spawn(where, {.hibernate_after = 1h}, one, std::ref(in)));
  }
  // The last one to begin: whoever is killed before has not waited for it.
  auto opens = [&in, kept = counted()](foreign_gate::opener) { parks(in); };
  handles.push_back(spawn(where, opens, foreign_gate::opener(in.gate)));
  return handles;
}

}  // namespace hocket_test
