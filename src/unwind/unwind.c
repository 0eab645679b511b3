#include "unwind/unwind.h"

#include "profile/stack_end.h"
#include "unwind/expression.h"
#include "unwind/rows.h"

#include <errno.h>
#include <string.h>

/* <asm/perf_regs.h> of our own machine would have it; the number is the same everywhere. */
#define REGS_ABI_64 2u

/* Places whose code was looked at: whether a call stands before them. A power of two. */
#define CALLS_KNOWN 256u

struct known_call {
	uint64_t address;
	uint32_t tables; /* its id; 0: free */
	bool follows_call;
};

struct unwinder {
	struct rows rows;
	size_t certain;
	struct known_call calls[CALLS_KNOWN];
};

/* One frame after the other: the state of the walk. */
struct walk {
	const struct machine *machine;
	const struct unwind_input *in;
	const unsigned char *stack;
	uint64_t stack_start, stack_size;
	uint64_t regs[CFI_REGISTERS]; /* by DWARF number, */
	uint64_t known;               /* as far as these bits say */
	bool exact;    /* pc is that of an instruction at work, not of one to return to */
	bool switched; /* a signal came in between: this may be another stack */
};

enum step {
	STEP_DONE,
	STEP_OUTERMOST,
	STEP_CUT,     /* it needs memory that was not copied */
	STEP_INVALID, /* the rules do not lead upwards */
	STEP_NO_INFO,
};

struct unwinder *unwinder_new(void)
{
	struct unwinder *u = xcalloc(1, sizeof(*u));

	rows_init(&u->rows);
	return u;
}

void unwinder_free(struct unwinder *u)
{
	if (!u)
		return;
	rows_release(&u->rows);
	free(u);
}

size_t unwinder_certain(const struct unwinder *u)
{
	return u->certain;
}

const char *unwind_end_text(enum unwind_end end)
{
	switch (end) {
	case UNWIND_TRUNCATED:
		return STACK_END_TRUNCATED;
	case UNWIND_NO_MODULE:
		return STACK_END_NO_MODULE;
	case UNWIND_NO_INFO:
		return STACK_END_NO_INFO;
	case UNWIND_DAMAGED:
		return STACK_END_DAMAGED;
	case UNWIND_COMPLETE:
	case UNWIND_LIMIT:
	case UNWIND_NO_REGS:
	case UNWIND_ENDS:
		break;
	}
	return NULL;
}

static inline bool load_word(const struct walk *w, uint64_t address, uint64_t *ret)
{
	uint64_t offset = address - w->stack_start;

	if (offset >= w->stack_size || w->stack_size - offset < sizeof(*ret))
		return false;
	memcpy(ret, w->stack + offset, sizeof(*ret));
	return true;
}

static bool load_sized(void *ctx, uint64_t address, unsigned size, uint64_t *ret)
{
	const struct walk *w = ctx;
	uint64_t offset = address - w->stack_start, value = 0;

	if (offset >= w->stack_size || w->stack_size - offset < size)
		return false;
	memcpy(&value, w->stack + offset, size); /* the lowest byte first: both machines do so */
	*ret = value;
	return true;
}

static bool is_known(const struct walk *w, unsigned reg)
{
	return w->known >> reg & 1;
}

static void set_reg(struct walk *w, unsigned reg, uint64_t value)
{
	w->regs[reg] = value;
	w->known |= 1ull << reg;
}

/* Memory that is not there: beyond the copy, or where no stack of this thread can be. */
static enum step missing(const struct walk *w, uint64_t address)
{
	return address >= w->stack_start || w->switched ? STEP_CUT : STEP_INVALID;
}

/* Callers are above. Only a leaf that a call has not touched (arm64) may leave sp where it was. */
static bool leads_upwards(const struct walk *w, uint64_t cfa)
{
	uint64_t sp = w->regs[w->machine->sp];

	return cfa > sp || (cfa == sp && w->exact && w->machine->lr);
}

/*
 * Compilers do not say that a function has taken a register back from the stack on its way out. What
 * lies below the stack pointer was taken back, so the register has its value already.
 */
