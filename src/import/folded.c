#include "import/folded.h"

#include <string.h>

#define FRACTION_SCALE 1000 /* weights per unit once a count has decimals */
#define COUNT_MAX      (UINT64_MAX / 4 / FRACTION_SCALE)
/* Lines that decide whether every line has two counts. */
#define FORM_LINES 64

struct folded_line {
	const char *stack;
	size_t stack_len, one_count_len; /* as it is if there is only one count */
	uint64_t counts[2];              /* in thousandths */
	bool two, fraction;
};

struct folded {
	uint64_t scale; /* 1, or FRACTION_SCALE */
	bool decided;   /* how many counts a line has */
	/* Lines that wait for that. */
	struct buf waiting;
	size_t waiting_lines, single_lines;
	/* The last line: neighbours share most of their stack. */
	struct buf last;
	VEC(stack_id) stacks; /* after each frame of it */
	VEC(uint32_t) ends;   /* where the text of that frame ends */
	/* By the number of its text, with a mark if it has one. That of number 0 has all texts that found no room. */
	VEC(frame_id) frames;
};

/* ---- a line ---- */

/* The number at the end of the text, with what is before it; false: there is none. */
static bool take_count(const char *text, size_t *len, uint64_t *ret_thousandths, bool *ret_fraction)
{
	size_t end = *len, at, dot = 0;
	uint64_t value = 0, unit = FRACTION_SCALE;

	while (end && (text[end - 1] == ' ' || text[end - 1] == '\t'))
		end--;
	at = end;
	while (at && ((text[at - 1] >= '0' && text[at - 1] <= '9') || text[at - 1] == '.'))
		at--;
	if (at == end || !at || (text[at - 1] != ' ' && text[at - 1] != '\t') || text[at] == '.')
		return false;
	*len = at - 1;
	for (; at < end; at++) {
		if (text[at] == '.') {
			if (dot++)
				return false;
			continue;
		}
		if (dot) {
			unit /= 10;
			*ret_fraction |= text[at] != '0';
			value += (uint64_t)(text[at] - '0') * unit;
			continue;
		}
		if (value > COUNT_MAX)
			return false;
		value = value * 10 + (uint64_t)(text[at] - '0') * FRACTION_SCALE;
	}
	*ret_thousandths = value;
	return true;
}

/* False: no count, or no stack before it. */
static bool parse_line(const char *text, size_t len, struct folded_line *ret)
{
	struct folded_line line = {.stack = text};
	uint64_t before;

	if (!take_count(text, &len, &line.counts[0], &line.fraction))
		return false;
	line.stack_len = len;
	while (line.stack_len && text[line.stack_len - 1] == ' ')
		line.stack_len--;
	line.one_count_len = line.stack_len;
	*ret = line;
	if (take_count(text, &len, &before, &line.fraction)) {
		line.two = true;
		line.stack_len = len;
		line.counts[1] = line.counts[0];
		line.counts[0] = before;
		*ret = line;
	}
	return ret->stack_len > 0;
}

static bool is_comment(const char *line, size_t len)
{
	return !len || line[0] == '#';
}

bool folded_detect(const char *text, size_t len)
{
	struct folded_line line;
	size_t stacks = 0, others = 0;

	for (size_t i = 0; i < FORM_LINES && len; i++) {
		const char *end = memchr(text, '\n', len);
		size_t part = end ? (size_t)(end - text) : len;
		size_t shown = part && text[part - 1] == '\r' ? part - 1 : part;

		if (!is_comment(text, shown)) {
			if (parse_line(text, shown, &line))
				stacks++;
			else
				others += end != NULL; /* the last one may not be whole */
		}
		part += end != NULL;
		text += part;
		len -= part;
	}
	return stacks > others;
}

/* ---- frames ---- */

static bool ends_with(const char *name, size_t len, const char *ending)
{
	return len > 4 && !memcmp(name + len - 4, ending, 4);
}

/* The letter of a mark such as "_[k]" at the end of a name; 0: it has none. */
static char mark_of(const char *name, size_t len)
{
	if (len <= 4 || name[len - 1] != ']' || memcmp(name + len - 4, "_[", 2))
		return 0;
	return name[len - 2] && strchr("kji", name[len - 2]) ? name[len - 2] : 0;
}

/* Each text is one function, and each function one frame (profile.frames_are_functions). */
static frame_id make_frame(struct profile *p, string_id text, const char *name, size_t len)
{
	struct profile_function f = {.name = text, .named = true};
	char mark = mark_of(name, len);

	if (mark) {
		f.name = profile_string_n(p, name, len - 4);
		f.kind = mark == 'k' ? CODE_KERNEL : mark == 'j' ? CODE_JIT : CODE_USER;
		f.start = (uint64_t)mark; /* not the function of the same name without a mark */
	}
	return (frame_id){profile_function_new(p, &f).n};
}

static frame_id frame_of(struct profile *p, struct folded *f, const char *name, size_t len)
{
	string_id text = profile_string_n(p, name, len);

	vec_grow(&f->frames, text.n + 1);
	if (!f->frames.items[text.n].n)
		f->frames.items[text.n] = make_frame(p, text, name, len);
	return f->frames.items[text.n];
}

/* How many frames are those of the line before. */
static size_t common_frames(const struct folded *f, const char *stack, size_t len)
{
	size_t n = 0, from = 0;

	for (; n < f->ends.len; n++) {
		size_t end = f->ends.items[n];

		if (end > len || (end < len && stack[end] != ';') ||
		    memcmp(stack + from, f->last.s + from, end - from))
			break;
		from = end;
	}
	return n;
}

