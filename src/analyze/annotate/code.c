#include "analyze/annotate/code.h"

#include <string.h>

/* The lines of the code sorted by file and number, for binary search. */
struct shown_lines {
	const struct code *code;
	VEC(const struct code_line *) sorted;
};

static int compare_lines(const struct code *c, const struct code_line *x, const struct code_line *y)
{
	int order = x->file == y->file ? 0 : strcmp(code_text(c, x->file), code_text(c, y->file));

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

static int by_place(const void *x, const void *y, void *ctx)
{
	const struct shown_lines *s = ctx;

	return compare_lines(s->code, *(const struct code_line *const *)x,
			     *(const struct code_line *const *)y);
}

static void sort_lines(struct shown_lines *s)
{
	vec_each(&s->code->lines, line)
		vec_push(&s->sorted, line);
	if (s->sorted.len)
		qsort_r(s->sorted.items, s->sorted.len, sizeof(*s->sorted.items), by_place, s);
}

static const char *find_line(void *ctx, const char *file, uint32_t number)
{
	const struct shown_lines *s = ctx;
	size_t low = 0, high = s->sorted.len;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct code_line *line = s->sorted.items[middle];
		int order = strcmp(file, code_text(s->code, line->file));

		if (!order && line->number == number)
			return code_text(s->code, line->text);
		if (order < 0 || (!order && number < line->number))
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

static pool_text copied(struct annotation *a, const struct code *c, uint32_t string)
{
	const char *text = code_text(c, string);

	return annotation_string(a, text, strlen(text));
}

static void add_instructions(struct annotation *a, const struct code *c)
{
	static const enum annotated_flow flows[] = {
		[CODE_NEXT] = ANNOTATED_NEXT,
		[CODE_JUMP] = ANNOTATED_JUMP,
		[CODE_CALL] = ANNOTATED_CALL,
		[CODE_RETURN] = ANNOTATED_RETURN,
	};

	vec_each(&c->instructions, i) {
		struct annotated_instruction new = {
			.address = i->address,
			.target = i->target,
			.size = i->size,
			.text = copied(a, c, i->text),
			.comment = copied(a, c, i->comment),
			.flow = flows[i->flow],
			.bad = i->bad,
		};

		annotation_add_instruction(a, &new);
	}
}

static void add_rows(struct annotation *a, const struct code *c)
{
	uint32_t last = 0;
	pool_text scope = {0};

	vec_each(&c->rows, row) {
		if (row->scope != last) {
			last = row->scope;
			scope = copied(a, c, row->scope);
		}
		annotation_add_row(a, row->address, row->file ? code_text(c, row->file) : NULL,
				   row->line, scope);
	}
}

static pool_text named(struct annotation *a, const struct profile *p, string_id id)
{
	return annotation_stringf(a, "%s", profile_text(p, id));
}

void annotation_set_names(struct annotation *a, const struct profile *p, event_id event,
			  function_id function)
{
	const struct profile_function *f = function_of(p, function);
	const struct profile_module *m = &p->modules.items[f->module.n];

	a->function = named(a, p, f->name);
	a->module = named(a, p, m->path);
	a->build_id = named(a, p, m->build_id);
	a->event = named(a, p, p->events.items[event.n].name);
}

void annotation_of_code(struct annotation *a, const struct code *code)
{
	struct shown_lines lines = {.code = code};

	a->start = code->start;
	a->end = code->end;
	a->problem = copied(a, code, code->problem);
	if (!a->build_id.at)
		a->build_id = copied(a, code, code->build_id);
	add_instructions(a, code);
	add_rows(a, code);
	sort_lines(&lines);
	annotation_finish(a, find_line, &lines);
	vec_release(&lines.sorted);
	vec_each(&code->notes, note)
		vec_push(&a->notes, copied(a, code, *note));
	if (a->instructions.len && a->lost_weight)
		vec_push(&a->notes,
			 annotation_stringf(a,
					    "%.2f %% of the function's samples are outside the "
					    "instructions shown.",
					    annotation_share(a, LOCAL_PERIOD, a->lost_weight, 0)));
}
