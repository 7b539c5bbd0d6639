// What a call preserves on x86_64, for assembly/registers_test.cpp.
#pragma once
#include <hocket/context/seam/switch.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace hocket_test {

inline constexpr const char* kept_names[] = {"rbp", "rbx", "r15", "r14", "r13", "r12"};
inline constexpr std::size_t kept_count = std::size(kept_names);
struct kept_registers {
  std::uint64_t value[kept_count];
};
// The words of a record of hocket_switch that hold them, in this order.
inline constexpr std::size_t kept_words[] = {1, 2, 3, 4, 5, 6};

// Calls form(to, transfer) with these values in the registers that a call preserves, and with junk in the others. What
// the former hold afterwards is written back.
[[gnu::noinline]] inline hocket::detail::machine::arrival call_with(
    kept_registers& registers, hocket::detail::machine::arrival (*form)(void*, void*), void* to, void* transfer) {
  void* from = reinterpret_cast<void*>(form);
  void* word;
  void* at = &registers;
  asm volatile(
      "movq %%rsp, %%r8\n\t"
      "leaq -128(%%rsp), %%rsp\n\t"
      "andq $-16, %%rsp\n\t"
      "pushq %%r8; pushq %%rbp; pushq %%rcx; pushq $0\n\t"
      "movq 0(%%rcx), %%rbp; movq 8(%%rcx), %%rbx; movq 16(%%rcx), %%r15; movq 24(%%rcx), %%r14\n\t"
      "movq 32(%%rcx), %%r13; movq 40(%%rcx), %%r12; movq $-1, %%rcx; movq %%rcx, %%rdx; movq %%rcx, %%r8\n\t"
      "movq %%rcx, %%r9; movq %%rcx, %%r10; movq %%rcx, %%r11\n\t"
      "pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm1, %%xmm1; pcmpeqd %%xmm2, %%xmm2; pcmpeqd %%xmm3, %%xmm3\n\t"
      "pcmpeqd %%xmm4, %%xmm4; pcmpeqd %%xmm5, %%xmm5; pcmpeqd %%xmm6, %%xmm6; pcmpeqd %%xmm7, %%xmm7\n\t"
      "pcmpeqd %%xmm8, %%xmm8; pcmpeqd %%xmm9, %%xmm9; pcmpeqd %%xmm10, %%xmm10; pcmpeqd %%xmm11, %%xmm11\n\t"
      "pcmpeqd %%xmm12, %%xmm12; pcmpeqd %%xmm13, %%xmm13; pcmpeqd %%xmm14, %%xmm14\n\t"
      "pcmpeqd %%xmm15, %%xmm15\n\t"
      "callq *%%rax\n\t"
      "popq %%rcx; popq %%rcx\n\t"
      "movq %%rbp, 0(%%rcx); movq %%rbx, 8(%%rcx); movq %%r15, 16(%%rcx); movq %%r14, 24(%%rcx)\n\t"
      "movq %%r13, 32(%%rcx); movq %%r12, 40(%%rcx)\n\t"
      "popq %%rbp; popq %%rsp"
      : "+a"(from), "=&d"(word), "+D"(to), "+S"(transfer), "+c"(at)
      :
      : "rbx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "memory", "cc", "xmm0", "xmm1", "xmm2", "xmm3",
        "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  return {from, word};
}

}  // namespace hocket_test
