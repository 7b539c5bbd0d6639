// The entry stubs behind a fiber's handle, aarch64: what a control block's first two words point to.
// Entered as resume(frame) and destroy(frame), frame in x0; they leave by a tail jump, so they need no frame.
// How a fiber is resumed tells what it is: raw, scheduled on one thread, or one that migrates. hocket_start_resume stands
// in the two words of a scheduled fiber that has no stack yet.
// hint #34 is `bti c`: they are called, or jumped to from x16 or x17, as compilers do when they mean a call.

        .macro  entry_stub name, target
        .globl  \name
        .type   \name, %function
        .p2align 4
\name:
        .cfi_startproc
        hint    #34
        b       \target
        .cfi_endproc
        .size   \name, .-\name
        .endm

        .text
        entry_stub hocket_raw_resume, hocket_resume_raw
        entry_stub hocket_scheduled_resume, hocket_resume_scheduled
        entry_stub hocket_migratable_resume, hocket_resume_migratable
        entry_stub hocket_frame_destroy, hocket_destroy_fiber
        entry_stub hocket_start_resume, hocket_start_fiber

// What this file promises: branch target identification (the property's bit 0), and a stack that is not executable.
        .section .note.gnu.property, "a", %note
        .p2align 3
        .word   4, 16, 5                // sizes of the name and of the description; NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
        .word   0xc0000000, 4, 1, 0     // GNU_PROPERTY_AARCH64_FEATURE_1_AND, its size, BTI, padding
        .section .note.GNU-stack, "", %progbits
