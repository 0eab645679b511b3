/*
 * CSV. Counters: one row per interval, one column per counter, empty if the counter was not read.
 * Samples: one row each, with the names of its thread, its function and its whole stack. Values are
 * in the counter's unit, if it has one; times are seconds since the run began.
 */
#include "base/digits.h"
#include "base/clock.h"
#include "base/text.h"
#include "server/export/formats.h"
#include "server/api/api.h"

#include <errno.h>
#include <string.h>

#define ROW_NUMBERS 8 /* numbers in a row of samples, at most */

/* Whether a spreadsheet would run the text as a formula. "-[Class method]" is a name. */
static bool is_formula(const char *text)
{
	return *text == '=' || *text == '@' || ((*text == '+' || *text == '-') && text[1] != '[');
}

/* Whether the text needs no quotes: nearly all texts do not. */
static bool is_plain(const char *text)
{
	if (is_formula(text))
		return false;
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || *text == ',' || *text == '"')
			return false;
	return true;
}

/* Names come from programs: replaces control characters and invalid UTF-8, disarms formulas. */
static void add_field(struct buf *out, const char *text)
{
	CLEANUP(buf_release) struct buf clean = {};

	if (is_plain(text)) {
		buf_add(out, text);
		return;
	}
	text_add_printable(&clean, text);
	buf_add_char(out, '"');
	if (is_formula(text))
		buf_add_char(out, '\'');
	for (text = buf_str(&clean); *text; text++) {
		if (*text == '"')
			buf_add_char(out, '"');
		buf_add_char(out, *text);
	}
	buf_add_char(out, '"');
}

static char *put_seconds(char *p, uint64_t ns)
{
	p = put_u64(p, ns / NS_PER_SEC);
	*p++ = '.';
	return put_digits(p, ns % NS_PER_SEC, 9);
}

static uint64_t since_start(const struct export_run *x, uint64_t ns)
{
	return ns > (uint64_t)x->run.start_ns ? ns - (uint64_t)x->run.start_ns : 0;
}

/* Cache of stack texts, one per slot: the same stacks are sampled again and again. */
#define STACK_SLOTS 4096u

struct csv_stack {
	uint32_t stack;
	struct buf text; /* "outer;inner", as a field */
};

struct csv {
	struct export_run *run;
	struct export_target *target;
	struct csv_stack *stacks;
};

/* ---- counters ---- */

static void counter_heads(struct csv *c)
{
	struct buf *out = &c->target->out.buf;
	const struct profile *p = &c->run->profile;

	buf_add(out, "time_s,interval_s");
	for (uint32_t i = 1; i < p->counters.len; i++) {
		CLEANUP(buf_release) struct buf name = {};
		const char *unit = profile_text(p, p->counters.items[i].unit);

		export_counter_name(c->run, i, &name);
		if (*unit)
			buf_addf(&name, " [%s]", unit);
		buf_add_char(out, ',');
		add_field(out, buf_str(&name));
	}
	buf_add_char(out, '\n');
}

static int write_tick(void *ctx, const struct export_count *counts, size_t count)
{
	struct csv *c = ctx;
	const struct profile *p = &c->run->profile;
	struct buf *out = &c->target->out.buf;
	char *at = buf_room(out, 4 * DIGITS_MAX);
	size_t n = 0;

	at = put_seconds(at, since_start(c->run, counts[0].row.time_ns));
	*at++ = ',';
	at = put_seconds(at, counts[0].row.duration_ns);
	buf_commit(out, at);
	for (uint32_t i = 1; i < p->counters.len; i++) {
		buf_add_char(out, ',');
		if (n == count || counts[n].counter != i)
			continue;
		if (p->counters.items[i].scale == 1)
			buf_add_u64(out, counts[n].row.value);
		else
			buf_addf(out, "%.15g",
				 (double)counts[n].row.value * p->counters.items[i].scale);
		n++;
	}
	buf_add_char(out, '\n');
	return export_flush_full(&c->target->out) ? 0 : -EIO;
}

/* ---- samples ---- */

/* Adds the names of a frame, outermost first, joined by ';' as in folded stacks. */
static void add_frame(struct buf *out, const struct profile *p, frame_id frame)
{
	const struct profile_frame *f = &p->frames.items[frame.n];

	for (uint32_t i = 0; i < f->name_count; i++) {
		if (out->len)
			buf_add_char(out, ';');
		buf_add(out, function_text(p, p->names.items[f->names + i].function));
	}
}

