// Boost.Fiber on the threads of ../boost_fiber_team.hpp; one of them is the lab's own. With one worker the stacks are
// from pooled_fixedsize_stack, which has a pool for one thread. With several workers, and if not all stacks could be in
// use at once, the stacks are of the default kind. A new fiber that ends at once runs at once (launch::dispatch), any
// other one is posted.
//
// If the lab's thread must be outside (post_outside, wake, idle), it is a further thread. There the workers are threads
// that sleep when they have no work, each with a fiber that takes jobs from one buffered_channel.
#include "fiber_team.hpp"
#include "scheduler/scheduler.hpp"

namespace {

namespace fibers = boost::fibers;
using lab::load;

// `body(stacks)`
template <class Body>
void with_stacks(const load& r, Body body) {
  lab::start_others(r.workers);
  if (r.workers == 1) {
    body(fibers::pooled_fixedsize_stack{r.stack});
  } else {
    body(fibers::fixedsize_stack{r.stack});
  }
}

// `body(i)` in as many fibers, until all have ended.
template <class Stacks, class Body>
void in_fibers(fibers::launch how, Stacks stacks, std::size_t count, Body body) {
  std::vector<fibers::fiber> all;
  all.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    all.emplace_back(how, std::allocator_arg, stacks, [&body, i] { body(i); });
  }
  for (fibers::fiber& one : all) one.join();
}

void yielding(lab::gate& gate, std::size_t k) {
  gate.arrive();
  while (!gate.is_open()) boost::this_fiber::yield();
  for (; k; --k) boost::this_fiber::yield();
  gate.leave();
}

void yields(const char* system, const load& r) {
  lab::gate gate;
  with_stacks(r, [&](auto stacks) {
    const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
      gate.close(r.count);
      in_fibers(fibers::launch::post, stacks, r.count, [&](std::size_t) { yielding(gate, k); });
      return gate.wait();
    });
    r.emit_of(system, "yields", "ns", ns / static_cast<double>(r.count));
  });
}

void spawn_join(const char* system, const load& r) {
  with_stacks(r, [&](auto stacks) {
    const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
      std::uint64_t counter = 0;
      const double took = lab::timed([&] {
        for (std::size_t i = 0; i < k; ++i) {
          fibers::fiber{fibers::launch::dispatch, std::allocator_arg, stacks, [&counter] { ++counter; }}.join();
        }
      });
      if (counter != k) lab::fail("not every fiber has run");
      return took;
    });
    r.emit_of(system, "spawn_join", "ns", ns);
  });
}

void ping_pong(const char* system, const load& r) {
  with_stacks(r, [&](auto stacks) {
    const double ns = lab::median_of_some(r.budget_ns, [&] {
      lab::fiber_event sides[2];
      double took = 0;
      in_fibers(fibers::launch::post, stacks, 2, [&](std::size_t me) {
        const double begin = lab::now_ns();
        for (std::size_t i = 0; i < r.count / 2; ++i) {
          if (me == 0) sides[1].set();
          sides[me].wait();
          if (me == 1) sides[0].set();
        }
        if (me == 0) took = lab::now_ns() - begin;
      });
      return took;
    });
    r.emit_of(system, "ping_pong", "ns", ns / static_cast<double>(r.count));
  });
}

void when_all(const char* system, const load& r) {
  with_stacks(r, [&](auto stacks) {
    const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
      std::uint64_t sum = 0;
      const double took = lab::timed([&] {
        for (std::size_t round = 0; round < k; ++round) {
          std::vector<std::uint64_t> values(r.count);
          in_fibers(fibers::launch::dispatch, stacks, r.count, [&](std::size_t i) { values[i] = i; });
          for (std::uint64_t one : values) sum += one;
        }
      });
      if (sum != k * (r.count * (r.count - 1) / 2)) lab::fail("the fibers gave another sum");
      return took;
    });
    r.emit_of(system, "when_all_10000", "ns", ns / static_cast<double>(r.count));
  });
}

