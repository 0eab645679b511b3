/*
 * Whole files into profiles and call trees: tasks, mappings and chains that lie. No file of this
 * machine is looked at for names. The first byte says how it is done.
 */
#include "analyze/tree/calltree.h"
#include "perfdata_run.h"
#include "resolve/resolve.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A key that has a cell has one for each name, and texts inside the string. */
static void check_key(const struct profile *p, string_id key)
{
	const char *text = profile_text(p, key), *end = text + strlen(text);
	struct trace_cell cell;

	for (size_t i = 0; trace_key_cell(text, i, &cell); i++)
		if (cell.shown + cell.shown_len >= end || cell.text + cell.text_len >= end)
			abort();
	if (key.n && !trace_key_cell(text, 0, &cell))
		abort();
}

static uint64_t sum_of_rows(const struct profile *p)
{
	uint64_t sum = 0;

	vec_each(&p->rows, row) {
		if (row->stack.n >= p->stacks.len || row->thread.n >= p->threads.len ||
		    row->event.n >= p->events.len)
			abort();
		check_key(p, row->key);
		sum += row->samples;
	}
	return sum;
}

/* Every sample that was taken in is somewhere, once. */
static void check(const struct profile *p, bool reverse)
{
	struct calltree_options options = {.reverse = reverse};
	struct calltree tree;
	uint64_t samples = 0;

	for (uint32_t i = 1; i < p->stacks.len; i++)
		if (p->stacks.items[i].parent.n >= i || p->stacks.items[i].frame.n >= p->frames.len)
			abort();
	vec_each(&p->events, event)
		samples += event->samples;
	if (sum_of_rows(p) != samples)
		abort();
	calltree_build(&tree, p, &options);
	calltree_sort(&tree, CALLTREE_BY_TOTAL);
	if (tree.nodes.items[0].total_samples != samples)
		abort();
	calltree_release(&tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_options nothing = {.no_debuginfod = true};
	struct resolve_options options = {.no_names = true};
	struct resolve_report report;
	struct modules *modules;
	struct profile profile;
	struct perfdata *file;
	struct err e = {};

	if (!size || perfdata_open(&file, run_file(data + 1, size - 1), NULL, &e) < 0)
		return 0;
	options.leaf_only = data[0] & 1;
	options.by_cpu = data[0] & 2;
	options.by_comm = data[0] & 4;
	options.bucket_ns = data[0] & 8 ? 1000 : 0;
	options.trace.all_fields = data[0] & 64;
	options.trace.raw = data[0] & 128;
	if (data[0] & 64)
		vec_push(&options.trace.fields, xstrdup(TRACE_KEY_TEXT));
	options.threads = 1 + (data[0] >> 4 & 1);
	modules = modules_new(&nothing);
	profile_init(&profile);
	if (resolve_file(file, modules, &options, &profile, &report, &e) < 0 && !e.text[0])
		abort();
	check(&profile, data[0] & 32);
	profile_release(&profile);
	modules_free(modules);
	perfdata_close(file);
	strvec_release(&options.trace.fields);
	return 0;
}
