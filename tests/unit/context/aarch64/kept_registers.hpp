// What a call preserves on aarch64, for assembly/registers_test.cpp.
#pragma once
#include <hocket/context/seam/switch.hpp>

#include <cstddef>
#include <cstdint>
#include <iterator>

namespace hocket_test {

inline constexpr const char* kept_names[] = {"x29", "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27",
                                             "x28", "d8",  "d9",  "d10", "d11", "d12", "d13", "d14", "d15"};
inline constexpr std::size_t kept_count = std::size(kept_names);
struct kept_registers {
  std::uint64_t value[kept_count];
};
// The words of a record of hocket_switch that hold them, in this order.
inline constexpr std::size_t kept_words[] = {1, 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21};

// Calls form(to, transfer) with these values in the registers that a call preserves, and with junk in the others. What
// the former hold afterwards is written back.
[[gnu::noinline]] inline hocket::detail::machine::arrival call_with(
    kept_registers& registers, hocket::detail::machine::arrival (*form)(void*, void*), void* to, void* transfer) {
  register void* from asm("x0") = to;
  register void* word asm("x1") = transfer;
  register void* at asm("x2") = &registers;
  register auto call asm("x3") = form;
  asm volatile(
      "stp x2, x29, [sp, #-32]!\n\t"
      "str x19, [sp, #16]\n\t"
      "ldr x29, [x2]\n\t"
      "ldp x19, x20, [x2, #8]; ldp x21, x22, [x2, #24]; ldp x23, x24, [x2, #40]; ldp x25, x26, [x2, #56]\n\t"
      "ldp x27, x28, [x2, #72]; ldp d8, d9, [x2, #88]; ldp d10, d11, [x2, #104]; ldp d12, d13, [x2, #120]\n\t"
      "ldp d14, d15, [x2, #136]\n\t"
      "mov x2, #-1; mov x4, x2; mov x5, x2; mov x6, x2; mov x7, x2; mov x8, x2; mov x9, x2; mov x10, x2\n\t"
      "mov x11, x2; mov x12, x2; mov x13, x2; mov x14, x2; mov x15, x2; mov x16, x2; mov x17, x2\n\t"
      "mov x18, x2\n\t"
      "movi v0.2d, #0xffffffffffffffff; movi v1.2d, #0xffffffffffffffff; movi v2.2d, #0xffffffffffffffff\n\t"
      "movi v3.2d, #0xffffffffffffffff; movi v4.2d, #0xffffffffffffffff; movi v5.2d, #0xffffffffffffffff\n\t"
      "movi v6.2d, #0xffffffffffffffff; movi v7.2d, #0xffffffffffffffff; movi v16.2d, #0xffffffffffffffff\n\t"
      "movi v17.2d, #0xffffffffffffffff; movi v18.2d, #0xffffffffffffffff; movi v19.2d, #0xffffffffffffffff\n\t"
      "movi v20.2d, #0xffffffffffffffff; movi v21.2d, #0xffffffffffffffff; movi v22.2d, #0xffffffffffffffff\n\t"
      "movi v23.2d, #0xffffffffffffffff; movi v24.2d, #0xffffffffffffffff; movi v25.2d, #0xffffffffffffffff\n\t"
      "movi v26.2d, #0xffffffffffffffff; movi v27.2d, #0xffffffffffffffff; movi v28.2d, #0xffffffffffffffff\n\t"
      "movi v29.2d, #0xffffffffffffffff; movi v30.2d, #0xffffffffffffffff; movi v31.2d, #0xffffffffffffffff\n\t"
      "blr x3\n\t"
      "ldr x2, [sp]\n\t"
      "str x29, [x2]\n\t"
      "stp x19, x20, [x2, #8]; stp x21, x22, [x2, #24]; stp x23, x24, [x2, #40]; stp x25, x26, [x2, #56]\n\t"
      "stp x27, x28, [x2, #72]; stp d8, d9, [x2, #88]; stp d10, d11, [x2, #104]; stp d12, d13, [x2, #120]\n\t"
      "stp d14, d15, [x2, #136]\n\t"
      "ldr x19, [sp, #16]\n\t"
      "ldp x2, x29, [sp], #32"
      : "+r"(from), "+r"(word), "+r"(at), "+r"(call)
      :
      : "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x20", "x21",
        "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8",
        "v9", "v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24",
        "v25", "v26", "v27", "v28", "v29", "v30", "v31", "memory", "cc");
  return {from, word};
}

}  // namespace hocket_test
