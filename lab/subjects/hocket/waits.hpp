#pragma once
// The page `wait` for hocket's two kinds; the page `primitives` has some of it, too. An event is an auto_reset_event.
// An unlock of a mutex and a release of a permit hand it to the waiter. The first holder yields, so that the other
// coroutine waits at the beginning.
#include <hocket/coro/oneshot.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/time/within.hpp>

#include <array>

#include "wait.hpp"
#include "world.hpp"

namespace lab {

#ifdef LAB_UNSYNC
namespace primitives = hocket::unsync;
using sender = hocket::oneshot_sender<std::uint64_t, hocket::strength::unsync>;
#else
namespace primitives = hocket;
using sender = hocket::oneshot_sender<std::uint64_t>;
#endif
using primitives::auto_reset_event;

constexpr std::chrono::hours an_hour{1};

inline bool mutex_free(std::uint64_t k) {
  primitives::mutex m;
  std::uint64_t counter = 0;
  alone([&]() -> coroutine {  // its captures are locals, as the floors have arguments
    primitives::mutex& wanted = m;
    std::uint64_t& locked = counter;
    for (std::uint64_t left = k; left; --left) {
      {
        auto held = LAB_AWAIT(wanted.lock());
        if (!held) break;
        increment(locked);
      }
      others();
    }
    LAB_END;
  });
  return counter == k;
}

inline bool within_free(std::uint64_t k) {
  primitives::mutex m;
  std::uint64_t counter = 0;
  alone([&]() -> coroutine {
    for (std::uint64_t i = 0; i < k; ++i) {
      {
        auto held = LAB_AWAIT(within(an_hour, m.lock()));
        if (!held) break;
        increment(counter);
      }
      others();
    }
    LAB_END;
  });
  return counter == k;
}

inline bool semaphore_free(std::uint64_t k) {
  primitives::semaphore permits{1};
  std::uint64_t counter = 0;
  alone([&]() -> coroutine {
    for (std::uint64_t i = 0; i < k; ++i) {
      {
        auto held = LAB_AWAIT(permits.acquire());
        if (!held) break;
        increment(counter);
      }
      others();
    }
    LAB_END;
  });
  return counter == k;
}

inline bool mutex_handover(std::uint64_t k) {
  primitives::mutex m;
  handovers handed;
  both([&](int me) -> coroutine {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      auto held = LAB_AWAIT(m.lock());
      if (!held) break;
      handed.taken_by(me);
      if (handed.count == 1) LAB_AWAIT(hocket::yield());
    }
    LAB_END;
  });
  return handed.count == k;
}

inline bool semaphore_handover(std::uint64_t k) {
  primitives::semaphore permits{1};
  handovers handed;
  both([&](int me) -> coroutine {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      auto held = LAB_AWAIT(permits.acquire());
      if (!held) break;
      handed.taken_by(me);
      if (handed.count == 1) LAB_AWAIT(hocket::yield());
    }
    LAB_END;
  });
  return handed.count == k;
}

inline bool event(std::uint64_t k) {
  auto_reset_event events[2];
  std::uint64_t seen = 0;
  both([&](int me) -> coroutine {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      if (me == 0) events[1].set();
      auto set = LAB_AWAIT(events[me].wait());
      seen += set.has_value();
      if (me == 1) events[0].set();
    }
    LAB_END;
  });
  return seen == k;
}

inline bool within_handover(std::uint64_t k) {
  auto_reset_event events[2];
  std::uint64_t seen = 0;
  both([&](int me) -> coroutine {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      if (me == 0) events[1].set();
      auto set = LAB_AWAIT(within(an_hour, events[me].wait()));
      seen += set.has_value();
      if (me == 1) events[0].set();
    }
    LAB_END;
  });
  return seen == k;
}

inline bool oneshot_ready(std::uint64_t k) {
  std::uint64_t sum = 0;
  alone([&]() -> coroutine {
    for (std::uint64_t i = 0; i < k; ++i) {
      auto ends = primitives::make_oneshot<std::uint64_t>();
      ends.sender.send(i);
      auto got = LAB_AWAIT(ends.receiver.receive());
      if (!got) break;
      sum += *got;
    }
    LAB_END;
  });
  return sum == k * (k - 1) / 2;
}

// Each makes a channel for its next value, passes the sender to the other one, and sends through the sender that it
// got. It does not wait for the last value.
inline bool oneshot_handover(std::uint64_t k) {
  sender left[2];
  std::uint64_t sum = 0;
  both([&](int me) -> coroutine {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      auto ends = primitives::make_oneshot<std::uint64_t>();
      left[me] = std::move(ends.sender);
      if (left[1 - me]) left[1 - me].send(1);
      if (me == 1 && i + 1 == k / 2) break;
      auto got = LAB_AWAIT(ends.receiver.receive());
      if (!got) break;
      sum += *got;
    }
    LAB_END;
  });
  return sum == k - 1;
}

// Four events, one of which is set in turn.
inline bool select_ready(std::uint64_t k) {
  auto_reset_event events[4];
  std::uint64_t right = 0;
  alone([&]() -> coroutine {
    for (std::uint64_t i = 0; i < k; ++i) {
      events[i % 4].set();
      auto first = LAB_AWAIT(select(events[0].wait(), events[1].wait(), events[2].wait(), events[3].wait()));
      if (!first) break;
      right += first->index() == i % 4;
    }
    LAB_END;
  });
  return right == k;
}

inline bool select_handover(std::uint64_t k) {
  auto_reset_event events[2][4];
  std::uint64_t right = 0;
  both([&](int me) -> coroutine {
    auto& mine = events[me];
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      if (me == 0) events[1][i % 4].set();
      auto first = LAB_AWAIT(select(mine[0].wait(), mine[1].wait(), mine[2].wait(), mine[3].wait()));
      if (!first) break;
      right += first->index() == i % 4;
      if (me == 1) events[0][i % 4].set();
    }
    LAB_END;
  });
  return right == k;
}

inline constexpr named_batch waits[] = {
    {"mutex", mutex_free},
    {"mutex_handover", mutex_handover},
    {"event", event},
    {"oneshot", oneshot_ready},
    {"oneshot_handover", oneshot_handover},
    {"semaphore", semaphore_free},
    {"semaphore_handover", semaphore_handover},
    {"within", within_free},
    {"within_handover", within_handover},
    {"select", select_ready},
    {"select_handover", select_handover},
};

}  // namespace lab
