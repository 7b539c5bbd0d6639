#include <hocket/context/seam/switch.hpp>

#include <cstdint>
#include <cstdlib>
#include <new>
#include <pthread.h>
#include <ucontext.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail { namespace machine {
namespace {

// The code that switches to it writes it, and the resumed code reads it, both on the same thread.
struct record {
  ucontext_t registers{};
  arrival words{};
  void (*entry)(void*, void*, void*) = nullptr;  // of a fresh stack
  void* argument = nullptr;
};

record& deliver(void* to, void* from, void* transfer) noexcept {
  auto& target = *static_cast<record*>(to);
  target.words = {from, transfer};
  return target;
}

// The first frame of every stack. makecontext passes ints only: the record's address comes in two.
void begin(unsigned high, unsigned low) noexcept {
  auto at = static_cast<std::uintptr_t>(high) << 16 << 16 | low;
  const record& own = *reinterpret_cast<record*>(at);
  own.entry(own.argument, own.words.from, own.words.transfer);
  std::abort();  // an entry never returns
}

}  // namespace

void* prepare(void* top, void (*entry)(void*, void*, void*), void* argument, std::size_t size) noexcept {
  auto at = reinterpret_cast<std::uintptr_t>(top) - sizeof(record);
  at -= at % alignof(record);
  auto* fresh = ::new (reinterpret_cast<void*>(at)) record;
  fresh->entry = entry;
  fresh->argument = argument;
  getcontext(&fresh->registers);
  auto low = reinterpret_cast<std::uintptr_t>(top) - size;
  fresh->registers.uc_stack.ss_sp = reinterpret_cast<void*>(low);
  fresh->registers.uc_stack.ss_size = at - low;
  makecontext(&fresh->registers, reinterpret_cast<void (*)()>(&begin), 2, static_cast<unsigned>(at >> 16 >> 16),
              static_cast<unsigned>(at));
  fresh->registers.uc_stack = {};  // else AddressSanitizer's swapcontext forgets what it knows of the whole stack
  return fresh;
}

// Not instrumented: AddressSanitizer might move the record away from the stack that it describes.
[[gnu::no_sanitize_address]] arrival switch_to(void* to, void* transfer) noexcept {
  record own;
  swapcontext(&own.registers, &deliver(to, &own, transfer).registers);
  return own.words;
}

void leave(void* to, void* transfer) noexcept {
  setcontext(&deliver(to, nullptr, transfer).registers);
  std::abort();  // there is no way to fail
}

// pthread_self() counts as a constant for the compiler, which it is not for a stack that moves between threads.
const void* thread_id() noexcept {
  auto self = pthread_self();
  asm volatile("" : "+r"(self));
  return reinterpret_cast<const void*>(self);
}

}  // namespace machine
}}}  // namespace hocket::detail
