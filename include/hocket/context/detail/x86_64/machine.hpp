// The machine switch on x86-64, System V calling convention. The contract is context/seam/switch.hpp.
//
// Inline form. All registers are in the clobber list, so the compiler saves only the registers that are live at the
// place of the switch, where it knows best. Two are saved by hand: rbp, which may not be in a clobber list, and rbx.
//
//     resumer's stack                      parked stack (in_caller form)
//     ...  frames                          ...  frames
//     128  red zone of a leaf              +16  [rbx]
//     +16  [rbx]                           +8   [rbp]
//     +8   [rbp]                           +0   [address of label 1]   <- record
//     +0   [address of label 1] <- record
//
// Traps (tests/unit/context has a test of the first four):
//   * AVX-512 adds zmm16-31 and k0-7, APX r16-31; without them in the list values change silently at -march=native.
//   * The red zone: the 128 bytes below a leaf's stack pointer are in use though not reserved, so the general form
//     steps over them. The in_caller form relies on the enclosing function having a call: GCC and LLVM both use a red
//     zone only in functions without one. (fiber/detail/round_trip.hpp has before_resume() and throw_unwinding(),
//     whatever the level of assertions.)
//   * rbp in a clobber list is refused, or ignored, depending on the compiler: pushed by hand.
//   * rbx is clang's base pointer in a function that has both an over-aligned local and one of variable size. There it
//     stays in use over a statement that clobbers it, without a warning: pushed by hand, too.
//   * The x87 stack must look empty to the other side: the st registers are clobbers too.
//   * Both ways leave by an indirect jump: `ret` would be mispredicted, since the call that it pairs with was made on
//     another stack. Hence endbr64 at each landing (indirect branch tracking). Shadow stacks are not supported.
//   * mxcsr and the x87 control word are not touched (6 to 140 ns on some machines).
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
inline constexpr std::size_t room_to_unwind = 4 * 1024;

extern "C" {
// switch.S: the out-of-line form, with complete unwind information at each instruction.
arrival hocket_switch(void* to, void* transfer) noexcept;
void hocket_entry() noexcept;
}

#if defined(__AVX512F__)
#define HOCKET_CLOBBER_AVX512                                                                                   \
  , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", \
      "xmm28", "xmm29", "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define HOCKET_CLOBBER_AVX512
#endif
#if defined(__APX_F__) || defined(__EGPR__)
#define HOCKET_CLOBBER_APX \
  , "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30", "r31"
#else
#define HOCKET_CLOBBER_APX
#endif
#define HOCKET_CLOBBER_ALL                                                                                            \
  "rcx", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3", \
      "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "st",     \
      "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)" HOCKET_CLOBBER_AVX512 HOCKET_CLOBBER_APX

// Without optimisation a compiler keeps the caller's record in memory alone until it is stored where its owner looks. A
// register that it does not use keeps the record for a collector that stops the thread in between
// (fiber/enumeration.hpp). With optimisation the record stays in its register.
#if defined(__OPTIMIZE__)
#define HOCKET_KEEP_ARRIVAL ""
#else
#define HOCKET_KEEP_ARRIVAL "\n\tmovq %%rax, %%r15"
#endif

// rax: the caller's record, rdx: the transfer; so both arrive where the other side expects them.
[[gnu::always_inline]] inline arrival switch_inline(void* to, void* transfer) noexcept {
  void* from;
  asm volatile(
      "leaq -128(%%rsp), %%rsp\n\t"
      "pushq %%rbx\n\t"
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rcx\n\t"
      "pushq %%rcx\n\t"
      "movq %%rsp, %%rax\n\t"
      "movq 8(%[to]), %%rbp\n\t"
      "movq 16(%[to]), %%rbx\n\t"
      "leaq 24(%[to]), %%rsp\n\t"
      "jmpq *(%[to])\n"
      "1:\n\t"
      "endbr64\n\t"
      "leaq 128(%%rsp), %%rsp" HOCKET_KEEP_ARRIVAL
      : "=a"(from), "+d"(transfer), [to] "+S"(to)
      :
      : HOCKET_CLOBBER_ALL);
  return {from, transfer};
}

[[gnu::always_inline]] inline arrival switch_inline_in_caller(void* to, void* transfer) noexcept {
  void* from;
  asm volatile(
      "pushq %%rbx\n\t"
      "pushq %%rbp\n\t"
      "leaq 1f(%%rip), %%rcx\n\t"
      "pushq %%rcx\n\t"
      "movq %%rsp, %%rax\n\t"
      "movq 8(%[to]), %%rbp\n\t"
      "movq 16(%[to]), %%rbx\n\t"
      "leaq 24(%[to]), %%rsp\n\t"
      "jmpq *(%[to])\n"
      "1:\n\t"
      "endbr64" HOCKET_KEEP_ARRIVAL
      : "=a"(from), "+d"(transfer), [to] "+S"(to)
      :
      : HOCKET_CLOBBER_ALL);
  return {from, transfer};
}

#undef HOCKET_KEEP_ARRIVAL
#undef HOCKET_CLOBBER_ALL
#undef HOCKET_CLOBBER_AVX512
#undef HOCKET_CLOBBER_APX

// Sanitizers unwind at any instruction and instrument around the switch: they get the out-of-line form.
[[gnu::always_inline]] inline arrival switch_to(void* to, void* transfer) noexcept {
  if constexpr (sanitizer == sanitizer_kind::plain) return switch_inline(to, transfer);
  else return hocket_switch(to, transfer);
}

[[gnu::always_inline]] inline arrival switch_to_in_caller(void* to, void* transfer) noexcept {
  if constexpr (sanitizer == sanitizer_kind::plain) return switch_inline_in_caller(to, transfer);
  else return hocket_switch(to, transfer);
}

[[noreturn, gnu::always_inline]] inline void leave(void* to, void* transfer) noexcept {
  asm volatile(
      "xorl %%eax, %%eax\n\t"
      "movq 8(%[to]), %%rbp\n\t"
      "movq 16(%[to]), %%rbx\n\t"
      "leaq 24(%[to]), %%rsp\n\t"
      "jmpq *(%[to])"
      :
      : [to] "S"(to), "d"(transfer)
      : "rax", "memory");
  __builtin_unreachable();
}

inline void* prepare(void* top, void (*entry)(void*, void*, void*), void* argument, std::size_t) noexcept {
  void** record = static_cast<void**>(top) - 4;
  record[0] = reinterpret_cast<void*>(&hocket_entry);  // goes on there with the stack pointer at record + 3
  record[1] = argument;                                // as rbp
  record[2] = reinterpret_cast<void*>(entry);          // as rbx
  record[3] = nullptr;                                 // ends a walk of return addresses
  return record;
}

template <class T>
[[gnu::always_inline]] inline void store_stack_pointer(T*& where) noexcept {
  asm volatile("movq %%rsp, %0" : "=m"(where));
}

[[gnu::always_inline]] inline const void* thread_id() noexcept {
  const void* self;
  asm volatile("movq %%fs:0, %0" : "=r"(self));  // volatile: never kept over a switch
  return self;
}

}  // namespace machine

}}}  // namespace hocket::detail
