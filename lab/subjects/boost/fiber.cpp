// Boost.Fiber on one thread: the scheduler round_robin (the default), launch::post (a new fiber does not run at once)
// and pooled_fixedsize_stack, the library's documented pool. The main fiber drives; it waits in join() where it must
// not take turns. The library's own dispatcher fiber takes a turn in each round of the ready queue.
//
// Debian's library is built with atomics (the build option BOOST_FIBERS_NO_ATOMICS, which its documentation names for
// programs of one thread, is not available in a package).
//
// In the page `wait` an event is a mutex, a condition variable and a bool; a oneshot is a promise and its future;
// within is timed_mutex and wait_for. A fiber that unlocks a mutex may lock it again before the woken waiter gets it.
// So in mutex_handover each holder yields while it holds the mutex, and again after. There is no semaphore, and no wait
// for one of several events.
#include <boost/fiber/all.hpp>

#include <mutex>
#include <optional>

#include "fiber_event.hpp"
#include "scheduled.hpp"
#include "wait.hpp"

namespace {

namespace fibers = boost::fibers;

void life(lab::turns& turns, lab::line& mine, bool first) {
  ++mine.count;
  boost::this_fiber::yield();
  if (first) {
    while (std::size_t k = turns.next()) {
      for (; k; --k) {
        ++mine.count;
        boost::this_fiber::yield();
      }
    }
  }
  while (mine.count < turns.limit) {
    ++mine.count;
    boost::this_fiber::yield();
  }
}

class scheduler {
 public:
  scheduler(std::size_t n, std::size_t stack) : n_{n}, stacks_{stack}, fibers_{n} {}

  template <class F>
  void inside(F&& f) {
    f();
  }
  void create(std::size_t i, lab::turns& turns, lab::line& mine) {
    fibers_.put(i, [&] {
      return fibers::fiber{fibers::launch::post, std::allocator_arg, stacks_,
                           [&turns, &mine, i] { life(turns, mine, i == 0); }};
    });
  }
  void round(std::size_t) { boost::this_fiber::yield(); }
  void run() {
    for (std::size_t i = 0; i < n_; ++i) fibers_[i].join();
  }
  void drop(std::size_t i) { fibers_.drop(i); }

 private:
  std::size_t n_;
  fibers::pooled_fixedsize_stack stacks_;
  lab::slots<fibers::fiber> fibers_;
};

// --- the page `wait`

// Runs two fibers to their end, number 0 first.
template <class Body>
void both(Body body) {
  fibers::fiber first{fibers::launch::post, body, 0};
  fibers::fiber second{fibers::launch::post, body, 1};
  first.join();
  second.join();
}

bool mutex_free(std::uint64_t k) {
  fibers::mutex m;
  std::uint64_t counter = 0;
  for (std::uint64_t i = 0; i < k; ++i) {
    std::lock_guard held{m};
    lab::increment(counter);
  }
  return counter == k;
}

bool mutex_handover(std::uint64_t k) {
  fibers::mutex m;
  lab::handovers handed;
  both([&](int me) {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      m.lock();
      handed.taken_by(me);
      boost::this_fiber::yield();
      m.unlock();
      boost::this_fiber::yield();
    }
  });
  return handed.count == k;
}

using event = lab::fiber_event;

template <class Wait>
bool ping_pong(std::uint64_t k, Wait wait) {
  event events[2];
  std::uint64_t seen = 0;
  both([&](int me) {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      if (me == 0) events[1].set();
      seen += wait(events[me]);
      if (me == 1) events[0].set();
    }
  });
  return seen == k;
}

bool oneshot_ready(std::uint64_t k) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < k; ++i) {
    fibers::promise<std::uint64_t> sender;
    fibers::future<std::uint64_t> receiver = sender.get_future();
    sender.set_value(i);
    sum += receiver.get();
  }
  return sum == k * (k - 1) / 2;
}

// Each makes a channel for its next value, passes the sender to the other fiber, and sends through the sender that it
// got. It does not wait for the last value.
bool oneshot_handover(std::uint64_t k) {
  std::optional<fibers::promise<std::uint64_t>> left[2];
  std::uint64_t sum = 0;
  both([&](int me) {
    for (std::uint64_t i = 0; i < k / 2; ++i) {
      left[me].emplace();
      fibers::future<std::uint64_t> mine = left[me]->get_future();
      if (auto& other = left[1 - me]) {
        other->set_value(1);
        other.reset();
      }
      if (me == 0 || i + 1 < k / 2) sum += mine.get();
    }
  });
  return sum == k - 1;
}

bool within_free(std::uint64_t k) {
  fibers::timed_mutex m;
  std::uint64_t counter = 0;
  for (std::uint64_t i = 0; i < k; ++i) {
    if (!m.try_lock_for(std::chrono::hours{1})) return false;
    lab::increment(counter);
    m.unlock();
  }
  return counter == k;
}

constexpr lab::named_batch waits[] = {
    {"mutex", mutex_free},
    {"mutex_handover", mutex_handover},
    {"event", [](std::uint64_t k) { return ping_pong(k, [](event& e) { return e.wait(); }); }},
    {"oneshot", oneshot_ready},
    {"oneshot_handover", oneshot_handover},
    {"within", within_free},
    {"within_handover",
     [](std::uint64_t k) { return ping_pong(k, [](event& e) { return e.wait_within(std::chrono::hours{1}); }); }},
};

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  boost::this_fiber::get_id();  // the library's own state of this thread belongs to no measurement
  if (auto status = lab::run_scheduled<scheduler>(LAB_SYSTEM, r)) return *status;
  return lab::run_named(LAB_SYSTEM, r, waits);
}