// As hocket's: two fibers hand over to each other, each waiting under a deadline.
void timer_cancel(const char* system, const load& r) {
  lab::gate gate;
  with_stacks(r, [&](auto stacks) {
    const double ns = lab::median_of_rounds(r.budget_ns, [&](std::size_t k) {
      gate.close(2 * r.workers);
      std::vector<lab::fiber_event> sides(2 * r.workers);
      in_fibers(fibers::launch::post, stacks, sides.size(), [&](std::size_t me) {
        gate.arrive();
        while (!gate.is_open()) boost::this_fiber::yield();
        for (std::size_t i = 0; i < k; ++i) {
          if (me % 2 == 0) sides[me ^ 1].set();
          if (!sides[me].wait_within(lab::far(2 * i))) lab::fail("a wait has failed");
          if (me % 2 == 1) sides[me ^ 1].set();
        }
        gate.leave();
      });
      return gate.wait();
    });
    r.emit_of(system, "timer_cancel", "ns", ns / static_cast<double>(2 * r.workers));
  });
}

void timer_expire(const char* system, const load& r) {
  lab::start_others(r.workers);
  const double ns = lab::second_time([&] {
    in_fibers(fibers::launch::post, fibers::fixedsize_stack{r.stack}, r.count,
              [&](std::size_t i) { boost::this_fiber::sleep_for(lab::near(i, r.count)); });
  });
  r.emit_of(system, "timer_expire", "ns", ns / static_cast<double>(r.count));
  lab::leave();
}

void sleeping(const char* system, const load& r) {
  lab::start_others(2);
  const double before = lab::held_bytes();
  std::atomic<std::size_t> begun{0};
  for (std::size_t i = 0; i < r.n; ++i) {
    fibers::fiber{fibers::launch::post, std::allocator_arg, fibers::fixedsize_stack{r.stack},
                  [&begun, i] {
                    begun.fetch_add(1, std::memory_order_relaxed);
                    boost::this_fiber::sleep_for(lab::far(i));
                  }}
        .detach();
  }
  while (begun != r.n) boost::this_fiber::yield();
  const double grown = lab::settled_bytes() - before;
  r.emit_of(system, "sleeping", "B", grown / static_cast<double>(r.n));
  lab::leave();
}

// A job, and what it is about.
struct job {
  void (*run)(void* what) = nullptr;
  void* what = nullptr;
};
constexpr std::size_t jobs_in_channel = 1024;

// Threads with a fiber each that runs what comes through a channel.
class job_workers {
 public:
  explicit job_workers(std::size_t workers) {
    for (std::size_t i = 0; i < workers; ++i) {
      threads_.emplace_back([this] {
        for (job one; jobs_.pop(one) == fibers::channel_op_status::success;) one.run(one.what);
      });
    }
  }
  ~job_workers() {
    jobs_.close();
    for (std::thread& one : threads_) one.join();
  }

  template <class T>
  void post(T& what, void (*run)(void*)) {
    jobs_.push(job{run, &what});
  }

 private:
  fibers::buffered_channel<job> jobs_{jobs_in_channel};
  std::vector<std::thread> threads_;
};

void post_outside(const char* system, const load& r) {
  job_workers workers(r.workers);
  lab::post_outside(system, r, [&](lab::countdown& jobs) {
    workers.post(jobs, [](void* what) { static_cast<lab::countdown*>(what)->done(); });
  });
}

void wake(const char* system, const load& r) {
  job_workers workers(r.workers);
  lab::wake(system, r,
            [&](double& ran) { workers.post(ran, [](void* what) { lab::note_now(*static_cast<double*>(what)); }); });
}

void idle(const char* system, const load& r) {
  job_workers workers(r.workers);
  lab::idle(system, r);
}

constexpr lab::named_load loads[] = {
    {"yields", yields},
    {"spawn_join", spawn_join},
    {"post_outside", post_outside},
    {"ping_pong", ping_pong},
    {"when_all_10000", when_all},
    {"timer_cancel", timer_cancel},
    {"timer_expire", timer_expire},
    {"wake", wake},
    {"idle", idle},
    {"sleeping", sleeping},
};

}  // namespace

int main(int argc, char** argv) {
  lab::run_load(LAB_SYSTEM, argc, argv, loads);
  lab::leave();  // the other threads look for work until the end
}
