/* Stacks of functions that are made up, and of this program against what the C library finds. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "cfi_build.h"
#include "unwind/machine.h"
#include "unwind/tables.h"
#include "unwind/unwind.h"

#include <alloca.h>
#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

#define DEPTH_MAX  64
#define STACK_COPY 32768

/* ---- functions that are made up ---- */

#define RSP  7
#define RBP  6
#define RIP  16
#define BASE 0x7ff000u /* where the stack pointer stands */

/* One module at its own addresses, one stack, and who calls whom in them. */
struct scene {
	struct cfi_build bytes;
	uint16_t machine;
	struct module module;
	uint64_t values[33]; /* by perf's number */
	uint64_t mask;
	uint64_t stack[64];
	size_t words;
	uint64_t ips[DEPTH_MAX];
	size_t count, max, certain;
	uint64_t data_start, data_end; /* where no code can run */
};

#define CODE_START 0x1000u
#define CODE_END   0x9000u

static struct module *find_made_up(void *ctx, uint64_t address, uint64_t *ret)
{
	struct scene *s = ctx;

	*ret = address;
	return address >= CODE_START && address < CODE_END ? &s->module : NULL;
}

static bool is_made_up_code(void *ctx, uint64_t address)
{
	const struct scene *s = ctx;

	return address < s->data_start || address >= s->data_end;
}

static enum unwind_end run(struct scene *s)
{
	uint64_t packed[33];
	struct regs_view regs = {.abi = 2, .mask = s->mask, .values = packed};
	struct bytes_view stack = {.size = s->words * 8, .data = (unsigned char *)s->stack};
	struct unwind_input in = {.machine = s->machine,
				  .regs = &regs,
				  .stack = &stack,
				  .space = {find_made_up, s, is_made_up_code}};
	struct cfi_input cfi = {.eh_frame = built_section(&s->bytes), .address_size = 8};
	struct unwinder *u = unwinder_new();
	enum unwind_end end, again;
	size_t n = 0;

	for (unsigned i = 0; i < 33; i++)
		if (s->mask >> i & 1)
			packed[n++] = s->values[i];
	unwind_tables_set(&s->module, s->machine, &cfi);
	end = unwind_stack(u, &in, s->ips, s->max ? s->max : DEPTH_MAX, &s->count);
	s->certain = unwinder_certain(u);
	/* Once more, now that the rows are known. */
	again = unwind_stack(u, &in, s->ips, s->max ? s->max : DEPTH_MAX, &n);
	assert_int_equal(again, end);
	assert_int_equal(n, s->count);
	unwinder_free(u);
	s->module.unwind_tables_free(s->module.unwind_tables);
	s->module.unwind_tables = NULL;
	return end;
}

static void release(struct scene *s)
{
	buf_release(&s->bytes.bytes);
}

