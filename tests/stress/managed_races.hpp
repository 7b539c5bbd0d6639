// What goes on beside each other on one task manager (runtime_manager.cpp): coroutines of both kinds that expect
// replies, wait for each other's ends, set deadlines, spawn and throw, and threads that spawn, stop, look and complete.
#pragma once
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/manager/task_manager.hpp>

#include "stress/races.hpp"

#include <array>
#include <stdexcept>

namespace hocket_test {

class managed_arena {
 public:
  explicit managed_arena(task_manager& of) noexcept : tm(of) {}

  task_manager& tm;
  event gate;
  std::atomic<long> spawned{0}, refused{0};  // by the answers of spawn()
  std::atomic<long> completed{0}, failed{0};
  std::atomic<long> received{0}, wrong{0};
  std::atomic<int> bodies{0};  // that have begun and not ended

  // Publishes an id to all coroutines.
  void tell(task_id id, hocket::detail::random_engine& random) noexcept {
    if (id != task_id::none) known_[random.below(known)].store(static_cast<std::uint64_t>(id));
  }
  task_id any(hocket::detail::random_engine& random) const noexcept {
    return static_cast<task_id>(known_[random.below(known)].load());
  }

  // The reply for an id, so that a reply to a wrong id is found.
  static int reply_to(task_id id) noexcept {
    const auto bits = static_cast<std::uint64_t>(id);
    return static_cast<int>((bits ^ (bits >> 32)) & 0x7fff'ffff);
  }
  void got(task_id id, int reply) noexcept {
    ++received;
    if (reply != reply_to(id)) ++wrong;
  }
  // A second time there is no value; a cancelled coroutine may get `cancelled` instead (the budget of
  // core/wait/seam/operation.hpp).
  void taken(const result<int>& again) noexcept {
    if (again || (again.error() != std::errc::broken_pipe && again.error() != std::errc::operation_canceled)) ++wrong;
  }

 private:
  static constexpr std::uint32_t known = 64;
  std::array<std::atomic<std::uint64_t>, known> known_{};
};

struct managed_body {
  managed_arena& in;
  explicit managed_body(managed_arena& of) noexcept : in(of) { ++in.bodies; }
  managed_body(const managed_body&) = delete;
  ~managed_body() { --in.bodies; }
};

// None, one in the past, or soon.
inline duration some_deadline(hocket::detail::random_engine& random) {
  if (random.below(2)) return duration::max();
  return std::chrono::microseconds(random.below(100)) - std::chrono::microseconds(10);
}
inline task_group some_group(hocket::detail::random_engine& random) { return random.below(4); }

inline task<> bare_child(managed_arena& in, duration limit) {
  managed_body here(in);
  co_await yield();
  auto open = co_await within(limit, in.gate.wait());
  static_cast<void>(open);
}

void spawn_managed(managed_arena& in, hocket::detail::random_engine& random, int depth);

inline task<> managed_task(managed_arena& in, std::uint64_t seed, int depth) {
  managed_body here(in);
  hocket::detail::random_engine random(seed);
  for (int i = 0; i < 5; ++i) {
    switch (random.below(9)) {
      case 0: {
        if (random.below(4) == 0) co_await or_throw(in.gate.wait());
        auto open = co_await within(short_time(random), in.gate.wait());
        static_cast<void>(open);
        break;
      }
      case 1:
      case 2: {
        auto reply = in.tm.expect<int>({.within = some_deadline(random), .group = some_group(random)});
        in.tell(reply.id(), random);
        auto got = co_await reply;
        if (!got) break;
        in.got(reply.id(), *got);
        auto again = co_await reply;
        in.taken(again);
        break;
      }
      case 3: static_cast<void>(in.tm.set_deadline(in.tm.current(), some_deadline(random))); break;
      case 4: {
        auto how = co_await within(short_time(random), in.tm.wait(in.any(random)));
        static_cast<void>(how);
        break;
      }
      case 5: {
        static_cast<void>(spawn(bare_child, std::ref(in), short_time(random)));
        break;
      }
      case 6: spawn_managed(in, random, depth); break;
      case 7: {
        if (random.below(4) == 0) throw std::runtime_error("thrown at random");
        break;
      }
      default: co_await yield();
    }
  }
}

inline void managed_fiber(managed_arena& in, std::uint64_t seed, int depth) {
  managed_body here(in);
  hocket::detail::random_engine random(seed);
  for (int i = 0; i < 5; ++i) {
    switch (random.below(9)) {
      case 0: {
        if (random.below(4) == 0) await(or_throw(in.gate.wait()));
        static_cast<void>(await(within(short_time(random), in.gate.wait())));
        break;
      }
      case 1:
      case 2: {
        auto reply = in.tm.expect<int>({.within = some_deadline(random), .group = some_group(random)});
        in.tell(reply.id(), random);
        auto got = await(reply);
        if (!got) break;
        in.got(reply.id(), *got);
        in.taken(await(reply));
        break;
      }
      case 3: static_cast<void>(in.tm.set_deadline(in.tm.current(), some_deadline(random))); break;
      case 4: static_cast<void>(await(within(short_time(random), in.tm.wait(in.any(random))))); break;
      case 5: {
        scope children;
        spawn(children, bare_child, std::ref(in), short_time(random));
        break;
      }
      case 6: spawn_managed(in, random, depth); break;
      case 7: {
        if (random.below(4) == 0) throw std::runtime_error("thrown at random");
        break;
      }
      default: await(yield());
    }
  }
}

// Spawns a managed coroutine; at depth 0 none.
inline void spawn_managed(managed_arena& in, hocket::detail::random_engine& random, int depth) {
  if (depth == 0) return;
  const task_options options{.within = some_deadline(random), .group = some_group(random)};
  const std::uint64_t own = random();
  const task_id id = own % 2 ? spawn(in.tm, options, managed_task, std::ref(in), own, depth - 1).id()
                             : spawn(in.tm, options, managed_fiber, std::ref(in), own, depth - 1).id();
  ++(id == task_id::none ? in.refused : in.spawned);
  in.tell(id, random);
}

// On a thread of its own.
inline void expect_elsewhere(managed_arena& in, hocket::detail::random_engine& random) {
  auto reply = in.tm.expect<int>({.within = some_deadline(random), .group = some_group(random)});
  in.tell(reply.id(), random);
  if (random.below(2)) return;
  auto got = sync_wait(within(short_time(random), reply.wait()));
  if (!got) return;
  in.got(reply.id(), *got);
  in.taken(sync_wait(reply));
}

inline void reply_to_any(managed_arena& in, hocket::detail::random_engine& random) {
  const task_id id = in.any(random);
  if (random.below(4)) {
    if (!in.tm.complete(id, managed_arena::reply_to(id))) ++in.completed;
  } else if (!in.tm.fail(id, std::make_error_code(std::errc::host_unreachable))) {
    ++in.failed;
  }
}

inline void look_around(managed_arena& in, hocket::detail::random_engine& random) {
  if (const auto info = in.tm.find(in.any(random)); info && info->id == task_id::none) ++in.wrong;
  if (random.below(4)) return;
  const manager_counts counts = in.tm.counts();
  if (counts.live > counts.spawned || counts.expected > counts.promised) ++in.wrong;
  in.tm.for_each([&](const task_info& one) {
    if (one.id == task_id::none || one.group.value > 3) ++in.wrong;
  });
}

inline void act_on_manager(managed_arena& in, std::uint64_t seed, int actions) {
  hocket::detail::random_engine random(seed);
  for (int i = 0; i < actions; ++i) {
    switch (random.below(16)) {
      case 0: static_cast<void>(in.tm.cancel(in.any(random))); break;
      case 1: static_cast<void>(in.tm.kill(in.any(random))); break;
      case 2: {
        const duration later = random.below(2) ? some_deadline(random) : std::chrono::hours(1);
        static_cast<void>(in.tm.set_deadline(in.any(random), later));
        break;
      }
      case 3: expect_elsewhere(in, random); break;
      case 4: look_around(in, random); break;
      case 5: in.gate.set(); break;
      case 6: in.gate.reset(); break;
      case 7: {
        if (random.below(8) == 0) static_cast<void>(in.tm.cancel_group(some_group(random)));
        break;
      }
      case 8: {
        if (random.below(8) == 0) static_cast<void>(in.tm.kill_group(some_group(random)));
        break;
      }
      case 9: static_cast<void>(sync_wait(within(short_time(random), in.tm.wait(in.any(random))))); break;
      case 10:
      case 11:
      case 12: reply_to_any(in, random); break;
      default: spawn_managed(in, random, 2);
    }
  }
}

}  // namespace hocket_test
