// The entry stubs behind a fiber's handle, aarch64: what a control block's first two words point to.
// Entered as resume(frame) and destroy(frame), frame in x0; they leave by a tail jump, so they need no frame.
// hocket_start_resume stands in the two words of a scheduled fiber that has no stack yet.
// hint #34 is `bti c`: they are called, or jumped to from x16 or x17, as compilers do when they mean a call.

        .text
        .globl  hocket_frame_resume
        .type   hocket_frame_resume, %function
        .p2align 4
hocket_frame_resume:
        .cfi_startproc
        hint    #34
        b       hocket_resume_fiber
        .cfi_endproc
        .size   hocket_frame_resume, .-hocket_frame_resume

        .globl  hocket_frame_destroy
        .type   hocket_frame_destroy, %function
        .p2align 4
hocket_frame_destroy:
        .cfi_startproc
        hint    #34
        b       hocket_destroy_fiber
        .cfi_endproc
        .size   hocket_frame_destroy, .-hocket_frame_destroy

        .globl  hocket_start_resume
        .type   hocket_start_resume, %function
        .p2align 4
hocket_start_resume:
        .cfi_startproc
        hint    #34
        b       hocket_start_fiber
        .cfi_endproc
        .size   hocket_start_resume, .-hocket_start_resume

// What this file promises: branch target identification (the property's bit 0), and a stack that is not executable.
        .section .note.gnu.property, "a", %note
        .p2align 3
        .word   4, 16, 5                // sizes of the name and of the description; NT_GNU_PROPERTY_TYPE_0
        .asciz  "GNU"
        .word   0xc0000000, 4, 1, 0     // GNU_PROPERTY_AARCH64_FEATURE_1_AND, its size, BTI, padding
        .section .note.GNU-stack, "", %progbits
