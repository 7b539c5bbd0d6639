// The machine switch on riscv64, calling convention LP64D. The contract is context/seam/switch.hpp.
//
// Inline form. All registers are in the clobber list, so the compiler saves only the registers that are live at the
// place of the switch, where it knows best. Two are saved by hand: s0, which may not be in a clobber list, and s1.
//
//     parked stack
//     +32  frames: its stack pointer when it runs again
//     +24  (keeps sp a multiple of 16)
//     +16  [s1]
//     +8   [s0]
//     +0   [address of label 1]   <- record
//
// Traps (tests/unit/context has a test of the first two):
//   * s0, the frame pointer, in a clobber list is refused, or ignored, depending on the compiler: it travels in the
//     record.
//   * s1 is clang's base pointer in a function that has both an over-aligned local and one of variable size. There it
//     stays in use over a statement that clobbers it, without a warning: it travels in the record, too.
//   * gp and tp belong to the linker and to the thread: the switch does not touch them. A fiber has the tp of whoever
//     resumed it.
//   * Vectors (V) belong to nobody over a call, but to the compiler over a statement: in the list where there are any.
//   * A jump through ra or t0 counts as a return, and one that links to them as a call, for the predictor: the switch
//     jumps through t1.
//   * fcsr is not touched, neither rounding mode nor flags; nor are vxrm and vcsr.
//   * The calling conventions without registers for doubles (LP64, LP64F) and shadow stacks (Zicfiss, or in gp) are not
//     supported, nor are landing pads (Zicfilp).
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
inline constexpr std::size_t room_to_unwind = 5 * 1024;

extern "C" {
// switch.S: the out-of-line form, with complete unwind information at each instruction.
arrival hocket_switch(void* to, void* transfer) noexcept;
void hocket_entry() noexcept;
}

#if defined(__riscv_vector)
#define HOCKET_CLOBBER_VECTORS                                                                                       \
  , "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16",     \
      "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31", "vl", \
      "vtype"
#else
#define HOCKET_CLOBBER_VECTORS
#endif

// Without optimisation a compiler keeps the caller's record in memory alone until it is stored where its owner looks. A
// register that it does not use keeps the record for a collector that stops the thread in between
// (fiber/enumeration.hpp). With optimisation the record stays in its register.
#if defined(__OPTIMIZE__)
#define HOCKET_KEEP_ARRIVAL ""
#else
#define HOCKET_KEEP_ARRIVAL "\n\tmv s11, a0"
#endif

// a0: the caller's record, a1: the transfer; so both arrive where the other side expects them. There is no red zone, so
// both forms are the same.
[[gnu::always_inline]] inline arrival switch_inline(void* to, void* transfer) noexcept {
  register void* from asm("a0");
  register void* word asm("a1") = transfer;
  register void* there asm("a2") = to;
  asm volatile(
      "addi sp, sp, -32\n\t"
      "lla t1, 1f\n\t"
      "sd t1, 0(sp)\n\t"
      "sd s0, 8(sp)\n\t"
      "sd s1, 16(sp)\n\t"
      "mv a0, sp\n\t"
      "ld t1, 0(a2)\n\t"
      "ld s0, 8(a2)\n\t"
      "ld s1, 16(a2)\n\t"
      "addi sp, a2, 32\n\t"
      "jr t1\n"
      "1:" HOCKET_KEEP_ARRIVAL
      : "=&r"(from), "+r"(word), "+r"(there)
      :
      : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6",
        "s7", "s8", "s9", "s10", "s11", "memory", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9",
        "ft10", "ft11", "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "fs0", "fs1", "fs2", "fs3", "fs4",
        "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11" HOCKET_CLOBBER_VECTORS);
  return {from, word};
}

#undef HOCKET_KEEP_ARRIVAL
#undef HOCKET_CLOBBER_VECTORS

// Sanitizers unwind at any instruction and instrument around the switch: they get the out-of-line form.
[[gnu::always_inline]] inline arrival switch_to(void* to, void* transfer) noexcept {
  if constexpr (sanitizer == sanitizer_kind::plain) return switch_inline(to, transfer);
  else return hocket_switch(to, transfer);
}

[[gnu::always_inline]] inline arrival switch_to_in_caller(void* to, void* transfer) noexcept {
  return switch_to(to, transfer);
}

[[noreturn, gnu::always_inline]] inline void leave(void* to, void* transfer) noexcept {
  register void* word asm("a1") = transfer;
  register void* there asm("a2") = to;
  asm volatile(
      "li a0, 0\n\t"
      "ld t1, 0(a2)\n\t"
      "ld s0, 8(a2)\n\t"
      "ld s1, 16(a2)\n\t"
      "addi sp, a2, 32\n\t"
      "jr t1"
      :
      : "r"(there), "r"(word)
      : "a0", "t1", "memory");
  __builtin_unreachable();
}

inline void* prepare(void* top, void (*entry)(void*, void*, void*), void* argument, std::size_t) noexcept {
  void** record = static_cast<void**>(top) - 4;
  record[0] = reinterpret_cast<void*>(&hocket_entry);  // goes on there with the stack pointer at `top`
  record[1] = argument;                                // as s0
  record[2] = reinterpret_cast<void*>(entry);          // as s1
  record[3] = nullptr;
  return record;
}

template <class T>
[[gnu::always_inline]] inline void store_stack_pointer(T*& where) noexcept {
  asm volatile("sd sp, %0" : "=m"(where));
}

[[gnu::always_inline]] inline const void* thread_id() noexcept {
  const void* self;
  asm volatile("mv %0, tp" : "=r"(self));  // volatile: never kept over a switch
  return self;
}

}  // namespace machine
}}}  // namespace hocket::detail
