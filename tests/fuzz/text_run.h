/*
 * Text of one format, whole and in small pieces: both must give the same profile, and it must be
 * possible to write it. Then once more as whatever it is taken for.
 */
#ifndef TACHO_FUZZ_TEXT_RUN_H
#define TACHO_FUZZ_TEXT_RUN_H

#include "export/exporter.h"
#include "import/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline bool text_run_keep(void *ctx, struct buf *bytes)
{
	struct buf *all = ctx;

	if (all)
		buf_add_mem(all, bytes->s, bytes->len);
	buf_clear(bytes);
	return true;
}

static inline void text_run_write(struct profile *p, const struct exporter *x, struct buf *to)
{
	struct view_options options = {
		.group = GROUP_COMM, .style = x->style, .join_inlined = true};
	struct export_options export = {.title = "a & b", .subtitle = "<c>"};
	struct export_out out = {.write = text_run_keep, .ctx = to};
	struct view v;

	view_build(&v, p, &options);
	if (x->run(&v, &export, &out, NULL) < 0)
		abort();
	text_run_keep(to, &out.buf);
	buf_release(&out.buf);
	view_release(&v);
}

static inline void text_run_check(const struct profile *p)
{
	for (size_t i = 1; i < p->stacks.len; i++)
		if (p->stacks.items[i].parent.n >= i || p->stacks.items[i].frame.n >= p->frames.len)
			abort();
	vec_each(&p->rows, row)
		if (row->stack.n >= p->stacks.len || row->thread.n >= p->threads.len ||
		    row->event.n >= p->events.len)
			abort();
}

/* Folded again, piece by piece of @step bytes. */
static inline void text_run_once(const struct text_format *format, const uint8_t *data, size_t size,
				 size_t step, struct buf *folded)
{
	struct profile p;
	struct text_import t = {.profile = &p, .format = format};

	profile_init(&p);
	for (size_t at = 0; at < size; at += step)
		if (text_import_feed(&t, (const char *)data + at,
				     size - at < step ? size - at : step, NULL) < 0)
			break;
	text_import_end(&t);
	text_run_check(&p);
	text_run_write(&p, &export_folded, folded);
	text_run_write(&p, &export_svg, NULL);
	profile_release(&p);
}

static inline void text_run(const struct text_format *format, const uint8_t *data, size_t size)
{
	struct buf whole = {}, pieces = {}, any = {};

	text_run_once(format, data, size, size + 1, &whole);
	text_run_once(format, data, size, 7, &pieces);
	if (whole.len != pieces.len || (whole.len && memcmp(whole.s, pieces.s, whole.len)))
		abort();
	text_run_once(NULL, data, size, size + 1, &any);
	buf_release(&whole);
	buf_release(&pieces);
	buf_release(&any);
}

#endif
