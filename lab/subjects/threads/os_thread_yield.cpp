// Operating system threads that are all ready and call sched_yield. Which of them comes next, and whether another does
// at all, is the kernel's affair. So a switch is what the kernel counted as one, and there are no more than calls.
//
// Begins when every thread has yielded once. The owner sleeps meanwhile.
#include <sched.h>

#include "managed.hpp"
#include "os_thread.hpp"

namespace {

struct alignas(64) thread {
  pthread_t id{};
  std::atomic<std::uint64_t> yields{0};
};

constexpr int most_sleeps = 1000;
std::atomic<bool> begun{false};
std::atomic<bool> stopped{false};

void* entry(void* argument) {
  begun.wait(false);
  auto& yields = static_cast<thread*>(argument)->yields;
  while (!stopped.load(std::memory_order_relaxed)) {
    yields.store(yields.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    sched_yield();
  }
  return nullptr;
}

struct so_far {
  double ns = lab::now_ns();
  double yields = 0;
  double switches = 0;

  so_far(lab::slots<thread>& threads, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i)
      yields += static_cast<double>(threads[i].yields.load(std::memory_order_relaxed));
    rusage all{};
    getrusage(RUSAGE_SELF, &all);
    switches = static_cast<double>(all.ru_nvcsw + all.ru_nivcsw);
  }
};

void sleep_for(double ns) {
  timespec time{static_cast<time_t>(ns / 1e9), static_cast<long>(ns) % 1'000'000'000};
  nanosleep(&time, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (r.workload != "switches") lab::fail("this subject knows the workload switches only");
  if (const char* reason = lab::refused_by(r.n)) return lab::skip(LAB_SYSTEM, r, reason);
  lab::slots<thread> threads{r.n};
  pthread_attr_t attributes = lab::stack_attributes(r.stack);
  for (std::size_t i = 0; i < r.n; ++i) {
    thread& t = *::new (static_cast<void*>(&threads[i])) thread;
    if (pthread_create(&t.id, &attributes, entry, &t) != 0) lab::fail("pthread_create failed");
  }
  begun = true;
  begun.notify_all();
  for (std::size_t i = 0; i < r.n; ++i) {
    while (threads[i].yields.load(std::memory_order_relaxed) == 0) sched_yield();
  }
  so_far before{threads, r.n}, after = before;
  double switches = 0;
  for (int i = 0; switches <= 0 && i < most_sleeps; ++i) {  // on a busy machine a short budget may see none
    sleep_for(r.budget_ns);
    after = {threads, r.n};
    switches = std::min(after.switches - before.switches, after.yields - before.yields);
  }
  stopped = true;
  for (std::size_t i = 0; i < r.n; ++i) pthread_join(threads[i].id, nullptr);
  if (switches <= 0) lab::fail("no thread was left for another");
  lab::emit_switches(LAB_SYSTEM, r.n, (after.ns - before.ns) / switches);
  return 0;
}
