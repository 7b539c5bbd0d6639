// Boost.Coroutine2: the asymmetric pair of pull_type (the owner's end) and push_type (the coroutine's end).
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
      return coroutine::pull_type{stacks_, [&mine](coroutine::push_type& yield) {
                                    while (!mine.stop) {
                                      ++mine.count;
                                      yield();
                                    }
                                  }};  // the constructor runs it up to its first yield
    });
  }
  void resume(std::size_t i) { coroutines_[i](); }
  void finish(std::size_t i) {
    resume(i);
    coroutines_.drop(i);
  }

 private:
  co::LAB_STACK stacks_;
  lab::slots<coroutine::pull_type> coroutines_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_switch<coroutines>(LAB_SYSTEM, lab::parse(argc, argv)); }
