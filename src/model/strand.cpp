#include "strand.hpp"

#include <hocket/fiber/coroutine.hpp>

namespace hocket { inline namespace HOCKET_HOST_ABI { namespace model {

// Each strand has a pool of one stack: what is given up on it stays with it. A lost strand can be neither resumed nor
// unwound, so its machine is kept for ever, in a list that a leak checker can see.
struct strand::machine {
  machine(strand& owner, std::size_t bytes)
      : pool({.stack_size = bytes, .limit = 1}), fiber({.name = "model", .pool = &pool}, server{owner}) {}

  struct server {
    strand& owner;
    void operator()(coroutine<void()>::self& self) { owner.serve(&self); }
  };

  stack_pool pool;
  coroutine<void()> fiber;
  coroutine<void()>::self* inside = nullptr;
  machine* next_lost = nullptr;
  static inline machine* first_lost = nullptr;
};

strand::strand(std::size_t stack_bytes) : machine_(std::make_unique<machine>(*this, stack_bytes)) {}

strand::~strand() {
  if (!lost_) return;
  machine_->next_lost = machine::first_lost;
  machine::first_lost = machine_.release();
}

void strand::assign(void (*job)(void*), void* argument) noexcept {
  job_ = job;
  argument_ = argument;
}

void strand::enter() { machine_->fiber.resume(); }

void strand::leave() { machine_->inside->yield(); }

void strand::abandon_here() {
  lost_ = true;
  for (;;) leave();
}

void strand::serve(void* inside) {
  machine_->inside = static_cast<coroutine<void()>::self*>(inside);
  for (;;) {
    job_(argument_);
    leave();
  }
}

}}}  // namespace hocket::model
