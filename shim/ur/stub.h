/* A call without a prototype: it is counted, and jumps on with every register as it came. */
#if !defined(__x86_64__)
#error "stubs of calls without a prototype are written for x86-64 only"
#endif

.macro UR_STUB name, way, number
	.text
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	pushq %rbp
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbp, -16
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rdi
	pushq %rsi
	pushq %rdx
	pushq %rcx
	pushq %r8
	pushq %r9
	pushq %rax
	subq $136, %rsp
	movups %xmm0, (%rsp)
	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	movups %xmm3, 48(%rsp)
	movups %xmm4, 64(%rsp)
	movups %xmm5, 80(%rsp)
	movups %xmm6, 96(%rsp)
	movups %xmm7, 112(%rsp)
	movl $\way, %edi
	movl $\number, %esi
	call ur_counted
	movq %rax, %r11
	movups (%rsp), %xmm0
	movups 16(%rsp), %xmm1
	movups 32(%rsp), %xmm2
	movups 48(%rsp), %xmm3
	movups 64(%rsp), %xmm4
	movups 80(%rsp), %xmm5
	movups 96(%rsp), %xmm6
	movups 112(%rsp), %xmm7
	addq $136, %rsp
	popq %rax
	popq %r9
	popq %r8
	popq %rcx
	popq %rdx
	popq %rsi
	popq %rdi
	popq %rbp
	.cfi_def_cfa %rsp, 8
	.cfi_restore %rbp
	notrack jmp *%r11
	.cfi_endproc
	.size \name, .-\name
.endm
#define STUB(name, way, number) UR_STUB name, way, number
