#include "query/run_derived.h"
#include "base/bits.h"
#include "profile/columns.h"
#include "profile/packed.h"
#include "profile/schema.h"

#include <errno.h>
#include <string.h>

#define PACKED_PATHS    "tpth"
#define DERIVED_VERSION 2u
#define HEAD_BYTES      (10 * 4u)
#define BODY_BYTES_MAX  ((size_t)1 << 30)
#define ENTRIES_A_BYTE  64u

/* The head: how many entries each table has. */
struct counts {
	uint32_t version, text, names, nodes, stacks, threads, events, counters, schemas, columns;
};

/* ---- encoding ---- */

/* Texts in the order in which they are needed, each ended by NUL. */
static void add_text(struct buf *text, const struct profile *p, string_id id)
{
	const char *s = profile_text(p, id);

	buf_add_mem(text, s, strlen(s) + 1);
}

#define ADD(body, count, value)                                                                    \
	do {                                                                                       \
		for (uint32_t n = 0; n < (count); n++)                                             \
			scratch[n] = (uint32_t)(value);                                            \
		column_encode_u32(scratch, (count), (body));                                       \
	} while (0)

static void add_tables(struct buf *body, struct buf *text, const struct profile *p,
		       const struct counts *k, uint32_t *scratch)
{
	ADD(body, k->threads, p->threads.items[n].pid);
	ADD(body, k->threads, p->threads.items[n].tid);
	for (uint32_t n = 0; n < k->threads; n++)
		add_text(text, p, p->threads.items[n].comm);
	for (uint32_t n = 0; n < k->events; n++) {
		add_text(text, p, p->events.items[n].name);
		add_text(text, p, p->events.items[n].unit);
	}
	ADD(body, k->counters, p->counters.items[n].cpu);
	ADD(body, k->counters, p->counters.items[n].thread.n);
	for (uint32_t n = 0; n < k->counters; n++) {
		put_u64(body, bits_of_double(p->counters.items[n].scale));
		add_text(text, p, p->counters.items[n].name);
		add_text(text, p, p->counters.items[n].unit);
	}
}

static void add_schemas(struct buf *body, struct buf *text, const struct profile *p,
			const struct counts *k, uint32_t *scratch)
{
	ADD(body, k->schemas, p->schemas.items[n].event);
	ADD(body, k->schemas, p->schemas.items[n].column_count);
	ADD(body, k->schemas, p->schemas.items[n].is_span | p->schemas.items[n].sampled << 1);
	for (uint32_t n = 0; n < k->schemas; n++) {
		add_text(text, p, p->schemas.items[n].name);
		add_text(text, p, p->schemas.items[n].meaning);
	}
	ADD(body, k->columns, p->columns.items[n].tag);
	ADD(body, k->columns,
	    p->columns.items[n].type | p->columns.items[n].role << 8 |
		    p->columns.items[n].bytes << 16);
	for (uint32_t n = 0; n < k->columns; n++) {
		add_text(text, p, p->columns.items[n].name);
		add_text(text, p, p->columns.items[n].unit);
		add_text(text, p, p->columns.items[n].meaning);
	}
}

static void add_paths(struct buf *body, struct buf *text, const struct call_paths *c,
		      const struct profile *p, const struct counts *k, uint32_t *scratch)
{
	for (uint32_t n = 0; n < k->names; n++) {
		add_text(text, p, c->names.items[n].label);
		add_text(text, p, c->names.items[n].module);
	}
	ADD(body, k->names, c->names.items[n].kind);
	/* A parent is near its child: differences are small numbers. */
	ADD(body, k->nodes, n - c->nodes.items[n].parent);
	ADD(body, k->nodes, c->nodes.items[n].name << 1 | c->nodes.items[n].inlined);
	ADD(body, k->stacks, call_path_known(c, n));
}

