/* dlsym, as a jump: no C function may stand between the program and the real one (dlsym.h says why). */
#if !defined(__x86_64__)
#error "the wrapped dlsym is written for x86-64 only"
#endif
	.text
	.globl dlsym
	.type dlsym, @function
	.p2align 4
dlsym:
	.cfi_startproc
	endbr64
	pushq %rdi
	.cfi_adjust_cfa_offset 8
	pushq %rsi
	.cfi_adjust_cfa_offset 8
	subq $8, %rsp
	.cfi_adjust_cfa_offset 8
	call akv_dlsym_target
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	popq %rsi
	.cfi_adjust_cfa_offset -8
	popq %rdi
	.cfi_adjust_cfa_offset -8
	notrack jmp *%rax
	.cfi_endproc
	.size dlsym, .-dlsym
	.section .note.GNU-stack, "", @progbits
