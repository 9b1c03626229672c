/* Entries that know no parameter: they keep every register, ask a C function where to go on, and jump there.
 *
 * An exported symbol is `JUMP`: it goes where `ur_entry` says, which is the wrapper, the runtime itself, or, before the
 * first call, a stub that finds out. So a runtime whose prototypes are not known is passed through unharmed.
 */
#if !defined(__x86_64__)
#error "the entries of the library are written for x86-64 only"
#endif

/* The number of the call is on the stack; `function(way, number)` gives the address. */
.macro UR_ASK label, function, way
	.p2align 4
\label:
	.cfi_startproc
	.cfi_def_cfa_offset 16
	pushq %rbp
	.cfi_def_cfa_offset 24
	.cfi_offset %rbp, -24
	movq %rsp, %rbp
	.cfi_def_cfa_register %rbp
	pushq %rdi
	pushq %rsi
	pushq %rdx
	pushq %rcx
	pushq %r8
	pushq %r9
	pushq %rax
	subq $128, %rsp
	movups %xmm0, (%rsp)
	movups %xmm1, 16(%rsp)
	movups %xmm2, 32(%rsp)
	movups %xmm3, 48(%rsp)
	movups %xmm4, 64(%rsp)
	movups %xmm5, 80(%rsp)
	movups %xmm6, 96(%rsp)
	movups %xmm7, 112(%rsp)
	movl $\way, %edi
	movl 8(%rbp), %esi
	call \function
	movq %rax, %r11
	movups (%rsp), %xmm0
	movups 16(%rsp), %xmm1
	movups 32(%rsp), %xmm2
	movups 48(%rsp), %xmm3
	movups 64(%rsp), %xmm4
	movups 80(%rsp), %xmm5
	movups 96(%rsp), %xmm6
	movups 112(%rsp), %xmm7
	addq $128, %rsp
	popq %rax
	popq %r9
	popq %r8
	popq %rcx
	popq %rdx
	popq %rsi
	popq %rdi
	popq %rbp
	.cfi_def_cfa %rsp, 16
	.cfi_restore %rbp
	addq $8, %rsp
	.cfi_adjust_cfa_offset -8
	notrack jmp *%r11
	.cfi_endproc
.endm

.macro UR_STUB name, number, label
	.globl \name
	.hidden \name
	.type \name, @function
\name:
	.cfi_startproc
	endbr64
	pushq $\number
	.cfi_adjust_cfa_offset 8
	jmp \label
	.cfi_endproc
	.size \name, .-\name
.endm

.macro UR_JUMP name, number
	.globl \name
	.type \name, @function
	.p2align 4
\name:
	.cfi_startproc
	endbr64
	notrack jmp *(ur_entry + 8 * \number)(%rip)
	.cfi_endproc
	.size \name, .-\name
.endm

#define ASK(label, function, way) UR_ASK label, function, way
#define STUB(name, number, label) UR_STUB name, number, label
#define JUMP(name, number) UR_JUMP name, number
