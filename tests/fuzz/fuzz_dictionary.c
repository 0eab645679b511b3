/* Dictionaries: after any bytes every number in the tables leads somewhere. */
#include "profile/dictionary.h"
#include "profile/schema.h"
#include "packed_run.h"

static void must(bool good)
{
	if (!good)
		abort();
}

static bool text_is_good(const struct profile *p, string_id s)
{
	return s.n < p->strings.starts.len && strlen(profile_text(p, s)) < p->strings.bytes.len;
}

static void check_schemas(const struct profile *p)
{
	vec_each(&p->schemas, s)
		must(text_is_good(p, s->name) && text_is_good(p, s->meaning) &&
		     s->event <= p->events.len &&
		     (size_t)s->columns + s->column_count <= p->columns.len);
	vec_each(&p->columns, c)
		must(text_is_good(p, c->name) && text_is_good(p, c->unit) &&
		     text_is_good(p, c->meaning) && c->tag && c->type && value_type_name(c->type) &&
		     column_role_name(c->role));
}

static void check(const struct profile *p)
{
	vec_each(&p->modules, m)
		must(text_is_good(p, m->path) && text_is_good(p, m->name) &&
		     text_is_good(p, m->build_id) && text_is_good(p, m->problem) &&
		     text_is_good(p, m->found_id));
	vec_each(&p->functions, f)
		must(text_is_good(p, f->name) && text_is_good(p, f->label) &&
		     f->module.n < p->modules.len && f->kind <= CODE_VDSO);
	vec_each(&p->names, n)
		must(n->function.n < p->functions.len && text_is_good(p, n->file));
	vec_each(&p->frames, f)
		must(f->module.n < p->modules.len && f->names + f->name_count <= p->names.len &&
		     !f->names == !f->name_count);
	for (uint32_t n = 1; n < p->stacks.len; n++)
		must(p->stacks.items[n].parent.n < n && p->stacks.items[n].frame.n < p->frames.len);
	vec_each(&p->threads, t)
		must(text_is_good(p, t->comm));
	vec_each(&p->events, v)
		must(text_is_good(p, v->name) && text_is_good(p, v->unit));
	vec_each(&p->counters, c)
		must(text_is_good(p, c->name) && c->thread.n < p->threads.len);
	check_schemas(p);
}

/* What was taken can be sent on. */
static void send_on(const struct profile *p)
{
	struct dictionary_writer w;
	struct profile to;

	profile_init(&to);
	dictionary_writer_init(&w);
	for (;;) {
		CLEANUP(buf_release) struct buf out = {};

		if (!dictionary_encode(&w, p, &out))
			break;
		must(!dictionary_apply(&to, out.s, out.len, NULL));
	}
	must(to.stacks.len == p->stacks.len && to.frames.len == p->frames.len &&
	     to.names.len == p->names.len && to.counters.len == p->counters.len);
	check(&to);
	dictionary_writer_release(&w);
	profile_release(&to);
}

static void take(const void *bytes, size_t size)
{
	struct profile p;
	struct err e;

	profile_init(&p);
	if (!dictionary_apply(&p, bytes, size, &e)) {
		check(&p);
		if (p.stacks.len < 10000)
			send_on(&p);
	}
	check(&p);
	/* Interning into it works, whatever is in it. */
	profile_stack(&p, (stack_id){},
		      profile_frame(&p, profile_module(&p, "x", NULL, CODE_USER), 7));
	check(&p);
	profile_release(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	packed_run(PACKED_DICTIONARY, 0, data, size, take);
	return 0;
}
