// The out-of-line switch and the entry of a fresh stack, riscv64, calling convention LP64D. The record is
// context/detail/riscv64/machine.hpp's.
//
// hocket_switch(a0 = the record to resume, a1 = transfer) returns a0 = the other's record, a1 = its transfer.
// At every landing a0 and a1 hold these two, whichever form was used on the other side.
//
//   parked by it:  +224  (the caller's stack pointer)
//                  +120  fs0 to fs11
//                   +40  s2 to s11
//                   +32  ra, the return address       (stack pointer at the resumption: the landing takes the rest)
//                   +24  (keeps sp a multiple of 16)
//                   +16  s1
//                   +8   s0
//                   +0   landing                      <- record
//
// So either form of the switch can resume a stack that the other one parked.

        .text
        .globl  hocket_switch
        .type   hocket_switch, @function
        .p2align 2
hocket_switch:
        .cfi_startproc
        addi    sp, sp, -224
        .cfi_adjust_cfa_offset 224
        sd      ra, 32(sp)
        .cfi_rel_offset ra, 32
        sd      s2, 40(sp)
        .cfi_rel_offset s2, 40
        sd      s3, 48(sp)
        .cfi_rel_offset s3, 48
        sd      s4, 56(sp)
        .cfi_rel_offset s4, 56
        sd      s5, 64(sp)
        .cfi_rel_offset s5, 64
        sd      s6, 72(sp)
        .cfi_rel_offset s6, 72
        sd      s7, 80(sp)
        .cfi_rel_offset s7, 80
        sd      s8, 88(sp)
        .cfi_rel_offset s8, 88
        sd      s9, 96(sp)
        .cfi_rel_offset s9, 96
        sd      s10, 104(sp)
        .cfi_rel_offset s10, 104
        sd      s11, 112(sp)
        .cfi_rel_offset s11, 112
        fsd     fs0, 120(sp)
        .cfi_rel_offset fs0, 120
        fsd     fs1, 128(sp)
        .cfi_rel_offset fs1, 128
        fsd     fs2, 136(sp)
        .cfi_rel_offset fs2, 136
        fsd     fs3, 144(sp)
        .cfi_rel_offset fs3, 144
        fsd     fs4, 152(sp)
        .cfi_rel_offset fs4, 152
        fsd     fs5, 160(sp)
        .cfi_rel_offset fs5, 160
        fsd     fs6, 168(sp)
        .cfi_rel_offset fs6, 168
        fsd     fs7, 176(sp)
        .cfi_rel_offset fs7, 176
        fsd     fs8, 184(sp)
        .cfi_rel_offset fs8, 184
        fsd     fs9, 192(sp)
        .cfi_rel_offset fs9, 192
        fsd     fs10, 200(sp)
        .cfi_rel_offset fs10, 200
        fsd     fs11, 208(sp)
        .cfi_rel_offset fs11, 208
        sd      s0, 8(sp)
        .cfi_rel_offset s0, 8
        sd      s1, 16(sp)
        .cfi_rel_offset s1, 16
        lla     t1, .Llanding
        sd      t1, 0(sp)
        mv      a2, a0
        mv      a0, sp
        ld      t1, 0(a2)
        ld      s0, 8(a2)
        ld      s1, 16(a2)
        addi    sp, a2, 32              // from here on the new stack; the tables describe one that was parked here
        .cfi_restore s0
        .cfi_restore s1
        .cfi_adjust_cfa_offset -32
        jr      t1
.Llanding:                              // s0 and s1 are restored; sp is record + 32
        ld      ra, 0(sp)
        .cfi_restore ra
        ld      s2, 8(sp)
        .cfi_restore s2
        ld      s3, 16(sp)
        .cfi_restore s3
        ld      s4, 24(sp)
        .cfi_restore s4
        ld      s5, 32(sp)
        .cfi_restore s5
        ld      s6, 40(sp)
        .cfi_restore s6
        ld      s7, 48(sp)
        .cfi_restore s7
        ld      s8, 56(sp)
        .cfi_restore s8
        ld      s9, 64(sp)
        .cfi_restore s9
        ld      s10, 72(sp)
        .cfi_restore s10
        ld      s11, 80(sp)
        .cfi_restore s11
        fld     fs0, 88(sp)
        .cfi_restore fs0
        fld     fs1, 96(sp)
        .cfi_restore fs1
        fld     fs2, 104(sp)
        .cfi_restore fs2
        fld     fs3, 112(sp)
        .cfi_restore fs3
        fld     fs4, 120(sp)
        .cfi_restore fs4
        fld     fs5, 128(sp)
        .cfi_restore fs5
        fld     fs6, 136(sp)
        .cfi_restore fs6
        fld     fs7, 144(sp)
        .cfi_restore fs7
        fld     fs8, 152(sp)
        .cfi_restore fs8
        fld     fs9, 160(sp)
        .cfi_restore fs9
        fld     fs10, 168(sp)
        .cfi_restore fs10
        fld     fs11, 176(sp)
        .cfi_restore fs11
        addi    sp, sp, 192
        .cfi_adjust_cfa_offset -192
        mv      t1, ra
        jr      t1                      // a jump from a register that is no link: `ret` would be mispredicted
        .cfi_endproc
        .size   hocket_switch, .-hocket_switch

// The first frame of every fiber: s0 = argument, s1 = entry function. Unwinding ends here.
        .globl  hocket_entry
        .type   hocket_entry, @function
        .p2align 2
hocket_entry:
        .cfi_startproc
        .cfi_undefined ra
        mv      a2, a1                  // transfer
        mv      a1, a0                  // from
        mv      a0, s0                  // argument
        li      s0, 0                   // the frame chain ends
        li      ra, 0
        jalr    s1
        unimp                           // the entry function never returns
        .cfi_endproc
        .size   hocket_entry, .-hocket_entry

        .section .note.GNU-stack, "", @progbits