/* Leaves the innermost frames. */
static void cut_stack(struct text_import *t, const char **stack, size_t *len)
{
	size_t max = t->leaf_only ? 1 : t->max_stack ? t->max_stack : TEXT_DEPTH_MAX, frames = 0;
	size_t at = *len;

	while (at && ((*stack)[at - 1] != ';' || ++frames < max))
		at--;
	if (at && !t->leaf_only)
		t->cut_stacks++;
	*stack += at;
	*len -= at;
}

static stack_id stack_of(struct text_import *t, struct folded *f, const char *stack, size_t len)
{
	struct profile *p = t->profile;
	size_t n, at;
	stack_id id;

	/* Shorter text cannot be too deep. */
	if (t->leaf_only || t->max_stack || len > TEXT_DEPTH_MAX)
		cut_stack(t, &stack, &len);
	n = common_frames(f, stack, len);
	at = n ? f->ends.items[n - 1] + 1 : 0;
	id = n ? f->stacks.items[n - 1] : (stack_id){};
	f->stacks.len = f->ends.len = n;
	while (at < len) {
		const char *semicolon = memchr(stack + at, ';', len - at);
		size_t end = semicolon ? (size_t)(semicolon - stack) : len;

		if (end > at && !(t->no_inlines && ends_with(stack + at, end - at, "_[i]")))
			id = profile_stack(p, id, frame_of(p, f, stack + at, end - at));
		vec_push(&f->stacks, id);
		vec_push(&f->ends, (uint32_t)end);
		at = end + 1;
	}
	buf_clear(&f->last);
	buf_add_mem(&f->last, stack, len);
	return id;
}

/* ---- rows ---- */

/* From now on weights are in thousandths, those that are there too. */
static void use_thousandths(struct text_import *t, struct folded *f)
{
	struct profile *p = t->profile;

	f->scale = FRACTION_SCALE;
	t->weight *= FRACTION_SCALE;
	vec_each(&p->rows, row)
		row->weight *= FRACTION_SCALE;
	vec_each(&p->events, event) {
		event->weight *= FRACTION_SCALE;
		event->unit = profile_string(p, "thousandths");
	}
}

static void add_row(struct text_import *t, struct folded *f, const char *event, stack_id stack,
		    uint64_t thousandths)
{
	struct profile *p = t->profile;
	struct text_sample sample = {.event = event, .event_len = strlen(event)};
	uint64_t weight = thousandths / (FRACTION_SCALE / f->scale);
	struct profile_row row = {.stack = stack, .weight = weight};

	row.event = profile_event(p, event);
	/* A count of samples, as far as anybody knows. */
	row.samples = thousandths / FRACTION_SCALE;
	text_import_seen(t, row.event, row.samples);
	if (f->scale != 1)
		p->events.items[row.event.n].unit = profile_string(p, "thousandths");
	/* Differences have events to choose from; else there is nothing to go by. */
	if (!weight || (t->differential && t->want && !t->want(t->want_ctx, &sample)))
		return;
	p->events.items[row.event.n].samples += row.samples;
	p->events.items[row.event.n].weight += weight;
	t->samples += row.samples;
	t->weight += weight;
	profile_add(p, &row);
}

static void use_line(struct text_import *t, struct folded *f, const char *text, size_t len)
{
	struct folded_line line;
	stack_id stack;

	if (!parse_line(text, len, &line) || (t->differential && !line.two)) {
		text_import_bad_line(t);
		return;
	}
	if (line.fraction && f->scale == 1)
		use_thousandths(t, f);
	/* One count a line: a number before it belongs to the name. */
	if (line.two && !t->differential) {
		line.stack_len = line.one_count_len;
		line.counts[0] = line.counts[1];
	}
	stack = stack_of(t, f, line.stack, line.stack_len);
	add_row(t, f, t->differential ? "before" : "samples", stack, line.counts[0]);
	if (t->differential)
		add_row(t, f, "after", stack, line.counts[1]);
}

/* ---- the form ---- */

/* Lines have two counts if all of the first ones do. */
static void decide(struct text_import *t, struct folded *f)
{
	uint64_t last = t->lines, line = t->lines - f->waiting_lines;
	const char *at = buf_str(&f->waiting), *end = at + f->waiting.len;

	if (f->decided)
		return;
	f->decided = true;
	t->differential = f->waiting_lines && !f->single_lines;
	while (at < end) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));

		t->lines = ++line;
		if (!is_comment(at, (size_t)(stop - at)))
			use_line(t, f, at, (size_t)(stop - at));
		at = stop + 1;
	}
	t->lines = last;
	buf_release(&f->waiting);
}

static void folded_line(struct text_import *t, const char *text, size_t len)
{
	struct folded *f = t->state;
	struct folded_line line;

	if (!f) {
		f = t->state = xcalloc(1, sizeof(*f));
		f->scale = 1;
		t->profile->frames_are_functions = true;
	}
	if (f->decided) {
		if (!is_comment(text, len))
			use_line(t, f, text, len);
		return;
	}
	if (!is_comment(text, len) && parse_line(text, len, &line) && !line.two)
		f->single_lines++;
	buf_add_mem(&f->waiting, text, len);
	buf_add_char(&f->waiting, '\n');
	if (++f->waiting_lines >= FORM_LINES || f->single_lines)
		decide(t, f);
}

static void folded_end(struct text_import *t)
{
	if (t->state)
		decide(t, t->state);
}

static void folded_release(struct text_import *t)
{
	struct folded *f = t->state;

	if (!f)
		return;
	buf_release(&f->waiting);
	buf_release(&f->last);
	vec_release(&f->stacks);
	vec_release(&f->ends);
	vec_release(&f->frames);
	free(f);
	t->state = NULL;
}

const struct text_format text_folded = {
	.name = "folded stacks",
	.line = folded_line,
	.end = folded_end,
	.release = folded_release,
};
