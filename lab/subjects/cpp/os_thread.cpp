// Operating system threads: the owner hands over to one of them and waits, both by futex. The lab runs every subject
// on one core, so each handing over is a switch of the kernel; a round trip has two of them, as everywhere else.
//
// Creation is pthread_create, of a thread that waits for its first turn; how it gets there belongs to the first
// activation, unless the kernel runs it at once. A thread hands over for the last time at the end of its function;
// destruction is pthread_join, which waits for what may then be left of the thread's exit.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>

#include "harness.hpp"

namespace {

class baton {
 public:
  void pass() {
    word_.store(1, std::memory_order_release);
    syscall(SYS_futex, &word_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  void take() {
    while (word_.load(std::memory_order_acquire) == 0) {
      syscall(SYS_futex, &word_, FUTEX_WAIT_PRIVATE, 0, nullptr, nullptr, 0);
    }
    word_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<int> word_{0};
};

struct alignas(64) thread {
  baton go{};
  baton* owner = nullptr;
  lab::line* mine = nullptr;
  pthread_t id{};
};

void* entry(void* argument) {
  auto* t = static_cast<thread*>(argument);
  t->go.take();
  while (!t->mine->stop) {
    ++t->mine->count;
    t->owner->pass();
    t->go.take();
  }
  t->owner->pass();
  return nullptr;
}

class threads {
 public:
  threads(std::size_t n, std::size_t stack) : threads_{n} {
    pthread_attr_init(&attributes_);
    pthread_attr_setstacksize(&attributes_, std::max<std::size_t>(stack, PTHREAD_STACK_MIN));
  }

  void create(std::size_t i, lab::line& mine) {
    thread& t = *::new (static_cast<void*>(&threads_[i])) thread;
    t.owner = &owner_;
    t.mine = &mine;
    if (pthread_create(&t.id, &attributes_, entry, &t) != 0) lab::fail("pthread_create failed");
  }
  void resume(std::size_t i) {
    threads_[i].go.pass();
    owner_.take();
  }
  void finish(std::size_t i) { resume(i); }
  void drop(std::size_t i) { pthread_join(threads_[i].id, nullptr); }

 private:
  pthread_attr_t attributes_{};
  baton owner_{};
  lab::slots<thread> threads_;
};

unsigned long long number_in(const char* path) {
  std::FILE* f = std::fopen(path, "r");
  if (!f) return ULLONG_MAX;
  unsigned long long value = ULLONG_MAX;
  if (std::fscanf(f, "%llu", &value) != 1) value = ULLONG_MAX;  // "max" means no limit
  std::fclose(f);
  return value;
}

// A thread's stack and its guard are two mappings.
const char* refused_by(std::size_t n) {
  rlimit processes{};
  if (getrlimit(RLIMIT_NPROC, &processes) == 0 && processes.rlim_cur < n + 100) return "ulimit -u is too small";
  if (number_in("/proc/sys/kernel/threads-max") < n + 1000) return "kernel.threads-max is too small";
  if (number_in("/proc/sys/kernel/pid_max") < n + 1000) return "kernel.pid_max is too small";
  if (number_in("/sys/fs/cgroup/pids.max") < n + 100) return "the cgroup's pids.max is too small";
  if (number_in("/proc/sys/vm/max_map_count") < 2 * n + 500) return "vm.max_map_count is too small";
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (const char* reason = refused_by(r.n)) return lab::skip(LAB_SYSTEM, r, reason);
  return lab::run_switch<threads>(LAB_SYSTEM, r);
}
