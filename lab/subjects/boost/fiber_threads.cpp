// Boost.Fiber on the page `primitives`, on the threads of ../boost_fiber_team.hpp. A new fiber does not run at once
// (launch::post). Stacks are of the default kind, fixedsize_stack: the pool of stacks is for one thread.
//
// buffered_channel keeps one place free, so one of 64 has room for 63; channel_rendezvous is unbuffered_channel. A
// broadcast is a channel for each receiver. A lock under a deadline is a timed_mutex. There is neither a semaphore, nor
// a shared mutex, nor a wait for one of several, nor a receive of many.
#include "fiber_team.hpp"
#include "primitives/primitives.hpp"

namespace {

namespace fibers = boost::fibers;
using lab::load;

// `body(i)` in as many fibers, until all have ended.
template <class Body>
void in_fibers(const load& r, std::size_t count, Body body) {
  fibers::fixedsize_stack stacks{r.stack};
  std::vector<fibers::fiber> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    all.emplace_back(fibers::launch::post, std::allocator_arg, stacks, [&body, i] { body(i); });
  }
  for (fibers::fiber& one : all) one.join();
}

bool mutex_free(const load& r, std::uint64_t k) {
  std::vector<lab::guarded<fibers::mutex>> all(r.workers);
  in_fibers(r, r.workers, [&](std::size_t i) {
    auto& mine = all[i];
    for (std::uint64_t left = k / r.workers; left; --left) {
      std::lock_guard held{mine.lock};
      lab::increment(mine.counter);
    }
  });
  std::uint64_t sum = 0;
  for (auto& one : all) sum += one.counter;
  return sum == k;
}

template <bool Yields>
bool one_mutex(const load& r, std::uint64_t k) {
  lab::guarded<fibers::mutex> shared;
  in_fibers(r, r.count, [&](std::size_t) {
    for (std::uint64_t left = k / r.count; left; --left) {
      std::lock_guard held{shared.lock};
      lab::increment(shared.counter);
      if constexpr (Yields) boost::this_fiber::yield();
    }
  });
  return shared.counter == k;
}

using event = lab::fiber_event;

bool event_free(const load& r, std::uint64_t k) {
  std::uint64_t seen = 0;
  in_fibers(r, 1, [&](std::size_t) {
    event e;
    for (std::uint64_t left = k; left; --left) {
      e.set();
      seen += e.wait();
    }
  });
  return seen == k;
}

template <bool Timed>
bool ping_pong(const load& r, std::uint64_t k) {
  event events[2];
  std::atomic<std::uint64_t> seen{0};
  in_fibers(r, 2, [&](std::size_t me) {
    std::uint64_t mine = 0;
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      if (me == 0) events[1].set();
      mine += Timed ? events[me].wait_within(std::chrono::hours{1}) : events[me].wait();
      if (me == 1) events[0].set();
    }
    seen += mine;
  });
  return seen == k;
}

using channel = fibers::buffered_channel<std::uint64_t>;

bool channel_same(const load& r, std::uint64_t k) {
  channel c{lab::buffered};
  std::uint64_t sum = 0;
  in_fibers(r, 1, [&](std::size_t) {
    for (std::uint64_t i = 0; i < k; ++i) {
      std::uint64_t got = 0;
      c.push(lab::value_of(i));
      c.pop(got);
      sum += got;
    }
  });
  return sum == lab::sum_of_values(0, k);
}

// The last one that sends closes.
template <std::size_t Each>
bool many(const load& r, std::uint64_t k) {
  channel c{lab::buffered};
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::size_t> sending{Each};
  in_fibers(r, 2 * Each, [&](std::size_t i) {
    if (i >= Each) {
      std::uint64_t mine = 0;
      for (std::uint64_t got = 0; c.pop(got) == fibers::channel_op_status::success;) mine += got;
      sum += mine;
      return;
    }
    for (std::uint64_t j = i * (k / Each), end = j + k / Each; j < end; ++j) c.push(lab::value_of(j));
    if (--sending == 0) c.close();
  });
  return sum == lab::sum_of_values(0, k);
}

bool channel_rendezvous(const load& r, std::uint64_t k) {
  fibers::unbuffered_channel<std::uint64_t> there, back;
  std::uint64_t right = 0;
  in_fibers(r, 2, [&](std::size_t me) {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      std::uint64_t got = k;
      if (me == 1) {
        there.pop(got);
        back.push(got);
      } else {
        there.push(i);
        back.pop(got);
        right += got == i;
      }
    }
  });
  return right == k / 2;
}

