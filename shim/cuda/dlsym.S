/* dlsym, seen by name. Every name that is none of ours goes on to the next dlsym by a jump, so that the caller that
 * dlsym looks at (for RTLD_NEXT) is still the program: a wrapper in C would stand in its place. */
#if !defined(__x86_64__)
#error "dlsym.S is written for x86-64 only"
#endif
        .text
        .globl  dlsym
        .type   dlsym, @function
dlsym:
        .cfi_startproc
        endbr64
        pushq   %rdi
        .cfi_adjust_cfa_offset 8
        pushq   %rsi
        .cfi_adjust_cfa_offset 8
        subq    $8, %rsp
        .cfi_adjust_cfa_offset 8
        call    akv_is_ours             /* (handle, name) */
        addq    $8, %rsp
        .cfi_adjust_cfa_offset -8
        popq    %rsi
        .cfi_adjust_cfa_offset -8
        popq    %rdi
        .cfi_adjust_cfa_offset -8
        testl   %eax, %eax
        jnz     1f
        jmp     *akv_next_dlsym(%rip)
1:      movq    (%rsp), %rdx            /* who asks */
        jmp     akv_our_dlsym           /* (handle, name, caller) */
        .cfi_endproc
        .size   dlsym, .-dlsym
        .section .note.GNU-stack, "", @progbits
