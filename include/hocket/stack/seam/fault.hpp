// Memory faults: who is told of one first, where its handler runs, and whether it was an overflow.
//
// A thread whose stack has overflowed has no room for a signal handler. So the handler of SIGSEGV and SIGBUS that
// watch_faults() installs runs on the thread's alternate stack (signal_stack), tells the observer, and gives the fault
// on to whoever handled it before: to a handler of the program, a sanitizer or a virtual machine as it is; else the
// default action is restored and the instruction faults again, so that a core file shows the right place.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct memory_fault {
  std::uintptr_t address;        // what was touched
  std::uintptr_t stack_pointer;  // of the code that did it; 0: not known on this machine
};

// Told of a fault on the thread that made it, in the signal handler: may call only what is async-signal-safe.
using fault_observer = void (*)(const memory_fault& fault) noexcept;

// Installs the handler, once per process; later calls do nothing. Thread safe. It goes when the library is unloaded,
// unless somebody else's has been installed over it.
void watch_faults(fault_observer observer) noexcept;

// The alternate signal stack of one thread: 64 KiB of address space and a guard, or more where the machine's registers
// want it (AVX-512, AMX).
class signal_stack {
 public:
  // For the calling thread, unless it has one already or there is no memory: then it goes without.
  void install() noexcept;
  // On the same thread. Takes it back, if it is still the one in use.
  void remove() noexcept;

 private:
  std::byte* memory_ = nullptr;
  std::size_t size_ = 0;
};

// What a fault means for the stack whose lowest usable byte is at `low` and whose guard page lies below.
enum class stack_fault : std::uint8_t {
  foreign,   // nothing to do with it
  overflow,  // the stack grew beyond its end: into the guard page, or with one large frame over it
  stray      // code touched the guard page, but the stack has not grown so far: a bad index or pointer
};

// The cell of the stack that holds `address`, or whose guard page does, whoever runs; null if there is none. For the
// same handlers: another thread may give the memory back meanwhile.
void* cell_at(std::uintptr_t address) noexcept;

stack_fault judge_fault(const memory_fault& fault, const std::byte* low) noexcept;

// Whether the code has overflowed a stack with unknown bounds (of a thread): no memory is mapped at its stack pointer.
bool ran_off_stack(const memory_fault& fault) noexcept;

}}}  // namespace hocket::detail
