// The floors of the pages `wait` and `primitives`: what a mutex that nobody else wants cannot do without.
//
//   bare-branch-store (LAB_PLAIN)  one thread: to lock is to look and to write, and so is to unlock
//   two-rmw                        between threads: each is one atomic read-modify-write, a compare-exchange
//   two-rmw-add (LAB_ADD)          the same, and what unlocks is a subtraction, which some processors do faster
#include <atomic>

#include "primitives/primitives.hpp"

namespace {

[[gnu::noinline, gnu::cold]] void contended() { lab::fail("nobody else wants it"); }

#ifdef LAB_PLAIN
class word {
 public:
  void lock() {
    if (taken_) [[unlikely]]
      contended();
    taken_ = true;
  }
  void unlock() {
    if (!taken_) [[unlikely]]
      contended();
    taken_ = false;
  }

 private:
  bool taken_ = false;
};
#else
class word {
 public:
  void lock() { change(0, 1, std::memory_order_acquire); }
#ifdef LAB_ADD
  void unlock() {
    if (taken_.fetch_sub(1, std::memory_order_release) != 1) [[unlikely]]
      contended();
  }
#else
  void unlock() { change(1, 0, std::memory_order_release); }
#endif

 private:
  void change(std::uint32_t from, std::uint32_t to, std::memory_order order) {
    if (!taken_.compare_exchange_strong(from, to, order, std::memory_order_relaxed)) [[unlikely]]
      contended();
  }
  std::atomic<std::uint32_t> taken_{0};
};
#endif

[[gnu::noinline]] void lock_and_unlock(word& m, std::uint64_t& counter, std::uint64_t k) {
  for (; k; --k) {
    m.lock();
    lab::increment(counter);
    m.unlock();
    lab::others();
  }
}

bool mutex(std::uint64_t k) {
  lab::guarded<word> mine;
  lock_and_unlock(mine.lock, mine.counter, k);
  return mine.counter == k;
}

constexpr lab::named_batch waits[] = {{"mutex", mutex}};
constexpr lab::named_primitive primitives[] = {
    {"mutex_free", [](const lab::load&, std::uint64_t k) { return mutex(k); }}};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 6) return lab::run_primitives(LAB_SYSTEM, argc, argv, primitives);
  return lab::run_named(LAB_SYSTEM, lab::parse(argc, argv), waits);
}
