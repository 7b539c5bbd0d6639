// Two threads and a futex: what the kernel takes to wake one that sleeps, when there is nothing around it.
#include "os_thread.hpp"
#include "scheduler/scheduler.hpp"

namespace {

void wake(const char* system, const lab::load& r) {
  lab::baton baton;
  std::atomic<double*> to{nullptr};
  std::thread sleeper([&] {
    for (;;) {
      baton.take();
      double* ran = to.load(std::memory_order_relaxed);
      if (!ran) break;
      lab::note_now(*ran);
    }
  });
  lab::wake(system, r, [&](double& ran) {
    to.store(&ran, std::memory_order_relaxed);
    baton.pass();
  });
  to = nullptr;
  baton.pass();
  sleeper.join();
}

constexpr lab::named_load loads[] = {{"wake", wake}};

}  // namespace

int main(int argc, char** argv) { return lab::run_load(LAB_SYSTEM, argc, argv, loads); }