static bool is_popped(const struct walk *w, uint64_t slot)
{
	return w->exact && slot < w->regs[w->machine->sp];
}

static inline enum step arrive(struct walk *w, uint64_t pc, bool is_signed)
{
	if (is_signed)
		pc &= w->machine->address_mask;
	if (!pc)
		return STEP_OUTERMOST;
	set_reg(w, w->machine->pc, pc);
	w->exact = false;
	return STEP_DONE;
}

static enum step step_simple(struct walk *w, const struct row *row)
{
	uint64_t cfa = w->regs[row->cfa_reg] + (uint64_t)(int64_t)row->cfa_offset;
	uint64_t pc, value, slot;

	if (!is_known(w, row->cfa_reg) || !leads_upwards(w, cfa))
		return STEP_INVALID;
	if (row->return_in_register) {
		if (!is_known(w, row->return_reg) || !w->exact)
			return STEP_INVALID;
		pc = w->regs[row->return_reg];
	} else if (!load_word(w, cfa + (uint64_t)(int64_t)row->return_offset, &pc)) {
		return missing(w, cfa + (uint64_t)(int64_t)row->return_offset);
	}
	for (unsigned i = 0; i < row->saved_count; i++) {
		unsigned reg = row->saved_reg[i];

		slot = cfa + (uint64_t)(int64_t)row->saved_slot[i] * 8;
		if (load_word(w, slot, &value))
			set_reg(w, reg, value);
		else if (!is_popped(w, slot))
			w->known &= ~(1ull << reg);
	}
	set_reg(w, w->machine->sp, cfa);
	if (row->return_reg != w->machine->pc)
		set_reg(w, row->return_reg, pc);
	return arrive(w, pc, row->return_signed);
}

static int run_expression(struct walk *w, const struct cfi_rule *rule, const uint64_t *cfa,
			  uint64_t *ret)
{
	struct expression_input in = {.bytes = rule->expression,
				      .size = rule->expression_size,
				      .regs = w->regs,
				      .known = w->known,
				      .has_initial = cfa != NULL,
				      .initial = cfa ? *cfa : 0,
				      .address_size = 8,
				      .load = load_sized,
				      .ctx = w};

	return expression_run(&in, ret);
}

/* The caller's value of a register. -ENODATA: it cannot be known. */
static int apply_rule(struct walk *w, unsigned reg, const struct cfi_rule *rule, uint64_t cfa,
		      uint64_t *ret)
{
	uint64_t address;
	int r;

	switch ((enum cfi_how)rule->how) {
	case CFI_UNSET:
	case CFI_SAME:
		*ret = w->regs[reg];
		return is_known(w, reg) ? 0 : -ENODATA;
	case CFI_SAVED:
		address = cfa + (uint64_t)rule->offset;
		if (load_word(w, address, ret))
			return 0;
		*ret = w->regs[reg];
		return is_known(w, reg) && is_popped(w, address) ? 0 : -ENODATA;
	case CFI_OFFSET:
		*ret = cfa + (uint64_t)rule->offset;
		return 0;
	case CFI_REGISTER:
		*ret = w->regs[rule->reg];
		return is_known(w, rule->reg) ? 0 : -ENODATA;
	case CFI_SAVED_EXPRESSION:
		r = run_expression(w, rule, &cfa, &address);
		if (r)
			return r;
		return load_word(w, address, ret) ? 0 : -ENODATA;
	case CFI_EXPRESSION:
		return run_expression(w, rule, &cfa, ret);
	case CFI_UNDEFINED:
		break;
	}
	return -ENODATA;
}

static enum step find_cfa(struct walk *w, const struct cfi_row *row, uint64_t *ret)
{
	int r;

	if (row->cfa.how == CFI_EXPRESSION) {
		r = run_expression(w, &row->cfa, NULL, ret);
		if (r)
			return r == -ENODATA ? STEP_CUT : STEP_INVALID;
	} else {
		if (!is_known(w, row->cfa.reg))
			return STEP_INVALID;
		*ret = w->regs[row->cfa.reg] + (uint64_t)row->cfa.offset;
	}
	return row->signal_frame || leads_upwards(w, *ret) ? STEP_DONE : STEP_INVALID;
}

