// POSIX ucontext, each coroutine going straight to the next: one swapcontext a turn, where ucontext.cpp has two. The
// last one goes to the first, or to the owner when the rounds are done.
#include <ucontext.h>

#include "managed.hpp"

namespace {

struct context {
  ucontext_t self;
  lab::line* mine;
  void* stack;
};

class ring {
 public:
  ring(std::size_t n, std::size_t stack) : n_{n}, stack_{stack}, contexts_{n} {}

  void create(std::size_t i, lab::line& mine) {
    context& c = contexts_[i];
    c.mine = &mine;
    c.stack = std::malloc(stack_);
    if (!c.stack) lab::fail("no memory for a stack");
    getcontext(&c.self);
    c.self.uc_stack.ss_sp = c.stack;
    c.self.uc_stack.ss_size = stack_;
    c.self.uc_link = nullptr;
    auto high = [](auto value) { return static_cast<unsigned>(value >> 32); };
    auto low = [](auto value) { return static_cast<unsigned>(value); };
    auto address = reinterpret_cast<std::uintptr_t>(this);
    makecontext(&c.self, reinterpret_cast<void (*)()>(entry), 4, high(address), low(address), high(i), low(i));
  }
  void rounds(std::size_t k) {
    left_ = k;
    swapcontext(&owner_, &contexts_[0].self);
  }
  void finish() { rounds(1); }
  void drop(std::size_t i) { std::free(contexts_[i].stack); }

 private:
  // makecontext passes ints only.
  static void entry(unsigned address_high, unsigned address_low, unsigned i_high, unsigned i_low) {
    auto joined = [](unsigned high, unsigned low) { return (static_cast<std::uintptr_t>(high) << 32) | low; };
    reinterpret_cast<ring*>(joined(address_high, address_low))->body(joined(i_high, i_low));
  }
  void body(std::size_t i) {
    context& mine = contexts_[i];
    while (!mine.mine->stop) {
      ++mine.mine->count;
      swapcontext(&mine.self, after(i));
    }
    setcontext(after(i));
  }
  ucontext_t* after(std::size_t i) {
    if (i + 1 < n_) return &contexts_[i + 1].self;
    return --left_ ? &contexts_[0].self : &owner_;
  }

  std::size_t n_;
  std::size_t stack_;
  std::size_t left_ = 0;
  ucontext_t owner_{};
  lab::slots<context> contexts_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_managed<ring>(LAB_SYSTEM, lab::parse(argc, argv)); }
