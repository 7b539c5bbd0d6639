// hocket's loop with one kind of coroutine: hocket-fiber, and hocket-task-loop (LAB_TASK). In the page `wait` there are
// two more programs, for the primitives of one thread (LAB_UNSYNC); hocket_waits.hpp has that page.
//
// Coroutines are created from inside of the loop, where most are: that needs no atomics. A fiber takes its stack when
// it runs first, so that `create` and `create_warm` are without it, and `bytes` with it. hocket-fiber-copied: fibers
// that share a stack (LAB_STACK).
#include "kind.hpp"
#include "scheduled.hpp"
#include "waits.hpp"

#ifndef LAB_STACK
#define LAB_STACK own
#endif

namespace {

[[gnu::noinline]] lab::coroutine life(lab::turns& turns, lab::line& mine, bool first) {
  ++mine.count;
  LAB_AWAIT(hocket::yield());
  if (first) {
    while (std::size_t k = turns.next()) {
      for (; k; --k) {
        ++mine.count;
        LAB_AWAIT(hocket::yield());
      }
    }
  }
  while (mine.count < turns.limit) {
    ++mine.count;
    LAB_AWAIT(hocket::yield());
  }
  LAB_END;
}

class scheduler {
 public:
  scheduler(std::size_t n, std::size_t stack) : stack_{stack}, handles_{n} {}

  template <class F>
  void inside(F&& f) {
    hocket::spawn(loop_, [&f]() -> lab::coroutine {
      f();
      LAB_END;
    });
    loop_.step();
  }
  void create(std::size_t i, lab::turns& turns, lab::line& mine) {
    handles_.put(i, [&] {
      return hocket::spawn(loop_, {.stack_size = stack_, .stack = hocket::stack_kind::LAB_STACK}, life, std::ref(turns),
                           std::ref(mine), i == 0);
    });
  }
  void round(std::size_t n) {
    for (; n; --n) loop_.step();
  }
  void run() { loop_.run(); }
  void drop(std::size_t i) { handles_.drop(i); }

 private:
  std::size_t stack_;
  hocket::loop loop_;
  lab::slots<hocket::join_handle<void>> handles_;
};

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (auto status = lab::run_scheduled<scheduler>(LAB_SYSTEM, r)) return *status;
  return lab::run_named(LAB_SYSTEM, r, lab::waits);
}
