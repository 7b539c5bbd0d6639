#pragma once
// Conditions, monitors and shared mutexes of the page `primitives` for hocket.
#include <hocket/sync/condition.hpp>
#include <hocket/sync/monitor.hpp>
#include <hocket/sync/shared_mutex.hpp>

#include "../waits.hpp"
#include "primitives/primitives.hpp"

namespace lab {

inline bool condition_ping_pong(const load&, std::uint64_t k) {
  primitives::mutex m;
  primitives::condition changed[2];
  int turn = 0;
  std::uint64_t turns = 0;
  both([&](int me) -> coroutine {
    auto held = LAB_AWAIT(m.lock());
    if (!held) LAB_END;
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      while (turn != me) {
        auto told = LAB_AWAIT(changed[me].wait(*held));
        if (!told) LAB_END;
      }
      ++turns;
      turn = 1 - me;
      changed[1 - me].notify_one();
    }
    LAB_END;
  });
  return turns == k;
}

inline bool monitor_ping_pong(const load&, std::uint64_t k) {
  primitives::monitor m;
  int turn = 0;
  std::uint64_t turns = 0;
  both([&](int me) -> coroutine {
    auto in = LAB_AWAIT(m.enter());
    if (!in) LAB_END;
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      while (turn != me) {
        auto told = LAB_AWAIT(m.wait(*in));
        if (!told) LAB_END;
      }
      ++turns;
      turn = 1 - me;
      m.notify_one();
    }
    LAB_END;
  });
  return turns == k;
}

inline bool monitor_free(const load&, std::uint64_t k) {
  primitives::monitor m;
  std::uint64_t counter = 0;
  alone([&]() -> coroutine {
    for (std::uint64_t left = k; left; --left) {
      {
        auto in = LAB_AWAIT(m.enter());
        if (!in) break;
        auto again = LAB_AWAIT(m.enter());
        if (!again) break;
        increment(counter);
      }
      others();
    }
    LAB_END;
  });
  return counter == k;
}

inline bool monitor_contended(const load& r, std::uint64_t k) {
  guarded<primitives::monitor> shared;
  many(static_cast<int>(r.count), [&](int) -> coroutine {
    for (std::uint64_t left = k / r.count; left; --left) {
      auto in = LAB_AWAIT(shared.lock.enter());
      if (!in) break;
      auto again = LAB_AWAIT(shared.lock.enter());
      if (!again) break;
      increment(shared.counter);
      LAB_AWAIT(hocket::yield());
    }
    LAB_END;
  });
  return shared.counter == k;
}

inline bool shared_free(const load&, std::uint64_t k) {
  primitives::shared_mutex m;
  std::uint64_t counter = 0;
  alone([&]() -> coroutine {
    for (std::uint64_t left = k; left; --left) {
      {
        auto seen = LAB_AWAIT(m.lock_shared());
        if (!seen) break;
        increment(counter);
      }
      others();
    }
    LAB_END;
  });
  return counter == k;
}

inline bool shared_mixed(const load& r, std::uint64_t k) {
  guarded<primitives::shared_mutex> shared;
  std::atomic<std::uint64_t> reads{0};
  many(static_cast<int>(r.count), [&](int) -> coroutine {
    for (std::uint64_t i = 0; i < k / r.count; ++i) {
      if (is_write(i)) {
        auto held = LAB_AWAIT(shared.lock.lock());
        if (!held) break;
        increment(shared.counter);
        LAB_AWAIT(hocket::yield());
      } else {
        auto seen = LAB_AWAIT(shared.lock.lock_shared());
        if (!seen) break;
        reads.fetch_add(1, std::memory_order_relaxed);
        LAB_AWAIT(hocket::yield());
      }
    }
    LAB_END;
  });
  return shared.counter + reads == k;
}

}  // namespace lab
