/* bpf(2) and the instructions for it, written by hand: our programs are a dozen lines each and
 * need no compiler. */
#ifndef TACHO_PERF_BPF_BPF_H
#define TACHO_PERF_BPF_BPF_H

#include <linux/bpf.h>
#include <stddef.h>

/* What the system call returns, or a negative errno. */
int bpf_call(int command, union bpf_attr *attr);

/* Loads a program for a raw tracepoint: a descriptor or a negative errno. */
int bpf_load(const struct bpf_insn *code, size_t count);

#define INSN(op, d, s, o, i)                                                                       \
	((struct bpf_insn){.code = (op), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)})

#define MOV_REG(d, s)            INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define MOV_IMM(d, i)            INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define ADD_IMM(d, i)            INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define AND_IMM(d, i)            INSN(BPF_ALU64 | BPF_AND | BPF_K, d, 0, 0, i)
#define LOAD(size, d, s, o)      INSN(BPF_LDX | BPF_MEM | (size), d, s, o, 0)
#define STORE(size, d, o, s)     INSN(BPF_STX | BPF_MEM | (size), d, s, o, 0)
#define STORE_IMM(size, d, o, i) INSN(BPF_ST | BPF_MEM | (size), d, 0, o, i)
#define JUMP_IMM(op, d, i, o)    INSN(BPF_JMP | (op) | BPF_K, d, 0, o, i)
#define CALL(function)           INSN(BPF_JMP | BPF_CALL, 0, 0, 0, function)
#define EXIT()                   INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0)

/* Loads a map's address: two instructions wide. */
#define LOAD_MAP(d, fd)                                                                            \
	INSN(BPF_LD | BPF_DW | BPF_IMM, d, BPF_PSEUDO_MAP_FD, 0, fd), INSN(0, 0, 0, 0, 0)

#endif
