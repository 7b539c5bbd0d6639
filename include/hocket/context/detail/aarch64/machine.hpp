// The machine switch on aarch64, procedure call standard AAPCS64 (LP64). The contract is context/seam/switch.hpp.
//
// Inline form. All registers are in the clobber list, so the compiler saves only the registers that are live at the
// place of the switch. Two are saved by hand: x29, which may not be in a clobber list, and x19.
//
//     parked stack
//     +32  frames: its stack pointer when it runs again
//     +24  (keeps sp a multiple of 16)
//     +16  [x19]
//     +8   [x29]
//     +0   [address of label 1]   <- record
//
// Traps (tests/unit/context has a test of the first three and of the landings):
//   * x29 in a clobber list is refused, or ignored, depending on the compiler: it travels in the record.
//   * x19 is clang's base pointer in a function that has both an over-aligned local and one of variable size. There it
//     stays in use over a statement that clobbers it, with no more than a warning: it travels in the record, too.
//   * The upper halves of v8 to v15 are not preserved over a call, but over a statement; SVE adds the rest of z0 to
//   z31,
//     and p0 to p15 and ffr, which no other name in the list covers.
//   * x18 is one more scratch register on Linux, so it is in the list. If a platform reserves it (-ffixed-x18), no code
//     has a value in it, and the switch does not touch it. Shadow call stacks (in x18, or as GCS) are not supported.
//   * The landings are reached by an indirect jump from any register: `bti j`, written as a hint, for assemblers that
//     know only armv8-a.
//   * sp must be a multiple of 16 whenever it addresses memory. There is no red zone, so both forms are the same.
//   * fpcr is not touched; the flags of fpsr are not preserved over a call.
//   * No stack may be parked in streaming mode or with a live ZA.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail { namespace machine {

struct arrival {
  void* from;
  void* transfer;
};

inline constexpr bool fibers_are_threads = false;
inline constexpr bool keeps_rounding_mode = false;
inline constexpr std::size_t kept_below_record = 0;
inline constexpr std::size_t deepest_record = 256;
inline constexpr std::size_t room_to_unwind = 8 * 1024;

extern "C" {
// switch.S: the out-of-line form, with complete unwind information at each instruction.
arrival hocket_switch(void* to, void* transfer) noexcept;
void hocket_entry() noexcept;
}

#if defined(__ARM_FEATURE_SVE)
#define HOCKET_CLOBBER_SVE \
  , "p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7", "p8", "p9", "p10", "p11", "p12", "p13", "p14", "p15", "ffr"
#else
#define HOCKET_CLOBBER_SVE
#endif

// Without optimisation a compiler keeps the caller's record in memory alone until it is stored where its owner looks. A
// register that it does not use keeps the record for a collector that stops the thread in between
// (fiber/enumeration.hpp). With optimisation the record stays in its register.
#if defined(__OPTIMIZE__)
#define HOCKET_KEEP_ARRIVAL ""
#else
#define HOCKET_KEEP_ARRIVAL "\n\tmov x28, x0"
#endif

// x0: the caller's record, x1: the transfer; so both arrive where the other side expects them.
[[gnu::always_inline]] inline arrival switch_inline(void* to, void* transfer) noexcept {
  register void* from asm("x0");
  register void* word asm("x1") = transfer;
  register void* there asm("x2") = to;
  asm volatile(
      "adr x3, 1f\n\t"
      "stp x3, x29, [sp, #-32]!\n\t"
      "str x19, [sp, #16]\n\t"
      "mov x0, sp\n\t"
      "ldp x3, x29, [x2]\n\t"
      "ldr x19, [x2, #16]\n\t"
      "add sp, x2, #32\n\t"
      "br x3\n"
      "1:\n\t"
      "hint #36" HOCKET_KEEP_ARRIVAL
      : "=&r"(from), "+r"(word), "+r"(there)
      :
      : "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x20",
        "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "memory", "cc", "v0", "v1", "v2", "v3", "v4",
        "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20",
        "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31" HOCKET_CLOBBER_SVE);
  return {from, word};
}

#undef HOCKET_KEEP_ARRIVAL
#undef HOCKET_CLOBBER_SVE

// Sanitizers unwind at any instruction and instrument around the switch: they get the out-of-line form.
[[gnu::always_inline]] inline arrival switch_to(void* to, void* transfer) noexcept {
  if constexpr (sanitizer == sanitizer_kind::plain) return switch_inline(to, transfer);
  else return hocket_switch(to, transfer);
}

[[gnu::always_inline]] inline arrival switch_to_in_caller(void* to, void* transfer) noexcept {
  return switch_to(to, transfer);
}

[[noreturn, gnu::always_inline]] inline void leave(void* to, void* transfer) noexcept {
  register void* word asm("x1") = transfer;
  register void* there asm("x2") = to;
  asm volatile(
      "mov x0, #0\n\t"
      "ldp x3, x29, [x2]\n\t"
      "ldr x19, [x2, #16]\n\t"
      "add sp, x2, #32\n\t"
      "br x3"
      :
      : "r"(there), "r"(word)
      : "x0", "x3", "memory");
  __builtin_unreachable();
}

inline void* prepare(void* top, void (*entry)(void*, void*, void*), void* argument, std::size_t) noexcept {
  void** record = static_cast<void**>(top) - 4;
  record[0] = reinterpret_cast<void*>(&hocket_entry);  // goes on there with the stack pointer at `top`
  record[1] = argument;                                // as x29
  record[2] = reinterpret_cast<void*>(entry);          // as x19
  record[3] = nullptr;
  return record;
}

template <class T>
[[gnu::always_inline]] inline void store_stack_pointer(T*& where) noexcept {
  asm volatile("mov %0, sp" : "=r"(where));
}

[[gnu::always_inline]] inline const void* thread_id() noexcept {
  const void* self;
  asm volatile("mrs %0, tpidr_el0" : "=r"(self));  // volatile: never kept over a switch
  return self;
}

}  // namespace machine
}}}  // namespace hocket::detail
