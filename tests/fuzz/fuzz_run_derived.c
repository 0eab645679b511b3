/*
 * Stored call paths. The fuzzer cannot find the hash that seals them, so it gives what is sealed: the
 * head of eight numbers and the body.
 */
#include "profile/packed.h"
#include "query/run_derived.h"

#include <stdlib.h>

#define HEAD_BYTES 40

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile size_t sum;

static void touch(const struct profile *p, const struct call_paths *c)
{
	for (size_t i = 0; i < c->names.len; i++)
		sum += (size_t)*profile_text(p, c->names.items[i].label) +
		       (size_t)*profile_text(p, c->names.items[i].module);
	for (size_t i = 1; i < c->nodes.len; i++)
		if (c->nodes.items[i].parent >= i || c->nodes.items[i].name >= c->names.len)
			abort();
	for (uint32_t i = 0; i < c->stacks.of_stack.len; i++)
		if (call_path_known(c, i) >= c->nodes.len)
			abort();
	for (size_t i = 0; i < p->counters.len; i++)
		if (p->counters.items[i].thread.n >= p->threads.len)
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf head = {}, body = {}, sealed = {};
	struct call_paths c;
	struct profile p;
	struct err e;

	if (size < HEAD_BYTES)
		return 0;
	buf_add_mem(&head, data, HEAD_BYTES);
	buf_add_mem(&body, data + HEAD_BYTES, size - HEAD_BYTES);
	packed_seal("tpth", &head, &body, &sealed);
	if (run_derived_decode(sealed.s, sealed.len, &p, &c, &e) == 0) {
		touch(&p, &c);
		profile_release(&p);
		call_paths_release(&c);
	}
	buf_release(&head);
	buf_release(&body);
	buf_release(&sealed);
	return 0;
}
