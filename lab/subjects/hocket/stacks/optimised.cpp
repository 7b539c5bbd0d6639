// hocket's raw coroutine, this file being compiled with -O2 in the one program and -O3 in the other. Most of a switch
// is inline, so it is compiled here; the library itself is built once, with -O2.
#include <hocket/fiber/coroutine.hpp>

#include "owned.hpp"

namespace {

using coroutine = hocket::coroutine<void()>;

class coroutines {
 public:
  coroutines(std::size_t n, std::size_t stack) : stacks_{{.stack_size = stack}}, all_{n} {}

  void create(std::size_t i, lab::line& mine) {
    all_.put(i, [&] {
      return coroutine{stacks_, [&mine](auto& self) {
                         while (!mine.stop) {
                           ++mine.count;
                           self.yield();
                         }
                       }};
    });
  }
  void resume(std::size_t i) { all_[i].resume(); }
  void finish(std::size_t i) { resume(i); }
  void drop(std::size_t i) { all_.drop(i); }

 private:
  hocket::stack_pool stacks_;
  lab::slots<coroutine> all_;
};

}  // namespace

int lab::optimised(const char* system, const request& r) {
  owned_page<coroutines> page{r};
  emit(system, "optimised", r.n, "ns", page.lives());
  emit(system, "optimised_trip", r.n, "ns", page.round_trips());
  return 0;
}