static const struct buf *stack_field(struct csv *c, uint32_t stack)
{
	struct csv_stack *slot = &c->stacks[stack % STACK_SLOTS];
	const struct profile *p = &c->run->profile;
	CLEANUP(buf_release) struct buf text = {};
	VEC(frame_id) frames = {};

	if (slot->stack == stack)
		return &slot->text;
	for (uint32_t s = stack; s; s = p->stacks.items[s].parent.n)
		vec_push(&frames, p->stacks.items[s].frame);
	for (size_t i = frames.len; i > 0; i--)
		add_frame(&text, p, frames.items[i - 1]);
	vec_release(&frames);
	slot->stack = stack;
	buf_clear(&slot->text);
	add_field(&slot->text, buf_str(&text));
	return &slot->text;
}

static const struct profile_function *leaf_of(const struct profile *p, uint32_t stack)
{
	const struct profile_frame *f = &p->frames.items[p->stacks.items[stack].frame.n];
	uint32_t last = f->name_count ? f->names + f->name_count - 1 : 0;

	return &p->functions.items[p->names.items[last].function.n];
}

static int write_sample(void *ctx, const struct sample_row *s)
{
	struct csv *c = ctx;
	const struct profile *p = &c->run->profile;
	const struct profile_thread *thread = &p->threads.items[s->thread];
	const struct profile_function *leaf = leaf_of(p, s->stack);
	struct buf *out = &c->target->out.buf;
	const struct buf *stack;
	char *at = buf_room(out, ROW_NUMBERS * (DIGITS_MAX + 2));

	at = put_seconds(at, since_start(c->run, s->time_ns));
	*at++ = ',';
	buf_commit(out, at);
	add_field(out,
		  s->event < p->events.len ? profile_text(p, p->events.items[s->event].name) : "");
	at = buf_room(out, ROW_NUMBERS * (DIGITS_MAX + 2));
	*at++ = ',';
	at = put_u64(at, thread->pid);
	*at++ = ',';
	at = put_u64(at, thread->tid);
	*at++ = ',';
	buf_commit(out, at);
	add_field(out, profile_text(p, thread->comm));
	at = buf_room(out, ROW_NUMBERS * (DIGITS_MAX + 2));
	*at++ = ',';
	at = put_u64(at, s->cpu);
	*at++ = ',';
	at = put_u64(at, s->weight);
	*at++ = ',';
	if (s->address)
		at = put_hex(put_lit(at, "0x"), s->address);
	*at++ = ',';
	buf_commit(out, at);
	add_field(out, profile_text(p, leaf->name));
	buf_add_char(out, ',');
	add_field(out, profile_text(p, p->modules.items[leaf->module.n].name));
	buf_add_char(out, ',');
	stack = stack_field(c, s->stack);
	buf_add_mem(out, buf_str(stack), stack->len);
	buf_add_char(out, '\n');
	return export_flush_full(&c->target->out) ? 0 : -EIO;
}

static int write_samples(struct csv *c, struct err *e)
{
	int rc;

	c->stacks = xcalloc(STACK_SLOTS, sizeof(*c->stacks));
	buf_add(&c->target->out.buf, "time_s,event,pid,tid,comm,cpu,weight,address,function,module,"
				     "stack\n");
	rc = export_samples_each(c->run, write_sample, c, e);
	for (size_t i = 0; i < STACK_SLOTS; i++)
		buf_release(&c->stacks[i].text);
	free(c->stacks);
	return rc;
}

static int write_csv(struct export_run *x, const struct http_request *r, struct export_target *t,
		     struct err *e)
{
	struct csv c = {.run = x, .target = t};
	const char *what = http_query(r, "what");

	if (what && !strcmp(what, "samples"))
		return write_samples(&c, e);
	if (what && strcmp(what, "counters"))
		return err_set(e, EINVAL, "what is counters or samples, not '%s'.", what);
	counter_heads(&c);
	return export_counts_each(x, write_tick, &c, e);
}

static const char *const parameters[] = {"what", NULL};

const struct export_format format_csv = {
	.extension = "csv",
	.type = "text/csv; charset=utf-8",
	.parameters = parameters,
	.write = write_csv,
};
