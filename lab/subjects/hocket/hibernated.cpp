// hocket's fibers on a loop, spawned with hibernate_after: each wakes the next one and waits. Before the memory is read
// all of them are packed, as those are that have waited for long. While they take turns none is: nobody waits for
// an hour.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/auto_reset_event.hpp>

#include "managed.hpp"

namespace {

class ring {
 public:
  ring(std::size_t n, std::size_t stack) : n_{n}, stack_{stack}, turn_{n}, handles_{n} {}

  void create(std::size_t i, lab::line& mine) {
    turn_.put(i, [] { return hocket::unsync::auto_reset_event{}; });
    handles_.put(i, [&] {
      return hocket::spawn(loop_, {.stack_size = stack_, .hibernate_after = std::chrono::hours{1}},
                           [this, i, &mine] { life(i, mine); });
    });
  }
  void rounds(std::size_t k) {
    left_ = k;
    turn_[0].set();
    loop_.run();
  }
  void finish() { rounds(1); }
  void drop(std::size_t i) {
    handles_.drop(i);
    turn_.drop(i);
  }
  void rest() {
    hocket::hibernate_parked();
    if (hocket::hibernation_usage().packed != n_) lab::fail("a fiber that waits does not hibernate");
  }

 private:
  [[gnu::noinline]] void life(std::size_t i, lab::line& mine) {
    for (;;) {
      hocket::await(turn_[i].wait());
      if (mine.stop) break;
      ++mine.count;
      wake_after(i);
    }
    wake_after(i);
  }
  void wake_after(std::size_t i) {
    if (i + 1 < n_) turn_[i + 1].set();
    else if (--left_) turn_[0].set();
    else loop_.stop();
  }

  std::size_t n_;
  std::size_t stack_;
  std::size_t left_ = 0;
  lab::slots<hocket::unsync::auto_reset_event> turn_;
  hocket::loop loop_;
  lab::slots<hocket::join_handle<void>> handles_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_managed<ring>(LAB_SYSTEM, lab::parse(argc, argv)); }