static enum step step_full(struct walk *w, const struct cfi_row *row)
{
	const struct machine *m = w->machine;
	struct walk next = *w;
	uint64_t cfa, value;
	enum step step = find_cfa(w, row, &cfa);
	int r;

	if (step != STEP_DONE)
		return step;
	next.known = 0;
	for (unsigned i = 0; i < CFI_REGISTERS; i++)
		if (!apply_rule(w, i, &row->regs[i], cfa, &value))
			set_reg(&next, i, value);
	if (row->regs[m->sp].how == CFI_UNSET || row->regs[m->sp].how == CFI_SAME)
		set_reg(&next, m->sp, cfa);
	r = apply_rule(w, row->return_register, &row->regs[row->return_register], cfa, &value);
	if (r)
		return r == -ENODATA ? STEP_CUT : STEP_INVALID;
	if (!is_known(&next, m->sp))
		return STEP_CUT;
	/* A return address that stays where it is would be found again and again. */
	if (!row->signal_frame && !w->exact && row->regs[row->return_register].how <= CFI_SAME)
		return STEP_INVALID;
	step = arrive(&next, value, row->return_signed);
	next.exact = row->signal_frame;
	next.switched = w->switched || row->signal_frame;
	*w = next;
	return step;
}

/* Where a call can return to: behind it, or the code that ends a signal handler. True if not known. */
static bool read_call(const struct machine *m, const struct unwind_tables *tables, uint64_t address)
{
	unsigned char code[MACHINE_CALL_BYTES + 16];
	struct cfi_row ignored;
	size_t before = MACHINE_CALL_BYTES, size;

	if (!tables->module || tables->machine != m->elf || address < before)
		return true;
	size = module_code(tables->module, address - before, code, sizeof(code));
	if (size < before)
		return true;
	return machine_call_before(m, code + before, before) ||
	       machine_signal_return(m, code + before, size - before, &ignored);
}

static bool follows_call(struct unwinder *u, const struct machine *m,
			 const struct unwind_tables *tables, uint64_t address)
{
	struct known_call *k =
		&u->calls[(address ^ address >> 8 ^ tables->id * 0x9e3779b1u >> 24) % CALLS_KNOWN];

	if (k->tables != tables->id || k->address != address)
		*k = (struct known_call){address, tables->id, read_call(m, tables, address)};
	return k->follows_call;
}

/* Whether @pc, which was guessed, can be a return address. */
static bool is_return_address(struct unwinder *u, const struct walk *w, uint64_t pc)
{
	const struct unwind_space *space = &w->in->space;
	uint64_t address = 0;
	struct module *module = pc ? space->find(space->ctx, pc - 1, &address) : NULL;

	if (!module || (space->is_executable && !space->is_executable(space->ctx, pc - 1)))
		return false;
	return follows_call(u, w->machine, unwind_tables_of(module), address + 1);
}

/* Code without rules that keeps frame pointers, as many JITs' does: the caller's, and its address. */
static enum step guess_by_frame_pointer(struct unwinder *u, struct walk *w)
{
	const struct machine *m = w->machine;
	uint64_t fp = w->regs[m->fp], up, pc;

	/* The ABIs want 0 there in the outermost frame, where a thread begins. */
	if (is_known(w, m->fp) && !fp && !w->exact)
		return STEP_OUTERMOST;
	if (!is_known(w, m->fp) || fp < w->regs[m->sp] || fp % 8 || !load_word(w, fp, &up) ||
	    !load_word(w, fp + 8, &pc))
		return STEP_NO_INFO;
	if (!is_return_address(u, w, pc))
		pc &= m->address_mask;
	if (!is_return_address(u, w, pc))
		return STEP_NO_INFO;
	set_reg(w, m->fp, up);
	set_reg(w, m->sp, fp + 16);
	return arrive(w, pc, false);
}

/* A call to nowhere (through a pointer that is NULL, say) has just left its return address. */
static enum step guess_by_call(struct unwinder *u, struct walk *w)
{
	const struct machine *m = w->machine;
	uint64_t sp = w->regs[m->sp], pc = w->regs[m->lr];

