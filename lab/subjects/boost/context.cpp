// Boost.Context, fiber API. Two programs are made from this file: fixedsize_stack (the library's default, malloc) and
// pooled_fixedsize_stack (its documented pool).
//
// When the body of a fiber returns, the library itself frees the stack, still in that resume. So the phase `destroy`
// finds empty objects, and freeing the stack is timed nowhere.
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>
#include <boost/context/pooled_fixedsize_stack.hpp>

#include "managed.hpp"

namespace {

namespace ctx = boost::context;

class fibers {
 public:
  fibers(std::size_t n, std::size_t stack) : stacks_{stack}, fibers_{n} {}

  void create(std::size_t i, lab::line& mine) {
    fibers_.put(i, [&] {
      return ctx::fiber{std::allocator_arg, stacks_, [&mine](ctx::fiber&& owner) {
                          while (!mine.stop) {
                            ++mine.count;
                            owner = std::move(owner).resume();
                          }
                          return std::move(owner);
                        }};
    });
  }
  void resume(std::size_t i) { fibers_[i] = std::move(fibers_[i]).resume(); }
  void finish(std::size_t i) {
    resume(i);
    if (fibers_[i]) lab::fail("a fiber went on after its end");
  }
  void drop(std::size_t i) { fibers_.drop(i); }

 private:
  ctx::LAB_STACK stacks_;
  lab::slots<ctx::fiber> fibers_;
};

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  if (r.workload == "switch") return lab::run_switch<fibers>(LAB_SYSTEM, r);
  return lab::run_managed<lab::by_owner<fibers>>(LAB_SYSTEM, r);
}
