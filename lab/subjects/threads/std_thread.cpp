// The page `primitives` with threads of the operating system, on as many cores as there are workers: std::mutex,
// std::condition_variable. The semaphore is POSIX's: after the last permit was taken, the semaphore of libstdc++ 12
// makes a system call at a release even without waiters. An event is a POSIX semaphore, too. C++ has no
// channel: here it is a ring behind a mutex, with a condition for either side, and the smallest holds one value (so in
// channel_rendezvous). A broadcast is a ring, too. There is no wait for one of several events.
//
// All batches use the same threads, which sleep in between.
#include <optional>
#include <shared_mutex>

#include "std_semaphore.hpp"
#include "std_team.hpp"

namespace {

using lab::in_threads;
using lab::load;
using lab::semaphore;

bool mutex_free(const load& r, std::uint64_t k) {
  std::vector<lab::guarded<std::mutex>> all(r.workers);
  in_threads(r.workers, [&](std::size_t i) {
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
  lab::guarded<std::mutex> shared;
  in_threads(r.count, [&](std::size_t) {
    for (std::uint64_t left = k / r.count; left; --left) {
      std::lock_guard held{shared.lock};
      lab::increment(shared.counter);
      if constexpr (Yields) std::this_thread::yield();
    }
  });
  return shared.counter == k;
}

bool semaphore_free(const load&, std::uint64_t k) {
  semaphore permits{1};
  std::uint64_t counter = 0;
  in_threads(1, [&](std::size_t) {
    for (std::uint64_t left = k; left; --left) {
      permits.acquire();
      lab::increment(counter);
      permits.release();
    }
  });
  return counter == k;
}

bool semaphore_contended(const load& r, std::uint64_t k) {
  semaphore permits{lab::permits_for_many};
  std::atomic<std::uint64_t> counter{0};
  in_threads(r.count, [&](std::size_t) {
    for (std::uint64_t left = k / r.count; left; --left) {
      permits.acquire();
      counter.fetch_add(1, std::memory_order_relaxed);
      std::this_thread::yield();
      permits.release();
    }
  });
  return counter == k;
}

bool event_free(const load&, std::uint64_t k) {
  semaphore event{0};
  std::uint64_t seen = 0;
  in_threads(1, [&](std::size_t) {
    for (std::uint64_t left = k; left; --left) {
      event.release();
      event.acquire();
      lab::increment(seen);
    }
  });
  return seen == k;
}

template <bool Timed>
bool ping_pong(const load&, std::uint64_t k) {
  semaphore events[2] = {semaphore{0}, semaphore{0}};
  std::atomic<std::uint64_t> seen{0};
  in_threads(2, [&](std::size_t me) {
    std::uint64_t mine = 0;
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      if (me == 0) events[1].release();
      if constexpr (Timed) {
        mine += events[me].acquire_within(std::chrono::hours{1});
      } else {
        events[me].acquire();
        ++mine;
      }
      if (me == 1) events[0].release();
    }
    seen += mine;
  });
  return seen == k;
}

class channel {
 public:
  explicit channel(std::size_t capacity) : ring_(capacity) {}

  void send(std::uint64_t value) {
    {
      std::unique_lock held{mutex_};
      has_room_.wait(held, [this] { return written_ - read_ < ring_.size(); });
      ring_[written_++ % ring_.size()] = value;
    }
    has_value_.notify_one();
  }

  std::optional<std::uint64_t> receive() {
    std::unique_lock held{mutex_};
    has_value_.wait(held, [this] { return written_ != read_ || closed_; });
    if (written_ == read_) return {};
    const std::uint64_t value = ring_[read_++ % ring_.size()];
    held.unlock();
    has_room_.notify_one();
    return value;
  }

  // Takes up to `at_most` values. Returns their number; 0 if the channel is closed and empty.
  std::size_t receive_some(std::uint64_t* to, std::size_t at_most) {
    std::unique_lock held{mutex_};
    has_value_.wait(held, [this] { return written_ != read_ || closed_; });
    const std::size_t count = std::min<std::size_t>(written_ - read_, at_most);
    for (std::size_t i = 0; i < count; ++i) to[i] = ring_[read_++ % ring_.size()];
    held.unlock();
    has_room_.notify_all();
    return count;
  }

  void close() {
    {
      std::lock_guard held{mutex_};
      closed_ = true;
    }
    has_value_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable has_room_, has_value_;
  std::vector<std::uint64_t> ring_;
  std::uint64_t written_ = 0, read_ = 0;
  bool closed_ = false;
};

bool channel_same(const load&, std::uint64_t k) {
  channel c{lab::buffered};
  std::uint64_t sum = 0;
  in_threads(1, [&](std::size_t) {
    for (std::uint64_t i = 0; i < k; ++i) {
      c.send(lab::value_of(i));
      sum += c.receive().value_or(0);
    }
  });
  return sum == lab::sum_of_values(0, k);
}

// `receive(channel&)` returns the sum of all values until the channel is closed. The last sender closes it.
template <class Receive>
bool many(std::size_t each, std::size_t capacity, std::uint64_t k, Receive receive) {
  channel c{capacity};
  std::atomic<std::uint64_t> sum{0};
  std::atomic<std::size_t> sending{each};
  in_threads(2 * each, [&](std::size_t i) {
    if (i >= each) {
      sum += receive(c);
      return;
    }
    for (std::uint64_t j = i * (k / each), end = j + k / each; j < end; ++j) c.send(lab::value_of(j));
    if (--sending == 0) c.close();
  });
  return sum == lab::sum_of_values(0, k);
}

std::uint64_t receive_each(channel& c) {
  std::uint64_t sum = 0;
  while (auto value = c.receive()) sum += *value;
  return sum;
}

std::uint64_t receive_batches(channel& c) {
  std::uint64_t some[lab::most_at_once], sum = 0;
  while (std::size_t count = c.receive_some(some, lab::most_at_once)) {
    for (std::size_t i = 0; i < count; ++i) sum += some[i];
  }
  return sum;
}

bool channel_1p1c(const load&, std::uint64_t k) { return many(1, lab::buffered, k, receive_each); }
bool channel_4p4c(const load&, std::uint64_t k) { return many(4, lab::buffered, k, receive_each); }
bool channel_batch(const load&, std::uint64_t k) { return many(1, lab::buffered_for_batches, k, receive_batches); }

bool channel_rendezvous(const load&, std::uint64_t k) {
  channel there{1}, back{1};
  std::uint64_t right = 0;
  in_threads(2, [&](std::size_t me) {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      if (me == 1) {
        back.send(there.receive().value_or(k));
      } else {
        there.send(i);
        right += back.receive() == i;
      }
    }
  });
  return right == k / 2;
}

bool broadcast_100(const load& r, std::uint64_t k) {
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t ring[lab::burst], written = 0;
  lab::burst_count having(r.count);
  semaphore all{0};
  std::atomic<std::uint64_t> sum{0};
  in_threads(r.count + 1, [&](std::size_t me) {
    std::uint64_t mine = 0;
    for (std::uint64_t i = 0; i < k; ++i) {
      const bool ends_burst = (i + 1) % lab::burst == 0;
      std::unique_lock held{mutex};
      if (me == r.count) {
        ring[written++ % lab::burst] = lab::value_of(i);
        held.unlock();
        changed.notify_all();
        if (ends_burst) all.acquire();
      } else {
        changed.wait(held, [&] { return written > i; });
        mine += ring[i % lab::burst];
        held.unlock();
        if (ends_burst && having.is_last()) all.release();
      }
    }
    sum += mine;
  });
  return sum == r.count * lab::sum_of_values(0, k);
}

bool give_turns(std::uint64_t k, std::condition_variable& first, std::condition_variable& second) {
  std::mutex mutex;
  std::condition_variable* changed[] = {&first, &second};
  std::size_t turn = 0;
  std::uint64_t turns = 0;
  in_threads(2, [&](std::size_t me) {
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

bool condition_ping_pong(const load&, std::uint64_t k) {
  std::condition_variable first, second;
  return give_turns(k, first, second);
}
bool monitor_ping_pong(const load&, std::uint64_t k) {
  std::condition_variable changed;
  return give_turns(k, changed, changed);
}

bool monitor_contended(const load& r, std::uint64_t k) {
  lab::guarded<std::recursive_mutex> shared;
  in_threads(r.count, [&](std::size_t) {
    for (std::uint64_t left = k / r.count; left; --left) {
      std::lock_guard held{shared.lock};
      std::lock_guard again{shared.lock};
      lab::increment(shared.counter);
      std::this_thread::yield();
    }
  });
  return shared.counter == k;
}

bool monitor_free(const load&, std::uint64_t k) {
  lab::guarded<std::recursive_mutex> mine;
  in_threads(1, [&](std::size_t) {
    for (std::uint64_t left = k; left; --left) {
      std::lock_guard held{mine.lock};
      std::lock_guard again{mine.lock};
      lab::increment(mine.counter);
    }
  });
  return mine.counter == k;
}

bool shared_free(const load&, std::uint64_t k) {
  lab::guarded<std::shared_mutex> mine;
  in_threads(1, [&](std::size_t) {
    for (std::uint64_t left = k; left; --left) {
      std::shared_lock seen{mine.lock};
      lab::increment(mine.counter);
    }
  });
  return mine.counter == k;
}

bool shared_mixed(const load& r, std::uint64_t k) {
  lab::guarded<std::shared_mutex> shared;
  std::atomic<std::uint64_t> reads{0};
  in_threads(r.count, [&](std::size_t) {
    for (std::uint64_t i = 0; i < k / r.count; ++i) {
      if (lab::is_write(i)) {
        std::lock_guard held{shared.lock};
        lab::increment(shared.counter);
        std::this_thread::yield();
      } else {
        std::shared_lock seen{shared.lock};
        reads.fetch_add(1, std::memory_order_relaxed);
        std::this_thread::yield();
      }
    }
  });
  return shared.counter + reads == k;
}

bool timed_free(const load&, std::uint64_t k) {
  lab::guarded<std::timed_mutex> mine;
  in_threads(1, [&](std::size_t) {
    for (std::uint64_t left = k; left; --left) {
      std::unique_lock held{mine.lock, std::chrono::hours{1}};
      lab::increment(mine.counter);
    }
  });
  return mine.counter == k;
}

bool timed_expire(const load& r, std::uint64_t k) {
  std::vector<std::unique_ptr<semaphore>> events;
  for (std::size_t i = 0; i < r.count; ++i) events.push_back(std::make_unique<semaphore>(0));
  std::atomic<std::uint64_t> expired{0};
  in_threads(r.count, [&](std::size_t i) {
    std::uint64_t mine = 0;
    for (std::uint64_t j = 0; j < k / r.count; ++j) {
      mine += !events[i]->acquire_within(lab::near(i + j * r.count, r.count));
    }
    expired += mine;
  });
  return expired == k;
}

constexpr lab::named_primitive primitives[] = {
    {"mutex_free", mutex_free},
    {"mutex_contended", one_mutex<true>},
    {"mutex_parallel", one_mutex<false>},
    {"semaphore_free", semaphore_free},
    {"semaphore_contended", semaphore_contended},
    {"event_free", event_free},
    {"event_ping_pong", ping_pong<false>},
    {"channel_same", channel_same},
    {"channel_1p1c", channel_1p1c},
    {"channel_4p4c", channel_4p4c},
    {"channel_rendezvous", channel_rendezvous},
    {"channel_batch", channel_batch},
    {"broadcast_100", broadcast_100},
    {"condition_ping_pong", condition_ping_pong},
    {"monitor_ping_pong", monitor_ping_pong},
    {"monitor_free", monitor_free},
    {"monitor_contended", monitor_contended},
    {"shared_free", shared_free},
    {"shared_mixed", shared_mixed},
    {"timed_free", timed_free},
    {"timed_ping_pong", ping_pong<true>},
    {"timed_expire", timed_expire},
};

}  // namespace

int main(int argc, char** argv) { return lab::run_primitives(LAB_SYSTEM, argc, argv, primitives); }
