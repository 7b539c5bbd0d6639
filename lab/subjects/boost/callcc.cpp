// Boost.Context, callcc and continuation, the interface that document 003 measures in Boost 1.64; fixedsize_stack, the
// library's default.
//
// callcc() enters the function at once. So it gives control back first, within the creation, and counts from then on.
// When it returns, the library itself frees the stack, still in that resume: `destroy` finds empty objects.
#include <boost/context/continuation.hpp>
#include <boost/context/fixedsize_stack.hpp>

#include "harness.hpp"

namespace {

namespace ctx = boost::context;

class continuations {
 public:
  continuations(std::size_t n, std::size_t stack) : stacks_{stack}, all_{n} {}

  void create(std::size_t i, lab::line& mine) {
    all_.put(i, [&] {
      return ctx::callcc(std::allocator_arg, stacks_, [&mine](ctx::continuation&& owner) {
        owner = owner.resume();
        while (!mine.stop) {
          ++mine.count;
          owner = owner.resume();
        }
        return std::move(owner);
      });
    });
  }
  void resume(std::size_t i) { all_[i] = all_[i].resume(); }
  void finish(std::size_t i) {
    resume(i);
    if (all_[i]) lab::fail("a continuation went on after its end");
  }
  void drop(std::size_t i) { all_.drop(i); }

 private:
  ctx::fixedsize_stack stacks_;
  lab::slots<ctx::continuation> all_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_switch<continuations>(LAB_SYSTEM, lab::parse(argc, argv)); }
