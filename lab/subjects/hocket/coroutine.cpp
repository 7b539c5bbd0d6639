// hocket's raw asymmetric fiber, on stacks of one pool, with the assertions of a release. hocket-coroutine-dense:
// stacks of 4 KiB side by side, on huge pages where there are any, whatever the size of the table is (LAB_DENSE).
#include <hocket/fiber/coroutine.hpp>
#include <hocket/stack/stack_pool.hpp>

#include "managed.hpp"

namespace {

using coroutine = hocket::coroutine<void()>;

class coroutines {
 public:
  coroutines(std::size_t n, std::size_t stack) : stacks_{kind(stack)}, coroutines_{n} {}

  void create(std::size_t i, lab::line& mine) {
    coroutines_.put(i, [&] {
      return coroutine{stacks_, [&mine](auto& self) {
                         while (!mine.stop) {
                           ++mine.count;
                           self.yield();
                         }
                       }};
    });
  }
  void resume(std::size_t i) { coroutines_[i].resume(); }
  void finish(std::size_t i) {
    resume(i);
    if (!coroutines_[i].done()) lab::fail("a coroutine went on after its end");
  }
  void drop(std::size_t i) { coroutines_.drop(i); }

 private:
  static hocket::stack_options kind([[maybe_unused]] std::size_t size) {
#ifdef LAB_DENSE
    return {.stack_size = 4096, .layout = hocket::stack_layout::dense};
#else
    return {.stack_size = size};
#endif
  }

  hocket::stack_pool stacks_;
  lab::slots<coroutine> coroutines_;
};

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (r.workload == "switch") return lab::run_switch<coroutines>(LAB_SYSTEM, r);
  return lab::run_managed<lab::by_owner<coroutines>>(LAB_SYSTEM, r);
}
