// The registers on aarch64, for unit/roots: of an interrupted thread, and to hold a word in.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ucontext.h>

// hold_in_<register>(word, f): calls f with the word in that register, and nowhere else; returns its value afterwards.
#define HOLD_IN(r)                                                                               \
  extern "C" std::uintptr_t hold_in_##r(std::uintptr_t, void (*)());                             \
  asm(".text\n.globl hold_in_" #r "\nhold_in_" #r ":\n\tstp x30, " #r ", [sp, #-16]!\n\tmov " #r \
      ", x0\n\tmov x0, #0\n\tblr x1\n\tmov x0, " #r "\n\tldp x30, " #r ", [sp], #16\n\tret\n");
HOLD_IN(x19)
HOLD_IN(x20)
HOLD_IN(x21)
HOLD_IN(x25)
HOLD_IN(x28)
HOLD_IN(x29)
#undef HOLD_IN

// Calls f with zeros in the registers that a call preserves: their former values are on the stack.
extern "C" void call_with_empty_registers(void (*f)());
asm(".text\n.globl call_with_empty_registers\ncall_with_empty_registers:\n\t"
    "stp x29, x30, [sp, #-96]!\n\tstp x19, x20, [sp, #16]\n\tstp x21, x22, [sp, #32]\n\tstp x23, x24, [sp, #48]\n\t"
    "stp x25, x26, [sp, #64]\n\tstp x27, x28, [sp, #80]\n\t"
    "mov x19, #0\n\tmov x20, #0\n\tmov x21, #0\n\tmov x22, #0\n\tmov x23, #0\n\tmov x24, #0\n\tmov x25, #0\n\t"
    "mov x26, #0\n\tmov x27, #0\n\tmov x28, #0\n\tmov x29, #0\n\tblr x0\n\t"
    "ldp x19, x20, [sp, #16]\n\tldp x21, x22, [sp, #32]\n\tldp x23, x24, [sp, #48]\n\tldp x25, x26, [sp, #64]\n\t"
    "ldp x27, x28, [sp, #80]\n\tldp x29, x30, [sp], #96\n\tret\n");

namespace hocket_test {

inline constexpr std::array hold_in{&hold_in_x19, &hold_in_x20, &hold_in_x21, &hold_in_x25, &hold_in_x28, &hold_in_x29};
inline constexpr std::size_t red_zone = 0;

struct machine_state {
  explicit machine_state(const void* context) noexcept {
    const auto& all = static_cast<const ucontext_t*>(context)->uc_mcontext;
    std::memcpy(registers.data(), all.regs, sizeof all.regs);
    stack_pointer = reinterpret_cast<const std::byte*>(all.sp);
    instruction = all.pc;
  }
  std::array<std::uintptr_t, 31> registers;
  const std::byte* stack_pointer;
  std::uintptr_t instruction;
};

}  // namespace hocket_test
