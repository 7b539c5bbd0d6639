// Boost.Context, fiber API, each fiber going straight to the next: one switch a turn, where boost_context.cpp has two.
// The last one goes to the first, or to the owner when the rounds are done.
//
// A fiber that resumes another one is itself the fiber that this other one gets from its resume(). In a ring that is
// always the one before, so each puts it back in that one's place.
#include <boost/context/fiber.hpp>
#include <boost/context/fixedsize_stack.hpp>

#include "managed.hpp"

namespace {

namespace ctx = boost::context;

class ring {
 public:
  ring(std::size_t n, std::size_t stack) : n_{n}, stacks_{stack}, fibers_{n} {
    if (n < 2) lab::fail("a fiber cannot go straight to itself");
  }

  void create(std::size_t i, lab::line& mine) {
    fibers_.put(i, [&] {
      return ctx::fiber{std::allocator_arg, stacks_,
                        [this, i, &mine](ctx::fiber&& from) { return body(i, mine, std::move(from)); }};
    });
  }
  void rounds(std::size_t k) {
    left_ = k;
    before_first_ = &owner_;
    ctx::fiber last = std::move(fibers_[0]).resume();
    if (last) fibers_[n_ - 1] = std::move(last);  // no fiber: the last one has ended
  }
  void finish() { rounds(1); }
  void drop(std::size_t i) {
    if (fibers_[i]) lab::fail("a fiber went on after its end");
    fibers_.drop(i);
  }

 private:
  ctx::fiber body(std::size_t i, lab::line& mine, ctx::fiber from) {
    put_back(i, std::move(from));
    while (!mine.stop) {
      ++mine.count;
      put_back(i, std::move(after(i)).resume());
    }
    return std::move(after(i));
  }
  ctx::fiber& after(std::size_t i) {
    if (i + 1 < n_) return fibers_[i + 1];
    return --left_ ? fibers_[0] : owner_;
  }
  void put_back(std::size_t i, ctx::fiber from) {
    if (i != 0) fibers_[i - 1] = std::move(from);
    else *std::exchange(before_first_, &fibers_[n_ - 1]) = std::move(from);
  }

  std::size_t n_;
  std::size_t left_ = 0;
  ctx::fixedsize_stack stacks_;
  ctx::fiber owner_;
  ctx::fiber* before_first_ = nullptr;  // who resumes number 0 next
  lab::slots<ctx::fiber> fibers_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_managed<ring>(LAB_SYSTEM, lab::parse(argc, argv)); }