static void assert_ips(const struct scene *s, const uint64_t *wanted, size_t count)
{
	assert_int_equal(s->count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(s->ips[i], wanted[i]);
}

#define ASSERT_IPS(s, ...)                                                                         \
	assert_ips(s, (const uint64_t[]){__VA_ARGS__},                                             \
		   sizeof((uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/*
 * x86-64: 0x1000 has just been entered, 0x2000 has pushed rbp and made it its frame pointer, 0x3000
 * has 32 bytes of locals, 0x4000 is the outermost, 0x5000… has no rules.
 */
static struct scene x86_scene(void)
{
	static const uint8_t entry[] = {0x0c, RSP, 8, 0x80 | RIP, 1};
	static const uint8_t framed[] = {0x0c, RBP, 16, 0x80 | RBP, 2};
	static const uint8_t locals[] = {0x0e, 40};
	static const uint8_t outermost[] = {0x07, RIP};
	struct scene s = {.machine = EM_X86_64, .mask = 0xff01ff};

	put_cie(&s.bytes, "zR", "\1\0", 2, RIP, entry, sizeof(entry));
	put_fde(&s.bytes, 0x1000, 0x100, "", 1, NULL, 0);
	put_fde(&s.bytes, 0x2000, 0x100, "", 1, framed, sizeof(framed));
	put_fde(&s.bytes, 0x3000, 0x100, "", 1, locals, sizeof(locals));
	put_fde(&s.bytes, 0x4000, 0x100, "", 1, outermost, sizeof(outermost));
	s.values[8] = 0x1010;
	s.values[7] = BASE;
	s.words = 64;
	s.stack[0] = 0x2050; /* 0x1000's caller, whose frame pointer is at word 6 */
	s.values[6] = BASE + 48;
	s.stack[6] = 0;
	s.stack[7] = 0x3050; /* with 40 bytes from word 8 on */
	s.stack[12] = 0x4050;
	return s;
}

static void callers(void **state)
{
	struct scene s = x86_scene();

	(void)state;
	assert_int_equal(run(&s), UNWIND_COMPLETE);
	ASSERT_IPS(&s, 0x1010, 0x204f, 0x304f, 0x404f);
	assert_int_equal(s.certain, 4);
	release(&s);
}

static void ends(void **state)
{
	struct scene s = x86_scene();

	(void)state;
	s.words = 12; /* the last return address is just not there */
	assert_int_equal(run(&s), UNWIND_TRUNCATED);
	assert_int_equal(s.count, 3);
	s.words = 64;
	s.max = 2;
	assert_int_equal(run(&s), UNWIND_LIMIT);
	assert_int_equal(s.count, 2);
	s.max = 0;
	s.stack[12] = 0;
	assert_int_equal(run(&s), UNWIND_COMPLETE);
	assert_int_equal(s.count, 3);
	s.stack[12] = 0xdead0000;
	assert_int_equal(run(&s), UNWIND_NO_MODULE);
	ASSERT_IPS(&s, 0x1010, 0x204f, 0x304f, 0xdeadffff - 0x10000);
	s.stack[12] = 0x5050;
	s.values[6] = BASE + 48;
	s.stack[6] = 12345; /* no frame pointer */
	assert_int_equal(run(&s), UNWIND_NO_INFO);
	assert_int_equal(s.count, 4);
	s.mask &= ~(1ull << 8);
	assert_int_equal(run(&s), UNWIND_NO_REGS);
	assert_int_equal(s.count, 0);
	release(&s);
}

/* Down, or in a circle: a frame pointer that leads nowhere else. */
static void never_downwards(void **state)
{
	struct scene s = x86_scene();

	(void)state;
	s.values[6] = BASE - 64;
	assert_int_equal(run(&s), UNWIND_DAMAGED);
	assert_int_equal(s.count, 2);
	s.values[6] = BASE + 48;
	s.stack[7] = 0x2050;
	s.stack[6] = BASE + 48;
	assert_int_equal(run(&s), UNWIND_DAMAGED);
	assert_int_equal(s.count, 3);
	release(&s);
}

/* The way out of a function: its frame pointer was taken back, the rules still say where it was. */
static void popped_registers(void **state)
{
	static const uint8_t way_out[] = {0x80 | RBP, 2};
	struct scene s = x86_scene();

	(void)state;
	put_fde(&s.bytes, 0x6000, 0x100, "", 1, way_out, sizeof(way_out));
	s.values[8] = 0x6010;
	assert_int_equal(run(&s), UNWIND_COMPLETE);
	ASSERT_IPS(&s, 0x6010, 0x204f, 0x304f, 0x404f);
	release(&s);
}

/* A JIT's code, with frame pointers, between functions that have rules. */
static void frame_pointers(void **state)
{
	struct scene s = x86_scene();

	(void)state;
	s.stack[0] = 0x5050;
	assert_int_equal(run(&s), UNWIND_COMPLETE);
	ASSERT_IPS(&s, 0x1010, 0x504f, 0x304f, 0x404f);
	assert_int_equal(s.certain, 2);
	/* a return address that is no code: not believed */
	s.stack[7] = 0x12;
	assert_int_equal(run(&s), UNWIND_NO_INFO);
	ASSERT_IPS(&s, 0x1010, 0x504f);
	/* the ABI's mark of the outermost frame */
	s.values[6] = 0;
	assert_int_equal(run(&s), UNWIND_COMPLETE);
	ASSERT_IPS(&s, 0x1010, 0x504f);
	release(&s);
}

/* Behind code without rules a caller in data, the heap say, is none. */
static void guesses_lead_to_code(void **state)
{
	struct scene s = x86_scene();

	(void)state;
	s.stack[0] = 0x5050;
	s.data_start = 0x3000;
	s.data_end = 0x3800;
	assert_int_equal(run(&s), UNWIND_NO_INFO);
	ASSERT_IPS(&s, 0x1010, 0x504f);
	/* nor one that rules find from there */
	s.data_start = 0x4000;
	s.data_end = 0x4800;
	assert_int_equal(run(&s), UNWIND_NO_INFO);
	ASSERT_IPS(&s, 0x1010, 0x504f, 0x304f);
	/* on top of the stack of a call to nowhere neither */
	s.values[8] = 0;
	s.values[6] = 0x12;
	s.data_start = 0x5000;
	s.data_end = 0x5800;
	assert_int_equal(run(&s), UNWIND_NO_MODULE);
	ASSERT_IPS(&s, 0);
	release(&s);
}

static bool call_before(uint16_t elf, const char *code, size_t size)
{
	return machine_call_before(machine_of(elf), (const unsigned char *)code + size, size);
}

static void calls(void **state)
{
	static const struct {
		uint16_t elf;
		bool call;
		const char *code;
		size_t size;
	} cases[] = {
#define CODE(elf, call, bytes) {elf, call, bytes, sizeof(bytes) - 1}
		CODE(EM_X86_64, true, "\xe8\1\2\3\4"),                  /* call f */
		CODE(EM_X86_64, true, "\x90\x90\xff\xd0"),              /* call *%rax */
		CODE(EM_X86_64, true, "\x41\xff\xd4"),                  /* call *%r12 */
		CODE(EM_X86_64, true, "\xff\x15\1\2\3\4"),              /* call *x(%rip) */
		CODE(EM_X86_64, true, "\xff\x10"),                      /* call *(%rax) */
		CODE(EM_X86_64, true, "\xff\x50\x08"),                  /* call *8(%rax) */
		CODE(EM_X86_64, true, "\xff\x14\xc7"),                  /* call *(%rdi,%rax,8) */
		CODE(EM_X86_64, true, "\xff\x54\x24\x08"),              /* call *8(%rsp) */
		CODE(EM_X86_64, true, "\xff\x14\xc5\1\2\3\4"),          /* call *x(,%rax,8) */
		CODE(EM_X86_64, true, "\xff\x94\x24\1\2\3\4"),          /* call *x(%rsp) */
		CODE(EM_X86_64, true, "\xff\x90\1\2\3\4"),              /* call *x(%rax) */
		CODE(EM_X86_64, false, "\x90\x90\x90\x90\x90\x90\x90"), /* nop */
		CODE(EM_X86_64, false, "\x90\x90\xff\xe0"),             /* jmp *%rax */
		CODE(EM_X86_64, false, "\xe9\1\2\3\4"),                 /* jmp f */
		CODE(EM_X86_64, false, "\x90\xff\x14"),                 /* the half of one */
		CODE(EM_X86_64, false, "\xe8"),
		CODE(EM_X86_64, false, ""),
		CODE(EM_AARCH64, true, "\x01\x00\x00\x94"),  /* bl f */
		CODE(EM_AARCH64, true, "\x20\x00\x3f\xd6"),  /* blr x1 */
		CODE(EM_AARCH64, true, "\x3f\x08\x3f\xd6"),  /* blraaz x1 */
		CODE(EM_AARCH64, true, "\x22\x08\x3f\xd7"),  /* blraa x1, x2 */
		CODE(EM_AARCH64, false, "\x1f\x20\x03\xd5"), /* nop */
		CODE(EM_AARCH64, false, "\x01\x00\x00\x14"), /* b f */
		CODE(EM_AARCH64, false, "\x20\x00\x1f\xd6"), /* br x1 */
#undef CODE
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (call_before(cases[i].elf, cases[i].code, cases[i].size) != cases[i].call)
			fail_msg("case %zu is%s taken for a call", i, cases[i].call ? " not" : "");
}

static void call_to_nowhere(void **state)
{
	struct scene s = x86_scene();

	(void)state;
	s.values[8] = 0;
	assert_int_equal(run(&s), UNWIND_COMPLETE);
	ASSERT_IPS(&s, 0, 0x204f, 0x304f, 0x404f);
	assert_int_equal(s.certain, 1);
	s.stack[0] = 0x12;
	s.values[6] = 0x12;
	assert_int_equal(run(&s), UNWIND_NO_MODULE);
	assert_int_equal(s.count, 1);
	release(&s);
}

/* CFA = *(rbp - 8), as functions that align their stack have it. */
static void cfa_by_expression(void **state)
{
	static const uint8_t aligned[] = {0x0f, 3, 0x76, 0x78, 0x06, 0x10, RBP, 2, 0x76, 0};
	struct scene s = x86_scene();

	(void)state;
	put_fde(&s.bytes, 0x6000, 0x100, "", 1, aligned, sizeof(aligned));
	s.stack[0] = 0x6050;
	s.stack[5] = BASE + 20 * 8;
	s.stack[6] = BASE + 30 * 8; /* rbp of the caller */
	s.stack[19] = 0x2050;
	s.stack[31] = 0x4050;
	assert_int_equal(run(&s), UNWIND_COMPLETE);
	ASSERT_IPS(&s, 0x1010, 0x604f, 0x204f, 0x404f);
	s.words = 5;
	assert_int_equal(run(&s), UNWIND_TRUNCATED);
	assert_int_equal(s.count, 2);
	release(&s);
}

/* What is interrupted stands at its first instruction: looked up there, not before it. */
static void interrupted_code(void **state)
{
	static const uint8_t saved[] = {0x0c, RSP,  0,   0x80 | RIP, 0,    0x11, RIP,
					0x7e, 0x11, RSP, 0x7d,       0x11, RBP,  0x7c};
	struct scene s = x86_scene();

	(void)state;
	put_cie(&s.bytes, "zRS", "\1\0", 2, RIP, NULL, 0);
	put_fde(&s.bytes, 0x6000, 0x100, "", 1, saved, sizeof(saved));
	s.stack[0] = 0x6001;
	s.stack[3] = 0x1000; /* rip, at CFA+16; rsp at +24, rbp at +32 */
	s.stack[4] = BASE + 40 * 8;
	s.stack[5] = 0;
	s.stack[40] = 0x4050;
	assert_int_equal(run(&s), UNWIND_COMPLETE);
	ASSERT_IPS(&s, 0x1010, 0x6000, 0x1000, 0x404f);
	/* it had another stack, of which there is no copy */
	s.stack[4] = 0x1234560;
	assert_int_equal(run(&s), UNWIND_TRUNCATED);
	ASSERT_IPS(&s, 0x1010, 0x6000, 0x1000);
	/* one that interrupts itself for ever */
	s.stack[3] = 0x6000;
	s.stack[4] = BASE + 8;
	assert_int_equal(run(&s), UNWIND_LIMIT);
	assert_int_equal(s.count, DEPTH_MAX);
	release(&s);
}

/* arm64: the return address is in x30 until it is saved; signed ones lose their signature. */
static void arm64(void **state)
{
	static const uint8_t entry[] = {0x0c, 31, 0};
	static const uint8_t framed[] = {0x2d, 0x0e, 32, 0x80 | 29, 4, 0x80 | 30, 3};
	static const uint8_t outermost[] = {0x07, 30};
	struct scene s = {.machine = EM_AARCH64, .mask = (1ull << 33) - 1, .words = 64};

	(void)state;
	put_cie(&s.bytes, "zR", "\1\0", 2, 30, entry, sizeof(entry));
	put_fde(&s.bytes, 0x1000, 0x100, "", 1, NULL, 0);
	put_fde(&s.bytes, 0x2000, 0x100, "", 1, framed, sizeof(framed));
	put_fde(&s.bytes, 0x4000, 0x100, "", 1, outermost, sizeof(outermost));
	s.values[32] = 0x1010;
	s.values[31] = BASE;
	s.values[30] = 0x2050;
	s.stack[0] = BASE + 64;                   /* x29 of the caller, */
	s.stack[1] = 0x002a000000000000 | 0x5054; /* x30, signed */
	s.stack[8] = 0;
	s.stack[9] = 0x4050;
	assert_int_equal(run(&s), UNWIND_COMPLETE);
	ASSERT_IPS(&s, 0x1010, 0x204f, 0x5053, 0x404f);
	assert_int_equal(s.certain, 3);
	/* a caller that has not saved it would return to itself for ever */
	s.values[30] = 0x1050;
	assert_int_equal(run(&s), UNWIND_DAMAGED);
	assert_int_equal(s.count, 2);
	release(&s);
}

static void other_machines(void **state)
{
	struct scene s = x86_scene();

	(void)state;
	s.machine = EM_S390;
	assert_int_equal(run(&s), UNWIND_NO_REGS);
	assert_non_null(unwind_end_text(UNWIND_TRUNCATED));
	assert_non_null(unwind_end_text(UNWIND_NO_INFO));
	assert_non_null(unwind_end_text(UNWIND_NO_MODULE));
	assert_non_null(unwind_end_text(UNWIND_DAMAGED));
	assert_null(unwind_end_text(UNWIND_COMPLETE));
	assert_null(unwind_end_text(UNWIND_LIMIT));
	assert_null(unwind_end_text(UNWIND_NO_REGS));
	release(&s);
}

/* ---- this program ---- */

struct capture {
	uint64_t values[33], mask;
	struct bytes_view stack;
	unsigned char copy[STACK_COPY];
	void *truth[DEPTH_MAX];
	int truth_count;
};

static struct capture captured;
static char other_stack[65536];

/* Reads over the edges of variables, as a copy of a stack does. */
__attribute__((no_sanitize("address"), noinline)) static void copy_stack(const unsigned char *from,
									 const unsigned char *end)
{
	size_t size = (size_t)(end - from);
	volatile unsigned char *to = captured.copy;

	if (size > sizeof(captured.copy))
		size = sizeof(captured.copy);
	for (size_t i = 0; i < size; i++)
		to[i] = from[i];
	captured.stack = (struct bytes_view){.size = size, .data = captured.copy};
}

static const unsigned char *stack_end(const void *sp)
{
	pthread_attr_t attr;
	void *start;
	size_t size;

	if ((const char *)sp >= other_stack && (const char *)sp < other_stack + sizeof(other_stack))
		return (const unsigned char *)other_stack + sizeof(other_stack);
	assert_int_equal(pthread_getattr_np(pthread_self(), &attr), 0);
	pthread_attr_getstack(&attr, &start, &size);
	pthread_attr_destroy(&attr);
	return (const unsigned char *)start + size;
}

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
static void take_registers(const ucontext_t *uc)
{
	static const uint8_t order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI,
					REG_RBP, REG_RSP, REG_RIP, REG_R8,  REG_R9,  REG_R10,
					REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};

	for (size_t i = 0; i < sizeof(order); i++)
		captured.values[i] = (uint64_t)uc->uc_mcontext.gregs[order[i]];
	captured.mask = 0xff01ff;
}
#define SP_OF(uc) ((const unsigned char *)(uc)->uc_mcontext.gregs[REG_RSP])
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
static void take_registers(const ucontext_t *uc)
{
	for (size_t i = 0; i < 31; i++)
		captured.values[i] = uc->uc_mcontext.regs[i];
	captured.values[31] = uc->uc_mcontext.sp;
	captured.values[32] = uc->uc_mcontext.pc;
	captured.mask = (1ull << 33) - 1;
}
#define SP_OF(uc)   ((const unsigned char *)(uc)->uc_mcontext.sp)
#endif

#ifdef OWN_MACHINE
__attribute__((noinline)) static void capture(void)
{
	ucontext_t uc;

	getcontext(&uc);
	take_registers(&uc);
	copy_stack(SP_OF(&uc), stack_end(SP_OF(&uc)));
	captured.truth_count = backtrace(captured.truth, DEPTH_MAX);
}

struct search {
	uint64_t address, found;
	struct modules *all;
	struct module *module;
};

static int in_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct search *s = ctx;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;
		struct module_request request = {.kind = MODULE_ELF, .path = info->dlpi_name};

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || s->address < start ||
		    s->address - start >= p->p_memsz)
			continue;
		if (!*info->dlpi_name)
			request.path = "/proc/self/exe";
		s->found = s->address - info->dlpi_addr;
		s->module = modules_get(s->all, &request);
		return 1;
	}
	return 0;
}

static struct module *find_own(void *ctx, uint64_t address, uint64_t *ret)
{
	struct search s = {.address = address, .all = ctx};

	dl_iterate_phdr(in_object, &s);
	*ret = s.found;
	return s.module;
}

/* Compares what was captured; *ret_exact is how many callers were interrupted, not calling. */
static enum unwind_end compare(size_t *ret_count, size_t *ret_exact)
{
	const struct symbol_options options = {.no_debuginfod = true};
	struct regs_view regs = {.abi = 2, .mask = captured.mask, .values = captured.values};
	struct modules *all = modules_new(&options);
	struct unwind_input in = {.machine = OWN_MACHINE,
				  .regs = &regs,
				  .stack = &captured.stack,
				  .space = {find_own, all}};
	struct unwinder *u = unwinder_new();
	uint64_t ips[DEPTH_MAX] = {};
	enum unwind_end end = unwind_stack(u, &in, ips, DEPTH_MAX, ret_count);
	size_t skip = 0;

	*ret_exact = 0;
	/* Sanitizers put themselves between capture() and the C library. */
	while (skip < 2 && ips[1] + 1 != (uint64_t)captured.truth[skip + 1])
		skip++;
	assert_in_range(*ret_count, 2, (size_t)captured.truth_count - skip);
	for (size_t i = 1; i < *ret_count; i++) {
		uint64_t truth = (uint64_t)captured.truth[skip + i];

		if (ips[i] == truth)
			++*ret_exact;
		else
			assert_int_equal(ips[i] + 1, truth);
	}
	assert_int_equal(unwinder_certain(u), *ret_count);
	unwinder_free(u);
	modules_free(all);
	return end;
}

static volatile int work;

__attribute__((noinline)) static int recursion(int depth)
{
	if (!depth)
		capture();
	else
		work += recursion(depth - 1);
	return work + depth;
}

/* Locals of unknown size, and a stack that is aligned by hand. */
__attribute__((noinline)) static int wide(size_t size)
{
	volatile char aligned __attribute__((aligned(128))) = 1;
	char *more = alloca(size);

	memset(more, work, size);
	return recursion(3) + aligned + more[size / 2];
}

static int by_calling_back(const void *a, const void *b)
{
	(void)a;
	(void)b;
	if (!captured.truth_count)
		wide(100);
	return 0;
}

static void own_stack(void **state)
{
	int some[] = {3, 1, 2};
	size_t count, exact;

	(void)state;
	captured = (struct capture){};
	qsort(some, ARRAY_LEN(some), sizeof(some[0]), by_calling_back);
	assert_int_equal(compare(&count, &exact), UNWIND_COMPLETE);
	assert_in_range((size_t)captured.truth_count - count, 0, 1);
	assert_int_equal(exact, 0);
	assert_true(count >= 9);
}

static void on_signal(int number)
{
	(void)number;
	recursion(2);
}

static void check_signal(int flags, enum unwind_end wanted)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags}, before;
	size_t count, exact;

	captured = (struct capture){};
	sigaction(SIGUSR1, &action, &before);
	raise(SIGUSR1);
	sigaction(SIGUSR1, &before, NULL);
	assert_int_equal(compare(&count, &exact), wanted);
	assert_int_equal(exact, 1);
	assert_true(count >= 6);
}

