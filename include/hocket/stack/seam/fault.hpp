// Memory faults: an observer for them, alternate signal stacks, and the recognition of a stack overflow.
//
// After a stack overflow the stack has no space for a signal handler. So the handler of SIGSEGV and SIGBUS, which
// watch_faults() installs, runs on the thread's alternate stack (signal_stack). It calls the observer, and then passes
// the fault on:
//
// - to the former handler (of the program, a sanitizer or a virtual machine), unchanged;
// - without one, it restores the default action, and the instruction faults again, so a core file shows the right
// place.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct memory_fault {
  std::uintptr_t address;        // the accessed address
  std::uintptr_t stack_pointer;  // of the faulting code; 0: unknown on this machine
};

// Called on the faulting thread, in the signal handler: may call only async-signal-safe functions.
using fault_observer = void (*)(const memory_fault& fault) noexcept;

// Installs the handler, once per process; later calls do nothing. Thread safe. The handler is removed when the library
// is unloaded, unless another handler has replaced it.
void watch_faults(fault_observer observer) noexcept;

// The alternate signal stack of one thread: 64 KiB of address space and a guard, or more if the machine's registers
// need it (AVX-512, AMX).
class signal_stack {
 public:
  // For the calling thread. Does nothing if the thread has one already, or if there is no memory.
  void install() noexcept;
  // On the same thread. Removes it, if the thread still uses it.
  void remove() noexcept;

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
};

// The relation of a fault to a stack.
enum class stack_fault : std::uint8_t {
  foreign,   // none
  overflow,  // the stack grew beyond its end: into the guard page, or with one large frame over it
  stray      // code touched the guard page, but the stack has not grown so far: a bad index or pointer
};

// The cell of the stack that contains `address`, in its guard page, too; null if there is none. Only for a fault
// handler: another thread may unmap the memory at any time.
void* cell_at(std::uintptr_t address) noexcept;

// `low`: the lowest usable byte of the stack; its guard page lies below.
stack_fault judge_fault(const memory_fault& fault, const std::byte* low) noexcept;

// Whether the code has overflowed a stack with unknown bounds (of a thread): no memory is mapped at its stack pointer.
bool ran_off_stack(const memory_fault& fault) noexcept;

}}}  // namespace hocket::detail