void run_derived_encode(const struct call_paths *c, const struct profile *p, struct buf *out)
{
	CLEANUP(buf_release) struct buf head = {}, body = {}, text = {};
	struct counts k = {DERIVED_VERSION,
			   0,
			   (uint32_t)c->names.len,
			   (uint32_t)c->nodes.len,
			   (uint32_t)c->stacks.of_stack.len,
			   (uint32_t)p->threads.len,
			   (uint32_t)p->events.len,
			   (uint32_t)p->counters.len,
			   (uint32_t)p->schemas.len,
			   (uint32_t)p->columns.len};
	size_t most = k.nodes + k.stacks + k.threads + k.counters + k.names + k.schemas + k.columns;
	uint32_t *scratch = xcalloc(most, sizeof(*scratch));

	add_tables(&body, &text, p, &k, scratch);
	add_schemas(&body, &text, p, &k, scratch);
	add_paths(&body, &text, c, p, &k, scratch);
	free(scratch);
	k.text = (uint32_t)text.len;
	buf_add_mem(&body, buf_str(&text), text.len);
	for (size_t i = 0; i < HEAD_BYTES / 4; i++)
		put_u32(&head, ((const uint32_t *)&k)[i]);
	packed_seal(PACKED_PATHS, &head, &body, out);
}

/* ---- decoding ---- */

struct reader {
	struct cursor c;
	struct cursor text;
	struct profile *p;
};

/* Adds the next text to the profile, unless the profile has the same text already. */
static string_id take_text(struct reader *r)
{
	const char *s = cursor_str(&r->text);

	return s ? profile_string(r->p, s) : (string_id){};
}

static bool take_threads(struct reader *r, const struct counts *k)
{
	uint32_t *pid = xcalloc(k->threads, sizeof(*pid)), *tid = xcalloc(k->threads, sizeof(*tid));
	bool ok = column_decode_u32(&r->c, k->threads, UINT32_MAX, pid) &&
		  column_decode_u32(&r->c, k->threads, UINT32_MAX, tid);

	r->p->threads.len = 0;
	for (uint32_t n = 0; ok && n < k->threads; n++) {
		struct profile_thread t = {pid[n], tid[n], take_text(r)};

		vec_push(&r->p->threads, t);
	}
	free(pid);
	free(tid);
	return ok;
}

static bool take_counters(struct reader *r, const struct counts *k)
{
	uint32_t *cpu = xcalloc(k->counters, sizeof(*cpu));
	uint32_t *thread = xcalloc(k->counters, sizeof(*thread));
	bool ok = column_decode_u32(&r->c, k->counters, UINT32_MAX, cpu) &&
		  (!k->threads ? !k->counters
			       : column_decode_u32(&r->c, k->counters, k->threads - 1, thread));

	r->p->counters.len = 0;
	for (uint32_t n = 0; ok && n < k->counters; n++) {
		struct profile_counter counter = {.cpu = (int32_t)cpu[n], .thread = {thread[n]}};

		counter.scale = double_of_bits(cursor_u64(&r->c));
		counter.name = take_text(r);
		counter.unit = take_text(r);
		vec_push(&r->p->counters, counter);
	}
	free(cpu);
	free(thread);
	return ok;
}

static bool take_columns(struct reader *r, const struct counts *k)
{
	uint32_t *tag = xcalloc(k->columns, sizeof(*tag)),
		 *kind = xcalloc(k->columns, sizeof(*kind));
	bool ok = column_decode_u32(&r->c, k->columns, UINT32_MAX, tag) &&
		  column_decode_u32(&r->c, k->columns, UINT32_MAX, kind);

	for (uint32_t n = 0; ok && n < k->columns; n++) {
		struct profile_column c = {.tag = tag[n],
					   .type = (uint8_t)kind[n],
					   .role = (uint8_t)(kind[n] >> 8),
					   .bytes = (uint8_t)(kind[n] >> 16),
					   .name = take_text(r)};

		c.unit = take_text(r);
		c.meaning = take_text(r);
		ok = c.type && value_type_name(c.type) && column_role_name(c.role);
		vec_push(&r->p->columns, c);
	}
	free(tag);
	free(kind);
	return ok;
}

static bool take_schemas(struct reader *r, const struct counts *k)
{
	uint32_t *numbers = xcalloc(3 * (size_t)k->schemas, sizeof(*numbers));
	uint32_t *event = numbers, *count = numbers + k->schemas, *bits = count + k->schemas;
	bool ok = column_decode_u32(&r->c, k->schemas, k->events, event) &&
		  column_decode_u32(&r->c, k->schemas, SCHEMA_COLUMNS_MAX, count) &&
		  column_decode_u32(&r->c, k->schemas, 3, bits);
	uint64_t columns = 0;

	for (uint32_t n = 0; ok && n < k->schemas; n++) {
		struct profile_schema s = {.event = event[n],
					   .columns = (uint32_t)columns,
					   .column_count = count[n],
					   .is_span = bits[n] & 1,
					   .sampled = bits[n] >> 1,
					   .name = take_text(r)};

		s.meaning = take_text(r);
		columns += count[n];
		vec_push(&r->p->schemas, s);
	}
	free(numbers);
	return ok && columns == k->columns && take_columns(r, k);
}

