// hocket on the page `primitives`, with one kind of coroutine: fibers, or tasks (LAB_TASK). hocket-sync-* are
// coroutines of a runtime with as many workers, hocket-unsync-* (LAB_UNSYNC) those of one loop, with the primitives of
// one thread. hocket-spsc-* (LAB_SPSC) have spsc_channel where one sends and one receives. An event is an
// auto_reset_event. What is as on the page `wait` is in ../hocket_waits.hpp.
#include "../waits.hpp"
#include "channels.hpp"
#include "locks.hpp"
#if defined(LAB_WORKERS) && !defined(LAB_SPSC)
#include "pools.hpp"
#endif
#include "sockets.hpp"

#ifdef LAB_SPSC
#include <hocket/sync/spsc_channel.hpp>
#endif

namespace {

using lab::coroutine;
using lab::load;

bool mutex_free(const load& r, std::uint64_t k) {
  std::vector<lab::guarded<lab::primitives::mutex>> all(r.workers);
  lab::many(static_cast<int>(r.workers), [&](int i) -> coroutine {
    auto& mine = all[static_cast<std::size_t>(i)];
    for (std::uint64_t left = k / r.workers; left; --left) {
      {
        auto held = LAB_AWAIT(mine.lock.lock());
        if (!held) break;
        lab::increment(mine.counter);
      }
      lab::others();
    }
    LAB_END;
  });
  std::uint64_t sum = 0;
  for (auto& one : all) sum += one.counter;
  return sum == k;
}

template <bool Yields>
bool one_mutex(const load& r, std::uint64_t k) {
  lab::guarded<lab::primitives::mutex> shared;
  lab::many(static_cast<int>(r.count), [&](int) -> coroutine {
    for (std::uint64_t left = k / r.count; left; --left) {
      auto held = LAB_AWAIT(shared.lock.lock());
      if (!held) break;
      lab::increment(shared.counter);
      if constexpr (Yields) LAB_AWAIT(hocket::yield());
    }
    LAB_END;
  });
  return shared.counter == k;
}

bool semaphore_contended(const load& r, std::uint64_t k) {
  lab::primitives::semaphore permits{lab::permits_for_many};
  std::atomic<std::uint64_t> counter{0};
  lab::many(static_cast<int>(r.count), [&](int) -> coroutine {
    for (std::uint64_t left = k / r.count; left; --left) {
      auto held = LAB_AWAIT(permits.acquire());
      if (!held) break;
      counter.fetch_add(1, std::memory_order_relaxed);
      LAB_AWAIT(hocket::yield());
    }
    LAB_END;
  });
  return counter == k;
}

bool event_free(const load&, std::uint64_t k) {
  lab::auto_reset_event event;
  std::uint64_t seen = 0;
  lab::alone([&]() -> coroutine {
    for (std::uint64_t left = k; left; --left) {
      event.set();
      auto set = LAB_AWAIT(event.wait());
      seen += set.has_value();
    }
    LAB_END;
  });
  return seen == k;
}

bool timed_expire(const load& r, std::uint64_t k) {
  std::vector<lab::auto_reset_event> events(r.count);
  std::atomic<std::uint64_t> expired{0};
  lab::many(static_cast<int>(r.count), [&](int me) -> coroutine {
    const auto i = static_cast<std::size_t>(me);
    std::uint64_t mine = 0;
    for (std::uint64_t j = 0; j < k / r.count; ++j) {
      auto set = LAB_AWAIT(within(lab::near(i + j * r.count, r.count), events[i].wait()));
      mine += !set && set.error() == std::errc::timed_out;
    }
    expired.fetch_add(mine, std::memory_order_relaxed);
    LAB_END;
  });
  return expired == k;
}

template <bool (*Units)(std::uint64_t)>
bool as_waits(const load&, std::uint64_t k) {
  return Units(k);
}

#ifdef LAB_SPSC
using channel = lab::primitives::spsc_channel<std::uint64_t>;
#else
using channel = lab::primitives::channel<std::uint64_t>;
#endif

constexpr lab::named_primitive primitives[] = {
    {"mutex_free", mutex_free},
    {"mutex_contended", one_mutex<true>},
    {"mutex_parallel", one_mutex<false>},
    {"semaphore_free", as_waits<lab::semaphore_free>},
    {"semaphore_contended", semaphore_contended},
#if defined(LAB_WORKERS) && !defined(LAB_SPSC)
    {"pool_free", lab::borrow_connections<false>},
    {"pool_contended", lab::borrow_connections<true>},
#endif
    {"event_free", event_free},
    {"event_ping_pong", as_waits<lab::event>},
    {"channel_same", lab::channel_same<channel>},
    {"channel_1p1c", lab::channel_many<channel, 1, lab::buffered, lab::receive_each<channel>>},
    {"channel_batch", lab::channel_many<channel, 1, lab::buffered_for_batches, lab::receive_batches<channel>>},
#ifndef LAB_SPSC
    {"channel_4p4c", lab::channel_many<channel, 4, lab::buffered, lab::receive_each<channel>>},
    {"channel_rendezvous", lab::channel_rendezvous<channel>},
#endif
    {"broadcast_100", lab::broadcast_100},
    {"select_of_4", as_waits<lab::select_handover>},
    {"select_of_2_sockets", lab::select_of_2_sockets},
    {"condition_ping_pong", lab::condition_ping_pong},
    {"monitor_ping_pong", lab::monitor_ping_pong},
    {"monitor_free", lab::monitor_free},
    {"monitor_contended", lab::monitor_contended},
    {"shared_free", lab::shared_free},
    {"shared_mixed", lab::shared_mixed},
    {"timed_free", as_waits<lab::within_free>},
    {"timed_ping_pong", as_waits<lab::within_handover>},
    {"timed_expire", timed_expire},
};

}  // namespace

int main(int argc, char** argv) {
#ifdef LAB_WORKERS
  lab::workers(lab::parse_load(argc, argv).workers);
#endif
  return lab::run_primitives(LAB_SYSTEM, argc, argv, primitives);
}
