// The registers on x86-64, for unit/roots: of an interrupted thread, and to hold a word in.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ucontext.h>

// hold_in_<register>(word, f): calls f with the word in that register, and nowhere else; returns its value afterwards.
#define HOLD_IN(r)                                                                      \
  extern "C" std::uintptr_t hold_in_##r(std::uintptr_t, void (*)());                    \
  asm(".text\n.globl hold_in_" #r "\nhold_in_" #r ":\n\tpush %" #r "\n\tmov %rdi, %" #r \
      "\n\txor %edi, %edi\n\tcall *%rsi\n\tmov %" #r ", %rax\n\tpop %" #r "\n\tret\n");
HOLD_IN(rbx)
HOLD_IN(rbp)
HOLD_IN(r12)
HOLD_IN(r13)
HOLD_IN(r14)
HOLD_IN(r15)
#undef HOLD_IN

// Calls f with zeros in the registers that a call preserves: their former values are on the stack.
extern "C" void call_with_empty_registers(void (*f)());
asm(".text\n.globl call_with_empty_registers\ncall_with_empty_registers:\n\t"
    "push %rbx\n\tpush %rbp\n\tpush %r12\n\tpush %r13\n\tpush %r14\n\tpush %r15\n\t"
    "xor %ebx, %ebx\n\txor %ebp, %ebp\n\txor %r12d, %r12d\n\txor %r13d, %r13d\n\txor %r14d, %r14d\n\t"
    "xor %r15d, %r15d\n\tsub $8, %rsp\n\tcall *%rdi\n\tadd $8, %rsp\n\t"
    "pop %r15\n\tpop %r14\n\tpop %r13\n\tpop %r12\n\tpop %rbp\n\tpop %rbx\n\tret\n");

namespace hocket_test {

inline constexpr std::array hold_in{&hold_in_rbx, &hold_in_rbp, &hold_in_r12, &hold_in_r13, &hold_in_r14, &hold_in_r15};
inline constexpr std::size_t red_zone = 128;

struct machine_state {
  explicit machine_state(const void* context) noexcept {
    const auto& all = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
    std::memcpy(registers.data(), all, sizeof all);
    stack_pointer = reinterpret_cast<const std::byte*>(all[REG_RSP]);
    instruction = static_cast<std::uintptr_t>(all[REG_RIP]);
  }
  std::array<std::uintptr_t, NGREG> registers;
  const std::byte* stack_pointer;
  std::uintptr_t instruction;
};

}  // namespace hocket_test
