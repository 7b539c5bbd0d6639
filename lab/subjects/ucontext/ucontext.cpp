// POSIX ucontext as glibc has it: every swapcontext saves and restores the signal mask by a system call. Stacks come
// from malloc; the interface has no pool of its own.
#include <ucontext.h>

#include "harness.hpp"

namespace {

struct context {
  ucontext_t self;
  ucontext_t* owner;
  lab::line* mine;
  void* stack;
};

// makecontext passes ints only, so the pointer travels in two halves.
void entry(unsigned high, unsigned low) {
  auto* c = reinterpret_cast<context*>((static_cast<std::uintptr_t>(high) << 32) | low);
  while (!c->mine->stop) {
    ++c->mine->count;
    swapcontext(&c->self, c->owner);
  }
}

class contexts {
 public:
  contexts(std::size_t n, std::size_t stack) : stack_{stack}, contexts_{n} {}

  void create(std::size_t i, lab::line& mine) {
    context& c = contexts_[i];
    c.owner = &owner_;
    c.mine = &mine;
    c.stack = std::malloc(stack_);
    if (!c.stack) lab::fail("no memory for a stack");
    getcontext(&c.self);
    c.self.uc_stack.ss_sp = c.stack;
    c.self.uc_stack.ss_size = stack_;
    c.self.uc_link = &owner_;
    auto address = reinterpret_cast<std::uintptr_t>(&c);
    makecontext(&c.self, reinterpret_cast<void (*)()>(entry), 2, static_cast<unsigned>(address >> 32),
                static_cast<unsigned>(address));
  }
  void resume(std::size_t i) { swapcontext(&owner_, &contexts_[i].self); }
  void finish(std::size_t i) { resume(i); }
  void drop(std::size_t i) { std::free(contexts_[i].stack); }

 private:
  std::size_t stack_;
  ucontext_t owner_{};
  lab::slots<context> contexts_;
};

}  // namespace

int main(int argc, char** argv) { return lab::run_switch<contexts>(LAB_SYSTEM, lab::parse(argc, argv)); }