bool broadcast_100(const load& r, std::uint64_t k) {
  std::vector<std::unique_ptr<channel>> to;
  for (std::size_t i = 0; i < r.count; ++i) to.push_back(std::make_unique<channel>(2 * lab::burst));
  lab::burst_count having(r.count);
  event all;
  std::atomic<std::uint64_t> sum{0};
  in_fibers(r, r.count + 1, [&](std::size_t me) {
    std::uint64_t mine = 0;
    for (std::uint64_t i = 0; i < k; ++i) {
      const bool ends_burst = (i + 1) % lab::burst == 0;
      if (me == r.count) {
        for (auto& c : to) c->push(lab::value_of(i));
        if (ends_burst) all.wait();
      } else {
        std::uint64_t got = 0;
        to[me]->pop(got);
        mine += got;
        if (ends_burst && having.is_last()) all.set();
      }
    }
    sum += mine;
  });
  return sum == r.count * lab::sum_of_values(0, k);
}

bool give_turns(const load& r, std::uint64_t k, fibers::condition_variable& first, fibers::condition_variable& second) {
  fibers::mutex mutex;
  fibers::condition_variable* changed[] = {&first, &second};
  std::size_t turn = 0;
  std::uint64_t turns = 0;
  in_fibers(r, 2, [&](std::size_t me) {
    std::unique_lock held{mutex};
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      changed[me]->wait(held, [&] { return turn == me; });
      ++turns;
      turn = 1 - me;
      changed[1 - me]->notify_one();
    }
  });
  return turns == k;
}

bool condition_ping_pong(const load& r, std::uint64_t k) {
  fibers::condition_variable first, second;
  return give_turns(r, k, first, second);
}
bool monitor_ping_pong(const load& r, std::uint64_t k) {
  fibers::condition_variable changed;
  return give_turns(r, k, changed, changed);
}

bool monitor_contended(const load& r, std::uint64_t k) {
  lab::guarded<fibers::recursive_mutex> shared;
  in_fibers(r, r.count, [&](std::size_t) {
    for (std::uint64_t left = k / r.count; left; --left) {
      std::lock_guard held{shared.lock};
      std::lock_guard again{shared.lock};
      lab::increment(shared.counter);
      boost::this_fiber::yield();
    }
  });
  return shared.counter == k;
}

bool monitor_free(const load& r, std::uint64_t k) {
  lab::guarded<fibers::recursive_mutex> mine;
  in_fibers(r, 1, [&](std::size_t) {
    for (std::uint64_t left = k; left; --left) {
      std::lock_guard held{mine.lock};
      std::lock_guard again{mine.lock};
      lab::increment(mine.counter);
    }
  });
  return mine.counter == k;
}

bool timed_free(const load& r, std::uint64_t k) {
  lab::guarded<fibers::timed_mutex> mine;
  in_fibers(r, 1, [&](std::size_t) {
    for (std::uint64_t left = k; left; --left) {
      std::unique_lock held{mine.lock, std::chrono::hours{1}};
      lab::increment(mine.counter);
    }
  });
  return mine.counter == k;
}

bool timed_expire(const load& r, std::uint64_t k) {
  std::vector<event> events(r.count);
  std::atomic<std::uint64_t> expired{0};
  in_fibers(r, r.count, [&](std::size_t i) {
    std::uint64_t mine = 0;
    for (std::uint64_t j = 0; j < k / r.count; ++j) {
      mine += !events[i].wait_within(lab::near(i + j * r.count, r.count));
    }
    expired += mine;
  });
  return expired == k;
}

constexpr lab::named_primitive primitives[] = {
    {"mutex_free", mutex_free},
    {"mutex_contended", one_mutex<true>},
    {"mutex_parallel", one_mutex<false>},
    {"event_free", event_free},
    {"event_ping_pong", ping_pong<false>},
    {"channel_same", channel_same},
    {"channel_1p1c", many<1>},
    {"channel_4p4c", many<4>},
    {"channel_rendezvous", channel_rendezvous},
    {"broadcast_100", broadcast_100},
    {"condition_ping_pong", condition_ping_pong},
    {"monitor_ping_pong", monitor_ping_pong},
    {"monitor_free", monitor_free},
    {"monitor_contended", monitor_contended},
    {"timed_free", timed_free},
    {"timed_ping_pong", ping_pong<true>},
    {"timed_expire", timed_expire},
};

}  // namespace

int main(int argc, char** argv) {
  lab::start_others(lab::parse_load(argc, argv).workers);
  lab::run_primitives(LAB_SYSTEM, argc, argv, primitives);
  lab::leave();
}
