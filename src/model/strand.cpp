#include "strand.hpp"

#include <cxxabi.h>
#include <utility>

#include <ucontext.h>

namespace hocket::inline HOCKET_HOST_ABI::model {
namespace {

// Which exceptions are being handled belongs to a stack, but the runtime keeps it per thread (Itanium C++ ABI 2.2.2).
struct exception_globals {
  void* caught = nullptr;
  unsigned uncaught = 0;

  void swap() noexcept {
    auto& real = *reinterpret_cast<exception_globals*>(abi::__cxa_get_globals());
    std::swap(caught, real.caught);
    std::swap(uncaught, real.uncaught);
  }
};

strand* starting = nullptr;  // makecontext passes no pointers

}  // namespace

struct strand::machine {
  explicit machine(std::size_t bytes) : stack(new char[bytes]) {}
  static void start() { std::exchange(starting, nullptr)->serve(); }

  std::unique_ptr<char[]> stack;
  ucontext_t inside, outside;
  exception_globals exceptions;
};

strand::strand(std::size_t stack_bytes) : machine_(std::make_unique<machine>(stack_bytes)) {
  ::getcontext(&machine_->inside);
  machine_->inside.uc_stack.ss_sp = machine_->stack.get();
  machine_->inside.uc_stack.ss_size = stack_bytes;
  machine_->inside.uc_link = nullptr;
  ::makecontext(&machine_->inside, &machine::start, 0);
}

strand::~strand() = default;

void strand::assign(void (*job)(void*), void* argument) noexcept {
  job_ = job;
  argument_ = argument;
}

void strand::enter() {
  machine_->exceptions.swap();
  starting = this;
  ::swapcontext(&machine_->outside, &machine_->inside);
  machine_->exceptions.swap();
}

void strand::leave() { ::swapcontext(&machine_->inside, &machine_->outside); }

void strand::abandon_here() {
  lost_ = true;
  for (;;) leave();
}

void strand::serve() {
  for (;;) {
    job_(argument_);
    leave();
  }
}

}  // namespace hocket::inline HOCKET_HOST_ABI::model
