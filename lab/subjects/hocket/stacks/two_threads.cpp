// Create, enter and destroy n coroutines, again and again: the processor time of one, of the threads that do it. On two
// cores. Two metrics: `two_threads` with warm stacks of each thread's default pool, `two_threads_fresh` with a new pool
// for each n, so that two threads map, touch and unmap memory of the same process at once.
//
//   hocket-one-thread     one thread, the other core is idle
//   hocket-two-threads    two threads at once
//   hocket-two-processes  the same work in two processes at once: what the machine itself takes when both cores work,
//                         which may share much (hyper-threads do), and nothing of the process is shared
#include <hocket/fiber/coroutine.hpp>
#include <hocket/stack/stack_pool.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <ctime>
#include <thread>

#include "effects.hpp"

namespace {

using coroutine = hocket::coroutine<void()>;

double cpu_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

struct work {
  double cpu = 0;
  double operations = 0;
};

class worker {
 public:
  worker(const lab::request& r, bool is_fresh) : n_{r.n}, stack_{r.stack}, fresh_{is_fresh}, all_{r.n} { once(); }

  // For so long by the clock on the wall.
  work go(double ns) {
    work done{cpu_ns(), 0};
    for (double end = lab::now_ns() + ns; lab::now_ns() < end; done.operations += static_cast<double>(n_)) once();
    done.cpu = cpu_ns() - done.cpu;
    return done;
  }

 private:
  void once() {
    if (!fresh_) return lives([](auto body) { return coroutine{body}; });
    hocket::stack_pool stacks{{.stack_size = stack_}};
    lives([&](auto body) { return coroutine{stacks, body}; });
  }
  template <class Make>
  void lives(Make make) {
    std::uint64_t entered = 0;
    for (std::size_t i = 0; i < n_; ++i) all_.put(i, [&] { return make([&entered](auto&) { ++entered; }); });
    for (std::size_t i = 0; i < n_; ++i) all_[i].resume();
    for (std::size_t i = 0; i < n_; ++i) all_.drop(i);
    if (entered != n_) lab::fail("a coroutine did not run as it should");
  }

  std::size_t n_;
  std::size_t stack_;
  bool fresh_;
  lab::slots<coroutine> all_;
};

using measured = double (*)(const lab::request& r, bool is_fresh, double ns);

double one_thread(const lab::request& r, bool is_fresh, double ns) {
  work done = worker{r, is_fresh}.go(ns);
  return done.cpu / done.operations;
}

double two_threads(const lab::request& r, bool is_fresh, double ns) {
  work done[2];
  std::barrier begin{2};
  auto body = [&](work& mine) {
    worker w{r, is_fresh};
    begin.arrive_and_wait();
    mine = w.go(ns);
  };
  std::thread other{body, std::ref(done[1])};
  body(done[0]);
  other.join();
  return (done[0].cpu + done[1].cpu) / (done[0].operations + done[1].operations);
}

// Each tells the other that it is ready, and the child what it has done.
double two_processes(const lab::request& r, bool is_fresh, double ns) {
  int to_child[2], to_parent[2];
  if (pipe(to_child) != 0 || pipe(to_parent) != 0) lab::fail("no pipe");
  pid_t child = fork();
  if (child < 0) lab::fail("no second process");
  int in = child == 0 ? to_child[0] : to_parent[0], out = child == 0 ? to_parent[1] : to_child[1];
  char ready = 0;
  work mine, others;
  {
    worker w{r, is_fresh};
    if (write(out, &ready, 1) != 1 || read(in, &ready, 1) != 1) lab::fail("the other process is gone");
    mine = w.go(ns);
  }
  if (child == 0) _exit(write(out, &mine, sizeof mine) == sizeof mine ? 0 : 1);
  if (read(in, &others, sizeof others) != sizeof others) lab::fail("the other process is gone");
  waitpid(child, nullptr, 0);
  for (int fd : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) close(fd);
  return (mine.cpu + others.cpu) / (mine.operations + others.operations);
}

void report(const char* system, const char* metric, const lab::request& r, measured f, bool is_fresh) {
  constexpr std::size_t slices = 5;
  std::vector<double> values;
  for (std::size_t i = 0; i < slices; ++i) values.push_back(f(r, is_fresh, r.budget_ns / slices));
  lab::emit(system, metric, r.n, "ns", lab::median(std::move(values)));
}

measured variant(std::string_view name) {
  if (name == "hocket-one-thread") return one_thread;
  if (name == "hocket-two-threads") return two_threads;
  if (name == "hocket-two-processes") return two_processes;
  lab::unknown_system();
}

}  // namespace

int lab::two_threads(const char* system, const request& r) {
  measured f = variant(system);
  report(system, "two_threads", r, f, false);
  report(system, "two_threads_fresh", r, f, true);
  return 0;
}
