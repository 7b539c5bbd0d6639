// The out-of-line switch and the entry of a fresh stack, aarch64 AAPCS64. The record is context/detail/aarch64/machine.hpp's.
//
// hocket_switch(x0 = the record to resume, x1 = transfer) returns x0 = the other's record, x1 = its transfer.
// At every landing x0 and x1 hold these two, whichever form was used on the other side.
//
//   parked by it:  +176  (the caller's stack pointer)
//                  +112  d8 to d15
//                   +40  x20 to x28
//                   +32  x30, the return address      (stack pointer at the resumption: the landing takes the rest)
//                   +24  (keeps sp a multiple of 16)
//                   +16  x19
//                   +8   x29
//                   +0   landing                      <- record
//
// So either form of the switch can resume a stack that the other one parked.
//
// hint #34 is `bti c`, for calls; hint #36 is `bti j`, for jumps: no-ops where there is no branch target identification.
// The way back is a `ret`, though it is mispredicted: a jump would ask for a `bti j` behind every call.

        .text
        .globl  hocket_switch
        .type   hocket_switch, %function
        .p2align 4
hocket_switch:
        .cfi_startproc
        hint    #34
        sub     sp, sp, #176
        .cfi_adjust_cfa_offset 176
        stp     x30, x20, [sp, #32]
        .cfi_rel_offset x30, 32
        .cfi_rel_offset x20, 40
        stp     x21, x22, [sp, #48]
        .cfi_rel_offset x21, 48
        .cfi_rel_offset x22, 56
        stp     x23, x24, [sp, #64]
        .cfi_rel_offset x23, 64
        .cfi_rel_offset x24, 72
        stp     x25, x26, [sp, #80]
        .cfi_rel_offset x25, 80
        .cfi_rel_offset x26, 88
        stp     x27, x28, [sp, #96]
        .cfi_rel_offset x27, 96
        .cfi_rel_offset x28, 104
        stp     d8, d9, [sp, #112]
        .cfi_rel_offset d8, 112
        .cfi_rel_offset d9, 120
        stp     d10, d11, [sp, #128]
        .cfi_rel_offset d10, 128
        .cfi_rel_offset d11, 136
        stp     d12, d13, [sp, #144]
        .cfi_rel_offset d12, 144
        .cfi_rel_offset d13, 152
        stp     d14, d15, [sp, #160]
        .cfi_rel_offset d14, 160
        .cfi_rel_offset d15, 168
        adr     x3, .Llanding
        stp     x3, x29, [sp]
        .cfi_rel_offset x29, 8
        str     x19, [sp, #16]
        .cfi_rel_offset x19, 16
        mov     x2, x0
        mov     x0, sp
        ldp     x3, x29, [x2]
        ldr     x19, [x2, #16]
        add     sp, x2, #32             // from here on the new stack; the tables describe one that was parked here
        .cfi_restore x29
        .cfi_restore x19
        .cfi_adjust_cfa_offset -32
        br      x3
.Llanding:                              // x29 and x19 are restored; sp is record + 32
        hint    #36
        ldp     x30, x20, [sp]
        .cfi_restore x30
        .cfi_restore x20
        ldp     x21, x22, [sp, #16]
        .cfi_restore x21
        .cfi_restore x22
        ldp     x23, x24, [sp, #32]
        .cfi_restore x23
        .cfi_restore x24
        ldp     x25, x26, [sp, #48]
        .cfi_restore x25
        .cfi_restore x26
        ldp     x27, x28, [sp, #64]
        .cfi_restore x27
        .cfi_restore x28
        ldp     d8, d9, [sp, #80]
        .cfi_restore d8
        .cfi_restore d9
        ldp     d10, d11, [sp, #96]
        .cfi_restore d10
        .cfi_restore d11
        ldp     d12, d13, [sp, #112]
        .cfi_restore d12
        .cfi_restore d13
        ldp     d14, d15, [sp, #128]
        .cfi_restore d14
        .cfi_restore d15
        add     sp, sp, #144
        .cfi_adjust_cfa_offset -144
        ret
        .cfi_endproc
        .size   hocket_switch, .-hocket_switch

// The first frame of every fiber: x29 = argument, x19 = entry function. Unwinding ends here.
        .globl  hocket_entry
        .type   hocket_entry, %function
        .p2align 4
hocket_entry:
        .cfi_startproc
        .cfi_undefined x30
        hint    #36
        mov     x2, x1                  // transfer
        mov     x1, x0                  // from
        mov     x0, x29                 // argument
        mov     x29, #0                 // the frame chain ends
        mov     x30, #0
        blr     x19
        brk     #1                      // the entry function never returns
        .cfi_endproc
        .size   hocket_entry, .-hocket_entry

// What this file promises: branch target identification (the property's bit 0), and a stack that is not executable.
        .section .note.gnu.property, "a", %note
        .p2align 3
        .word   4, 16, 5                // sizes of the name and of the description; NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
        .word   0xc0000000, 4, 1, 0     // GNU_PROPERTY_AARCH64_FEATURE_1_AND, its size, BTI, padding
        .section .note.GNU-stack, "", %progbits
