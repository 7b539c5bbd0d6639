// How this thread's state is found: core/thread/seam/current.hpp says what it is, and includes this page.
//
// On x86-64 it is two instructions in line, of which the second is a constant once a linker has seen that the program
// is no shared library (the initial-exec form of the ELF specification for thread-local storage). Volatile: neither
// compiler takes two of them for one, or moves one over a call or a switch. Elsewhere, where fibers are threads, and in
// a portable build it is a call.
//
// Assembly alone knows the name. A linker that optimises takes no object file out of an archive for what only assembly
// asks for: the file that holds the state is compiled without that (src/core/CMakeLists.txt).
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct thread_state;

#if defined(__x86_64__) && defined(__LP64__) && HOCKET_BACKEND != 2 && !HOCKET_UNDER_MODEL && !HOCKET_PORTABLE
#define HOCKET_TEXT2(name) #name
#define HOCKET_TEXT(name) HOCKET_TEXT2(name)
#define HOCKET_THREAD_STATE "hocket_thread_state_" HOCKET_TEXT(HOCKET_ABI)

inline constexpr bool finds_thread_in_line = true;

// No compiler knows what read_this_thread() reads: after this, what was written before is in memory.
[[HOCKET_ALWAYS_INLINE]] inline void wrote_this_thread() noexcept { asm volatile("" ::: "memory"); }

[[HOCKET_ALWAYS_INLINE]] inline thread_state& this_thread() noexcept {
  thread_state* own;
  asm volatile(
      "movq %%fs:0, %0\n\t"
      "addq " HOCKET_THREAD_STATE "@gottpoff(%%rip), %0"
      : "=r"(own)
      :
      : "cc");
  return *own;
}

// A pointer that lies `Offset` bytes into it, in one instruction less.
template <std::size_t Offset>
[[HOCKET_ALWAYS_INLINE]] inline void* read_this_thread() noexcept {
  void* value;
  asm volatile("movq " HOCKET_THREAD_STATE
               "@gottpoff(%%rip), %0\n\t"
               "movq %%fs:%c1(%0), %0"
               : "=r"(value)
               : "i"(Offset));
  return value;
}

// Adds `Amount` to the byte at `Offset`, in memory. True: the addition carried.
template <std::size_t Offset, unsigned char Amount>
[[HOCKET_ALWAYS_INLINE]] inline bool add_to_this_thread() noexcept {
  void* state;
  bool carried;
  asm volatile("movq " HOCKET_THREAD_STATE
               "@gottpoff(%%rip), %0\n\t"
               "addb %2, %%fs:%c3(%0)"
               : "=&r"(state), "=@ccc"(carried)
               : "i"(Amount), "i"(Offset));
  return carried;
}
#else
inline constexpr bool finds_thread_in_line = false;

inline void wrote_this_thread() noexcept {}

[[HOCKET_NOINLINE]] thread_state& this_thread() noexcept;

template <std::size_t Offset>
void* read_this_thread() noexcept {
  return *reinterpret_cast<void**>(reinterpret_cast<char*>(&this_thread()) + Offset);
}

template <std::size_t Offset, unsigned char Amount>
bool add_to_this_thread() noexcept {
  unsigned char& byte = reinterpret_cast<unsigned char*>(&this_thread())[Offset];
  byte = static_cast<unsigned char>(byte + Amount);
  return byte < Amount;
}
#endif

}}}  // namespace hocket::detail
