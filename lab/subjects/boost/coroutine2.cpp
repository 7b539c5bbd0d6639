// Boost.Coroutine2: the asymmetric pair of push_type (the owner's end) and pull_type (the coroutine's end). It is this
// way round because the constructor of pull_type runs the body to its first yield, and that of push_type does not. It
// does enter the new stack, though, and come back, before the body: two switches are in the creation. A finished
// coroutine still waits on its stack, which the destructor unwinds by an exception before it frees it.
#include <boost/coroutine2/all.hpp>

#include "harness.hpp"

namespace {

namespace co = boost::coroutines2;
using coroutine = co::coroutine<void>;

class coroutines {
 public:
  coroutines(std::size_t n, std::size_t stack) : stacks_{stack}, coroutines_{n} {}

  void create(std::size_t i, lab::line& mine) {
    coroutines_.put(i, [&] {
      return coroutine::push_type{stacks_, [&mine](coroutine::pull_type& yield) {
                                    while (!mine.stop) {
                                      ++mine.count;
                                      yield();
                                    }
                                  }};
    });
  }
  void resume(std::size_t i) { coroutines_[i](); }
  void finish(std::size_t i) {
    resume(i);
    if (coroutines_[i]) lab::fail("a coroutine went on after its end");
  }
  void drop(std::size_t i) { coroutines_.drop(i); }

 private:
  co::LAB_STACK stacks_;
  lab::slots<coroutine::push_type> coroutines_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_switch<coroutines>(LAB_SYSTEM, lab::parse(argc, argv)); }
