// What a call preserves on riscv64, for assembly/registers_test.cpp.
#pragma once
#include <hocket/context/seam/switch.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace hocket_test {

inline constexpr const char* kept_names[] = {"s0",  "s1",  "s2",  "s3",  "s4",  "s5",  "s6",   "s7",
                                             "s8",  "s9",  "s10", "s11", "fs0", "fs1", "fs2",  "fs3",
                                             "fs4", "fs5", "fs6", "fs7", "fs8", "fs9", "fs10", "fs11"};
inline constexpr std::size_t kept_count = std::size(kept_names);
struct kept_registers {
  std::uint64_t value[kept_count];
};
// The words of a record of hocket_switch that hold them, in this order.
inline constexpr std::size_t kept_words[] = {1,  2,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14,
                                             15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26};

// Calls form(to, transfer) with these values in the registers that a call preserves, and with junk in the others. What
// the former hold afterwards is written back.
[[gnu::noinline]] inline hocket::detail::machine::arrival call_with(
    kept_registers& registers, hocket::detail::machine::arrival (*form)(void*, void*), void* to, void* transfer) {
  register void* from asm("a0") = to;
  register void* word asm("a1") = transfer;
  register void* at asm("a2") = &registers;
  register auto call asm("a3") = form;
  asm volatile(
      "addi sp, sp, -32\n\t"
      "sd a2, 0(sp); sd s0, 8(sp); sd s1, 16(sp)\n\t"
      "ld s0, 0(a2); ld s1, 8(a2); ld s2, 16(a2); ld s3, 24(a2); ld s4, 32(a2); ld s5, 40(a2)\n\t"
      "ld s6, 48(a2); ld s7, 56(a2); ld s8, 64(a2); ld s9, 72(a2); ld s10, 80(a2); ld s11, 88(a2)\n\t"
      "fld fs0, 96(a2); fld fs1, 104(a2); fld fs2, 112(a2); fld fs3, 120(a2); fld fs4, 128(a2)\n\t"
      "fld fs5, 136(a2); fld fs6, 144(a2); fld fs7, 152(a2); fld fs8, 160(a2); fld fs9, 168(a2)\n\t"
      "fld fs10, 176(a2); fld fs11, 184(a2)\n\t"
      "li a2, -1\n\t"
      "mv t0, a2; mv t1, a2; mv t2, a2; mv t3, a2; mv t4, a2; mv t5, a2; mv t6, a2; mv a4, a2; mv a5, a2\n\t"
      "mv a6, a2; mv a7, a2\n\t"
      "fmv.d.x ft0, a2; fmv.d.x ft1, a2; fmv.d.x ft2, a2; fmv.d.x ft3, a2; fmv.d.x ft4, a2; fmv.d.x ft5, a2\n\t"
      "fmv.d.x ft6, a2; fmv.d.x ft7, a2; fmv.d.x ft8, a2; fmv.d.x ft9, a2; fmv.d.x ft10, a2\n\t"
      "fmv.d.x ft11, a2; fmv.d.x fa0, a2; fmv.d.x fa1, a2; fmv.d.x fa2, a2; fmv.d.x fa3, a2\n\t"
      "fmv.d.x fa4, a2; fmv.d.x fa5, a2; fmv.d.x fa6, a2; fmv.d.x fa7, a2\n\t"
      "jalr a3\n\t"
      "ld a2, 0(sp)\n\t"
      "sd s0, 0(a2); sd s1, 8(a2); sd s2, 16(a2); sd s3, 24(a2); sd s4, 32(a2); sd s5, 40(a2)\n\t"
      "sd s6, 48(a2); sd s7, 56(a2); sd s8, 64(a2); sd s9, 72(a2); sd s10, 80(a2); sd s11, 88(a2)\n\t"
      "fsd fs0, 96(a2); fsd fs1, 104(a2); fsd fs2, 112(a2); fsd fs3, 120(a2); fsd fs4, 128(a2)\n\t"
      "fsd fs5, 136(a2); fsd fs6, 144(a2); fsd fs7, 152(a2); fsd fs8, 160(a2); fsd fs9, 168(a2)\n\t"
      "fsd fs10, 176(a2); fsd fs11, 184(a2)\n\t"
      "ld s0, 8(sp); ld s1, 16(sp)\n\t"
      "addi sp, sp, 32"
      : "+r"(from), "+r"(word), "+r"(at), "+r"(call)
      :
      : "ra", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7",
        "s8", "s9", "s10", "s11", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5", "ft6", "ft7", "ft8", "ft9", "ft10", "ft11",
        "fa0", "fa1", "fa2", "fa3", "fa4", "fa5", "fa6", "fa7", "fs0", "fs1", "fs2", "fs3", "fs4", "fs5", "fs6", "fs7",
        "fs8", "fs9", "fs10", "fs11", "memory");
  return {from, word};
}

}  // namespace hocket_test
