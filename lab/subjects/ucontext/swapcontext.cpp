// The C library's switch alone: swapcontext, which saves and restores the signal mask by a system call.
#include <ucontext.h>

#include "routine.hpp"

namespace {

ucontext_t here, there;
std::uint64_t count = 0;

void other() {
  for (;;) {
    ++count;
    swapcontext(&there, &here);
  }
}

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
  auto stack = std::make_unique<std::byte[]>(r.stack);
  getcontext(&there);
  there.uc_stack.ss_sp = stack.get();
  there.uc_stack.ss_size = r.stack;
  there.uc_link = nullptr;
  makecontext(&there, other, 0);
  return lab::run_routine(LAB_SYSTEM, r, count, [](std::size_t k) {
    for (; k; --k) swapcontext(&here, &there);
  });
}