static bool take_names(struct reader *r, struct call_paths *c, const struct counts *k)
{
	uint32_t *kind = xcalloc(k->names, sizeof(*kind));
	bool ok;

	c->names.len = 0;
	vec_reserve(&c->names, k->names);
	for (uint32_t n = 0; n < k->names; n++) {
		struct path_name name = {.label = take_text(r)};

		name.module = take_text(r);
		vec_push(&c->names, name);
	}
	ok = column_decode_u32(&r->c, k->names, CODE_VDSO, kind);
	for (uint32_t n = 0; ok && n < k->names; n++)
		c->names.items[n].kind = (enum code_kind)kind[n];
	free(kind);
	return ok;
}

static bool take_nodes(struct reader *r, struct call_paths *c, const struct counts *k)
{
	uint32_t *away = table_alloc(k->nodes, sizeof(*away));
	uint32_t *key = table_alloc(k->nodes, sizeof(*key));
	bool ok = column_decode_u32(&r->c, k->nodes, UINT32_MAX, away) &&
		  column_decode_u32(&r->c, k->nodes, k->names * 2 - 1, key);

	c->nodes.len = 0;
	vec_reserve(&c->nodes, k->nodes);
	for (uint32_t n = 0; ok && n < k->nodes; n++) {
		ok = n ? away[n] >= 1 && away[n] <= n : !away[n];
		vec_push(&c->nodes, (struct call_path){n - away[n], key[n] >> 1, key[n] & 1});
	}
	table_free(away, k->nodes, sizeof(*away));
	table_free(key, k->nodes, sizeof(*key));
	return ok;
}

static bool take_stacks(struct reader *r, struct call_paths *c, const struct counts *k)
{
	if (!k->stacks)
		return true;
	vec_reserve(&c->stacks.of_stack, k->stacks);
	c->stacks.of_stack.len = k->stacks;
	if (!column_decode_u32(&r->c, k->stacks, k->nodes - 1, c->stacks.of_stack.items))
		return false;
	vec_each(&c->stacks.of_stack, node)
		++*node;
	return true;
}

static bool take_all(struct reader *r, struct call_paths *c, const struct counts *k)
{
	if (!take_threads(r, k))
		return false;
	for (uint32_t n = 0; n < k->events; n++) {
		struct profile_event event = {.name = take_text(r)};

		event.unit = take_text(r);
		vec_push(&r->p->events, event);
	}
	return take_counters(r, k) && take_schemas(r, k) && take_names(r, c, k) &&
	       take_nodes(r, c, k) && take_stacks(r, c, k) && !r->c.failed && !r->text.failed;
}

/* Bounds the number of entries, and so the memory, that a few damaged bytes can ask for. */
static bool counts_are_sane(const struct counts *k, size_t body)
{
	return k->version == DERIVED_VERSION && k->names >= 1 && k->nodes >= 1 && k->text <= body &&
	       k->names <= k->text && k->threads <= k->text && k->events <= k->text &&
	       k->counters <= k->text && k->schemas <= SCHEMAS_MAX && k->columns <= k->text &&
	       k->nodes <= PROFILE_STACKS_MAX * 2 && k->stacks <= PROFILE_STACKS_MAX;
}

int run_derived_decode(const void *bytes, size_t size, struct profile *p, struct call_paths *c,
		       struct err *e)
{
	struct packed packed;
	struct counts k;
	struct reader r = {.p = p};
	bool ok;
	int rc = packed_open(PACKED_PATHS, bytes, size, HEAD_BYTES, BODY_BYTES_MAX, &packed, e);

	if (rc)
		return rc;
	for (size_t i = 0; i < HEAD_BYTES / 4; i++)
		((uint32_t *)&k)[i] = cursor_u32(&packed.head);
	profile_init(p);
	call_paths_init(c);
	ok = counts_are_sane(&k, packed.body.size);
	if (ok) {
		r.text = cursor_part(&packed.body, packed.body.size - k.text, k.text);
		r.c = cursor_part(&packed.body, 0, packed.body.size - k.text);
		ok = take_all(&r, c, &k);
	}
	packed_release(&packed);
	if (ok)
		return 0;
	profile_release(p);
	call_paths_release(c);
	return err_set(e, EBADMSG, "stored call paths are damaged");
}