	if (m->lr ? !is_known(w, m->lr) : !load_word(w, sp, &pc))
		return STEP_NO_INFO;
	if (!is_return_address(u, w, pc))
		return STEP_NO_INFO;
	if (!m->lr)
		set_reg(w, m->sp, sp + 8);
	return arrive(w, pc, false);
}

static enum step step(struct unwinder *u, struct walk *w, struct unwind_tables *tables,
		      uint64_t address)
{
	const struct row *row;

	if (tables->machine != w->machine->elf)
		return STEP_NO_INFO;
	row = rows_find(&u->rows, w->machine, tables, address);
	switch ((enum row_kind)row->kind) {
	case ROW_SIMPLE:
		return step_simple(w, row);
	case ROW_FULL:
		return step_full(w, &u->rows.full.items[row->full]);
	case ROW_OUTERMOST:
		return STEP_OUTERMOST;
	case ROW_NO_INFO:
		break;
	}
	return STEP_NO_INFO;
}

static bool start(struct walk *w, const struct unwind_input *in)
{
	const struct regs_view *regs = in->regs;
	uint64_t mask = regs->mask;
	const uint64_t *value = regs->values;

	*w = (struct walk){.machine = machine_of(in->machine), .in = in, .exact = true};
	if (!w->machine || regs->abi != REGS_ABI_64)
		return false;
	for (unsigned i = 0; mask; i++, mask >>= 1) {
		if (!(mask & 1))
			continue;
		if (i < w->machine->perf_count && w->machine->dwarf_of_perf[i] != MACHINE_NONE)
			set_reg(w, w->machine->dwarf_of_perf[i], *value);
		value++;
	}
	if (!is_known(w, w->machine->sp) || !is_known(w, w->machine->pc))
		return false;
	w->stack = in->stack->data;
	w->stack_size = in->stack->data ? in->stack->size : 0;
	w->stack_start = w->regs[w->machine->sp];
	return true;
}

/* From one frame to its caller. *certain is cleared if that took a guess. */
static enum unwind_end next_frame(struct unwinder *u, struct walk *w, struct module *module,
				  uint64_t address, bool first, bool *certain)
{
	enum step s = module ? step(u, w, unwind_tables_of(module), address) : STEP_NO_INFO;

	if (s == STEP_NO_INFO) {
		*certain = false;
		if (!module && !first)
			return UNWIND_NO_MODULE;
		if (!module)
			s = guess_by_call(u, w);
		if (s == STEP_NO_INFO)
			s = guess_by_frame_pointer(u, w);
	}
	switch (s) {
	case STEP_DONE:
		return UNWIND_LIMIT; /* so far */
	case STEP_OUTERMOST:
		return UNWIND_COMPLETE;
	case STEP_CUT:
		return UNWIND_TRUNCATED;
	case STEP_INVALID: /* the guess was wrong, or the stack is */
		return *certain ? UNWIND_DAMAGED : UNWIND_NO_INFO;
	case STEP_NO_INFO:
		break;
	}
	return module ? UNWIND_NO_INFO : UNWIND_NO_MODULE;
}

enum unwind_end unwind_stack(struct unwinder *u, const struct unwind_input *in, uint64_t *ret_ips,
			     size_t max, size_t *ret_count)
{
	enum unwind_end end = UNWIND_LIMIT;
	bool certain = true;
	struct walk w;

	*ret_count = 0;
	u->certain = 0;
	if (!start(&w, in))
		return UNWIND_NO_REGS;
	for (size_t i = 0; i < max && end == UNWIND_LIMIT; i++) {
		uint64_t ip = w.regs[w.machine->pc] - !w.exact, address = 0;
		struct module *module;

		/* Rules that start from a guess may lead astray as well. */
		if (!certain && !w.exact && !is_return_address(u, &w, ip + 1)) {
			end = UNWIND_NO_INFO;
			break;
		}
		module = in->space.find(in->space.ctx, ip, &address);
		ret_ips[i] = ip;
		*ret_count = i + 1;
		if (certain)
			u->certain = i + 1;
		end = next_frame(u, &w, module, address, i == 0, &certain);
	}
	return end;
}