static void own_signal_handler(void **state)
{
	(void)state;
	check_signal(0, UNWIND_COMPLETE);
}

static void own_signal_stack(void **state)
{
	stack_t mine = {.ss_sp = other_stack, .ss_size = sizeof(other_stack)}, before;

	(void)state;
	assert_int_equal(sigaltstack(&mine, &before), 0);
	check_signal(SA_ONSTACK, UNWIND_TRUNCATED);
	sigaltstack(&before, NULL);
}

static void *in_thread(void *arg)
{
	recursion(5);
	return arg;
}

static void own_thread(void **state)
{
	size_t count, exact;
	pthread_t t;

	(void)state;
	captured = (struct capture){};
	assert_int_equal(pthread_create(&t, NULL, in_thread, NULL), 0);
	pthread_join(t, NULL);
	assert_int_equal(compare(&count, &exact), UNWIND_COMPLETE);
	assert_true(count >= 8);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callers),
		cmocka_unit_test(ends),
		cmocka_unit_test(never_downwards),
		cmocka_unit_test(popped_registers),
		cmocka_unit_test(frame_pointers),
		cmocka_unit_test(guesses_lead_to_code),
		cmocka_unit_test(calls),
		cmocka_unit_test(call_to_nowhere),
		cmocka_unit_test(cfa_by_expression),
		cmocka_unit_test(interrupted_code),
		cmocka_unit_test(arm64),
		cmocka_unit_test(other_machines),
#ifdef OWN_MACHINE
		cmocka_unit_test(own_stack),
		cmocka_unit_test(own_signal_handler),
		cmocka_unit_test(own_signal_stack),
		cmocka_unit_test(own_thread),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
