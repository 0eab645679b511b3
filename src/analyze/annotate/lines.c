#include "analyze/annotate/annotate.h"

#include <string.h>

/* Lines without code that are shown before and after each line with code. */
#define CONTEXT_LINES 2
/* In the function's own file, gaps of up to this many lines without code are shown in full. */
#define GAP_LINES 60

static uint32_t file_of(struct annotation *a, const char *path)
{
	size_t len = strlen(path);
	uint64_t hash = hash_bytes(path, len, hash_seed());
	size_t at = slots_begin(&a->file_slots, hash);
	uint32_t number;

	while ((number = slots_next(&a->file_slots, hash, &at)))
		if (!strcmp(annotation_text(a, a->files.items[number - 1].path), path))
			return number - 1;
	vec_push(&a->files, (struct annotated_file){.path = annotation_string(a, path, len)});
	slots_add(&a->file_slots, hash, (uint32_t)a->files.len);
	return (uint32_t)a->files.len - 1;
}

void annotation_add_row(struct annotation *a, uint64_t address, const char *file, uint32_t line,
			pool_text scope)
{
	struct annotated_row row = {.address = address, .scope = scope};

	if (file && line) {
		row.file = file_of(a, file);
		row.line = line;
	}
	vec_push(&a->rows, row);
}

static int by_place(const void *x, const void *y)
{
	const struct annotated_line *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static uint32_t line_number(const struct annotation *a, uint32_t file, uint32_t number)
{
	struct annotated_line key = {.file = file, .number = number};
	const struct annotated_line *found = NULL;

	if (a->lines.len)
		found = bsearch(&key, a->lines.items, a->lines.len, sizeof(key), by_place);
	return found ? (uint32_t)(found - a->lines.items) + 1 : 0;
}

/* Collects every line of the rows once, sorted. */
static void collect_code_lines(struct annotation *a)
{
	size_t kept = 0;

	vec_each(&a->rows, row) {
		if (row->line && a->lines.len < ANNOTATION_LINES_MAX)
			vec_push(&a->lines, (struct annotated_line){.file = row->file,
								    .number = row->line,
								    .has_code = true});
	}
	if (!a->lines.len)
		return;
	qsort(a->lines.items, a->lines.len, sizeof(*a->lines.items), by_place);
	for (size_t i = 1; i < a->lines.len; i++)
		if (by_place(&a->lines.items[kept], &a->lines.items[i]))
			a->lines.items[++kept] = a->lines.items[i];
	a->lines.len = kept + 1;
}

struct source_reader {
	annotation_source read;
	void *ctx;
};

static void fill_text(struct annotation *a, struct annotated_line *line,
		      const struct source_reader *source)
{
	CLEANUP(free_ptr) char *path = NULL;
	const char *text;

	if (!source->read)
		return;
	/* The pool may move while the text is copied into it. */
	path = xstrdup(annotation_text(a, a->files.items[line->file].path));
	text = source->read(source->ctx, path, line->number);
	if (!text)
		return;
	line->has_text = true;
	line->text = annotation_string(a, text, strnlen(text, ANNOTATION_LINE_TEXT_MAX));
}

/* Adds lines around those with code if their source is available. */
static void add_context(struct annotation *a, const struct source_reader *source)
{
	__typeof__(a->lines) code = a->lines, all = {};

	for (size_t i = 0; i < code.len; i++) {
		struct annotated_line line = code.items[i];
		bool follows = i && code.items[i - 1].file == line.file;
		bool followed = i + 1 < code.len && code.items[i + 1].file == line.file;
		uint32_t before = follows ? code.items[i - 1].number : 0;
		uint32_t last = followed ? code.items[i + 1].number - 1 : UINT32_MAX;
		uint32_t gap = followed ? last - line.number : UINT32_MAX;
		uint32_t reach = line.file == 0 && gap <= GAP_LINES ? gap : CONTEXT_LINES;
		/* The line with code before this one has already added the whole gap. */
		bool joined = follows && line.file == 0 && line.number - before - 1 <= GAP_LINES;
		uint32_t from = line.number > CONTEXT_LINES ? line.number - CONTEXT_LINES : 1;

		if (follows && from <= before + CONTEXT_LINES)
			from = before + CONTEXT_LINES + 1;
		for (uint32_t n = from; source->read && !joined && n < line.number; n++) {
			struct annotated_line more = {.file = line.file, .number = n};

			fill_text(a, &more, source);
			if (more.has_text && all.len < ANNOTATION_LINES_MAX)
				vec_push(&all, more);
		}
		fill_text(a, &line, source);
		vec_push(&all, line);
		for (uint32_t n = line.number; source->read && reach && n < last; reach--) {
			struct annotated_line more = {.file = line.file, .number = ++n};

			fill_text(a, &more, source);
			if (!more.has_text)
				break;
			if (all.len < ANNOTATION_LINES_MAX)
				vec_push(&all, more);
		}
	}
	vec_release(&code);
	a->lines.items = all.items;
	a->lines.len = all.len;
	a->lines.cap = all.cap;
}

/* Assigns each instruction to its row: the last one that begins at or before it. */
static void attach(struct annotation *a)
{
	const struct annotated_row *row = a->rows.items, *end = row ? row + a->rows.len : NULL;
	const struct annotated_row *at = NULL;

	vec_each(&a->instructions, i) {
		while (row && row < end && row->address <= i->address)
			at = row++;
		if (!at || !at->line)
			continue;
		i->scope = at->scope;
		i->line = line_number(a, at->file, at->line);
		if (i->line) {
			struct annotated_line *line = &a->lines.items[i->line - 1];

			line->weight += i->weight;
			line->samples += i->samples;
		}
	}
}

static void sum_files(struct annotation *a)
{
	for (uint32_t n = 0; n < a->lines.len; n++) {
		const struct annotated_line *line = &a->lines.items[n];
		struct annotated_file *f = &a->files.items[line->file];

		if (!f->count++)
			f->first = n;
		f->weight += line->weight;
		f->samples += line->samples;
	}
}

void annotation_place_lines(struct annotation *a, annotation_source source, void *ctx)
{
	struct source_reader reader = {source, ctx};

	collect_code_lines(a);
	add_context(a, &reader);
	attach(a);
	sum_files(a);
}
