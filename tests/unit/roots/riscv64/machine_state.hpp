// The registers on riscv64, for unit/roots: of an interrupted thread, and to hold a word in.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ucontext.h>

// hold_in_<register>(word, f): calls f with the word in that register, and nowhere else; returns its value afterwards.
#define HOLD_IN(r)                                                                                  \
  extern "C" std::uintptr_t hold_in_##r(std::uintptr_t, void (*)());                                \
  asm(".text\n.globl hold_in_" #r "\nhold_in_" #r ":\n\taddi sp, sp, -16\n\tsd ra, 8(sp)\n\tsd " #r \
      ", 0(sp)\n\tmv " #r ", a0\n\tli a0, 0\n\tjalr a1\n\tmv a0, " #r "\n\tld " #r                  \
      ", 0(sp)\n\tld ra, 8(sp)\n\taddi sp, sp, 16\n\tret\n");
HOLD_IN(s0)
HOLD_IN(s1)
HOLD_IN(s2)
HOLD_IN(s5)
HOLD_IN(s9)
HOLD_IN(s11)
#undef HOLD_IN

// Calls f with zeros in the registers that a call preserves: their former values are on the stack.
extern "C" void call_with_empty_registers(void (*f)());
asm(".text\n.globl call_with_empty_registers\ncall_with_empty_registers:\n\t"
    "addi sp, sp, -112\n\tsd ra, 0(sp)\n\tsd s0, 8(sp)\n\tsd s1, 16(sp)\n\tsd s2, 24(sp)\n\tsd s3, 32(sp)\n\t"
    "sd s4, 40(sp)\n\tsd s5, 48(sp)\n\tsd s6, 56(sp)\n\tsd s7, 64(sp)\n\tsd s8, 72(sp)\n\tsd s9, 80(sp)\n\t"
    "sd s10, 88(sp)\n\tsd s11, 96(sp)\n\t"
    "li s0, 0\n\tli s1, 0\n\tli s2, 0\n\tli s3, 0\n\tli s4, 0\n\tli s5, 0\n\tli s6, 0\n\tli s7, 0\n\tli s8, 0\n\t"
    "li s9, 0\n\tli s10, 0\n\tli s11, 0\n\tjalr a0\n\t"
    "ld ra, 0(sp)\n\tld s0, 8(sp)\n\tld s1, 16(sp)\n\tld s2, 24(sp)\n\tld s3, 32(sp)\n\tld s4, 40(sp)\n\t"
    "ld s5, 48(sp)\n\tld s6, 56(sp)\n\tld s7, 64(sp)\n\tld s8, 72(sp)\n\tld s9, 80(sp)\n\tld s10, 88(sp)\n\t"
    "ld s11, 96(sp)\n\taddi sp, sp, 112\n\tret\n");

namespace hocket_test {

inline constexpr std::array hold_in{&hold_in_s0, &hold_in_s1, &hold_in_s2, &hold_in_s5, &hold_in_s9, &hold_in_s11};
inline constexpr std::size_t red_zone = 0;

struct machine_state {
  explicit machine_state(const void* context) noexcept {
    const auto& all = static_cast<const ucontext_t*>(context)->uc_mcontext.__gregs;
    std::memcpy(registers.data(), all, sizeof registers);
    instruction = registers[0];  // x0 is no register that holds anything: pc is in its place
    stack_pointer = reinterpret_cast<const std::byte*>(registers[2]);
  }
  std::array<std::uintptr_t, 32> registers;
  const std::byte* stack_pointer;
  std::uintptr_t instruction;
};

}  // namespace hocket_test
