// How the state of the running thread is found. core/thread/seam/current.hpp describes the state, and includes this
// file.
//
// On x86-64 it takes two inline instructions. If a linker knows that the program is no shared library, the second loads
// a constant (the initial-exec model of the ELF specification for thread-local storage). The asm is volatile, so no
// compiler merges two of them, or moves one over a call or a switch. With other architectures, with fibers that are
// threads, and in a portable build it is a call.
//
// Only assembly refers to the symbol. A linker with link-time optimisation takes no object file from an archive for a
// symbol that only assembly needs. So the file with the state is compiled without link-time optimisation
// (src/core/CMakeLists.txt).
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

// Completes earlier writes to memory before a later read_this_thread(). No compiler knows what that reads.
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

// Reads the pointer at `Offset` in the state, with one instruction less.
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
