#include "import/perf_script.h"

#include <string.h>

/* Lines of frames that are known as such; forgotten and begun anew above this. */
#define KNOWN_BYTES_MAX (64u << 20)
#define DETECT_LINES    200
#define GONE            " (deleted))"

struct known_line {
	uint32_t start, len; /* in `texts` */
	frame_id frame;
	bool inlined;
};

struct perf_script {
	bool open;   /* a sample whose frames may follow */
	bool wanted; /* it */
	struct profile_row row;
	VEC(frame_id) frames; /* of the open sample, from the innermost */
	bool cut;
	/* The last stack, from the outermost: neighbours share most of it. */
	VEC(frame_id) last_frames;
	VEC(stack_id) last_stacks;
	/* From the text of a frame to its number. */
	struct buf texts;
	VEC(struct known_line) known;
	struct slots slots;
	/* The last header's strings, which rarely change. */
	struct buf last_event, last_comm;
	event_id event;
	string_id comm;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* ---- frames ---- */

static bool has_prefix(const char *s, size_t len, const char *prefix)
{
	return len >= strlen(prefix) && !memcmp(s, prefix, strlen(prefix));
}

static bool has_ending(const char *s, size_t len, const char *ending)
{
	size_t n = strlen(ending);

	return len >= n && !memcmp(s + len - n, ending, n);
}

static enum code_kind kind_of_module(const char *s, size_t len)
{
	const char *slash = memrchr(s, '/', len);
	const char *name = slash ? slash + 1 : s;
	size_t name_len = len - (size_t)(name - s);

	if (has_prefix(s, len, "[unknown]") || has_prefix(s, len, "[heap]") ||
	    has_prefix(s, len, "[stack") || has_prefix(s, len, "[anon"))
		return CODE_UNKNOWN;
	if (has_prefix(s, len, "[vdso") || has_prefix(s, len, "[vsyscall"))
		return CODE_VDSO;
	if (s[0] == '[' || has_ending(s, len, "vmlinux") || has_ending(s, len, ".ko") ||
	    has_ending(s, len, ".ko.xz") || has_ending(s, len, ".ko.zst") ||
	    has_ending(s, len, ".ko.gz") || has_prefix(name, name_len, "bpf_prog_"))
		return CODE_KERNEL;
	if ((has_prefix(name, name_len, "perf-") && has_ending(name, name_len, ".map")) ||
	    has_prefix(name, name_len, "jitted-") || has_prefix(s, len, "//anon"))
		return CODE_JIT;
	return CODE_USER;
}

struct frame_text {
	const char *symbol, *module;
	size_t symbol_len, module_len; /* 0: none */
	bool inlined;
};

/* "symbol+0x12 (module)"; either part of it may be missing. */
static void split_frame(const char *s, size_t len, struct frame_text *ret)
{
	const char *open = NULL;
	size_t at, gone;

	*ret = (struct frame_text){.symbol = s};
	while (len && is_blank(s[len - 1]))
		len--;
	/* "symbol (/tmp/x (deleted))": a file that is gone is still that file. */
	gone = has_ending(s, len, GONE) ? strlen(GONE) : 1;
	if (len > gone && s[len - 1] == ')')
		for (at = len - gone; at > 0 && !open; at--)
			if (s[at] == '(' && s[at - 1] == ' ')
				open = s + at;
	if (open) {
		ret->module = open + 1;
		ret->module_len = (size_t)(s + len - gone - ret->module);
		len = (size_t)(open - 1 - s);
		ret->inlined = ret->module_len == 7 && !memcmp(ret->module, "inlined", 7);
		if (ret->inlined)
			ret->module_len = 0;
	}
	for (at = len; at > 3 && is_hex(s[at - 1]);)
		at--;
	if (at > 3 && at < len && !memcmp(s + at - 3, "+0x", 3))
		len = at - 3;
	ret->symbol_len = len;
}

static frame_id make_frame(struct profile *p, const struct frame_text *text, uint64_t address)
{
	struct profile_function f = {.named = true};
	struct frame_name name = {.inlined = text->inlined};
	frame_id frame;

	/* The upper half of all addresses is the kernel's. */
	f.kind = address >> 63 ? CODE_KERNEL : text->inlined ? CODE_USER : CODE_UNKNOWN;
	if (text->module_len) {
		char *module = xstrndup(text->module, text->module_len);

		f.kind = kind_of_module(module, strlen(module)); /* a NUL may end it */
		if (strcmp(module, "[unknown]"))
			f.module = profile_module(p, module, NULL, f.kind);
		free(module);
	}
	if (!text->symbol_len || (text->symbol_len == 9 && !memcmp(text->symbol, "[unknown]", 9))) {
		f.named = false;
		f.name = profile_string(p, "[unknown]");
	} else {
		f.name = profile_string_n(p, text->symbol, text->symbol_len);
	}
	f.start = text->inlined; /* not the function of the same name that is not inlined */
	name.function = profile_function(p, &f);
	/* Addresses of text are worth nothing without its mappings: by function, as in folded text. */
	frame = profile_frame(p, (module_id){}, name.function.n);
	profile_name_frame(p, frame, &name, 1);
	return frame;
}

static void forget_lines(struct perf_script *s)
{
	buf_clear(&s->texts);
	s->known.len = 0;
	slots_release(&s->slots);
}

static const struct known_line *frame_of(struct text_import *t, struct perf_script *s,
					 const char *text, size_t len, uint64_t address)
{
	uint64_t hash = hash_bytes(text, len, t->profile->seed);
	size_t at = slots_begin(&s->slots, hash);
	struct known_line line = {.len = (uint32_t)len};
	struct frame_text parts;
	uint32_t n;

	while ((n = slots_next(&s->slots, hash, &at))) {
		const struct known_line *known = &s->known.items[n - 1];

		if (known->len == len && !memcmp(s->texts.s + known->start, text, len))
			return known;
	}
	if (s->texts.len > KNOWN_BYTES_MAX)
		forget_lines(s);
	line.start = (uint32_t)s->texts.len;
	buf_add_mem(&s->texts, text, len);
	split_frame(text, len, &parts);
	line.frame = make_frame(t->profile, &parts, address);
	line.inlined = parts.inlined;
	if (!function_of(t->profile, names_of(t->profile, line.frame)->function)->named)
		t->unnamed_frames++;
	vec_push(&s->known, line);
	slots_add(&s->slots, hash, (uint32_t)s->known.len);
	return &s->known.items[s->known.len - 1];
}

static void add_frame(struct text_import *t, struct perf_script *s, const char *text, size_t len,
		      uint64_t address)
{
	size_t max = t->leaf_only ? 1 : t->max_stack ? t->max_stack : TEXT_DEPTH_MAX;
	const struct known_line *line;

	if (s->frames.len >= max) {
		s->cut = !t->leaf_only;
		return;
	}
	line = frame_of(t, s, text, len, address);
	if (!line->inlined || !t->no_inlines)
		vec_push(&s->frames, line->frame);
}

/* "  ffffffff8103ce3b native_safe_halt+0x2 ([kernel.kallsyms])". False: it is no frame. */
static bool frame_line(struct text_import *t, struct perf_script *s, const char *line, size_t len)
{
	const char *at = line, *end = line + len, *digits;
	uint64_t address = 0;

	while (at < end && is_blank(*at))
		at++;
	digits = at;
	for (; at < end && is_hex(*at); at++)
		address = address << 4 | (uint64_t)(*at <= '9' ? *at - '0' : *at - 'a' + 10);
	if (at == digits || at - digits > 16 || (at < end && !is_blank(*at)))
		return false;
	while (at < end && is_blank(*at))
		at++;
	if (s->wanted)
		add_frame(t, s, at, (size_t)(end - at), address);
	return true;
}

/* ---- samples ---- */

static stack_id stack_of(struct profile *p, struct perf_script *s)
{
	size_t count = s->frames.len, n = 0;
	stack_id id = {};

	while (n < count && n < s->last_frames.len &&
	       s->last_frames.items[n].n == s->frames.items[count - 1 - n].n)
		n++;
	s->last_frames.len = s->last_stacks.len = n;
	if (n)
		id = s->last_stacks.items[n - 1];
	for (; n < count; n++) {
		frame_id frame = s->frames.items[count - 1 - n];

		id = profile_stack(p, id, frame);
		vec_push(&s->last_frames, frame);
		vec_push(&s->last_stacks, id);
	}
	return id;
}

static void close_sample(struct text_import *t, struct perf_script *s)
{
	struct profile *p = t->profile;

	if (s->open && s->wanted) {
		s->row.stack = stack_of(p, s);
		t->samples++;
		t->weight += s->row.weight;
		t->cut_stacks += s->cut;
		p->events.items[s->row.event.n].samples++;
		p->events.items[s->row.event.n].weight += s->row.weight;
		profile_add(p, &s->row);
	}
	s->open = s->wanted = s->cut = false;
	s->frames.len = 0;
}

static bool same(const struct buf *b, const char *s, size_t len)
{
	return b->len == len && len && !memcmp(b->s, s, len);
}

static event_id event_of(struct profile *p, struct perf_script *s, const struct text_sample *sample)
{
	if (!sample->event)
		return profile_event(p, "samples");
	if (same(&s->last_event, sample->event, sample->event_len))
		return s->event;
	buf_clear(&s->last_event);
	buf_add_mem(&s->last_event, sample->event, sample->event_len);
	s->event = profile_event(p, buf_str(&s->last_event));
	return s->event;
}

static string_id comm_of(struct profile *p, struct perf_script *s, const struct text_sample *sample)
{
	if (same(&s->last_comm, sample->comm, sample->comm_len))
		return s->comm;
	buf_clear(&s->last_comm);
	buf_add_mem(&s->last_comm, sample->comm, sample->comm_len);
	s->comm = profile_string_n(p, sample->comm, sample->comm_len);
	return s->comm;
}

static void note_times(struct profile *p, const struct text_sample *sample)
{
	if (!sample->has_time)
		return;
	if (!p->first_ns || sample->time_ns < p->first_ns)
		p->first_ns = sample->time_ns;
	if (sample->time_ns > p->last_ns)
		p->last_ns = sample->time_ns;
}

static void begin_sample(struct text_import *t, struct perf_script *s,
			 const struct text_sample *sample)
{
	struct profile *p = t->profile;

	s->open = true;
	t->has_threads |= sample->has_thread;
	t->has_cpus |= sample->has_cpu;
	t->has_times |= sample->has_time;
	s->wanted = !t->want || t->want(t->want_ctx, sample);
	/* Events are there in their order, also those that nobody wants. */
	s->row = (struct profile_row){.event = event_of(p, s, sample), .samples = 1};
	text_import_seen(t, s->row.event, 1);
	if (!s->wanted)
		return;
	s->row.weight = sample->period;
	s->row.thread = profile_thread(p, sample->pid, sample->tid, comm_of(p, s, sample));
	s->row.cpu = t->by_cpu && sample->has_cpu ? sample->cpu : 0;
	if (t->bucket_ns && sample->has_time) {
		/* Text comes in the order of time, or nearly. */
		uint64_t first = p->first_ns ? p->first_ns : sample->time_ns;
		uint64_t after = sample->time_ns > first ? sample->time_ns - first : 0;

		p->bucket_ns = t->bucket_ns;
		s->row.bucket = (uint32_t)(after / t->bucket_ns);
	}
	note_times(p, sample);
}

/* What stands behind the event is the only frame, the text of a tracepoint, or both. */
static void rest_of_header(struct text_import *t, struct perf_script *s, const char *rest,
			   size_t len)
{
	while (len && is_blank(*rest)) {
		rest++;
		len--;
	}
	/* An address has at least as many digits as the lowest page allows. */
	if (len > 4 && is_hex(rest[0]) && is_hex(rest[3]))
		frame_line(t, s, rest, len);
}

static void header_line(struct text_import *t, struct perf_script *s, const char *line, size_t len)
{
	struct text_sample sample;
	const char *rest;

	if (!perf_script_header(line, len, &sample, &rest)) {
		text_import_bad_line(t);
		return;
	}
	close_sample(t, s);
	begin_sample(t, s, &sample);
	rest_of_header(t, s, rest, (size_t)(line + len - rest));
}

/* In a sample that is open, a line that begins with a blank may be a frame, the source line of one,
 * or the next sample of a file where the names of threads stand on the right. */
static void indented_line(struct text_import *t, struct perf_script *s, const char *line,
			  size_t len)
{
	struct text_sample sample;
	const char *rest;

	if (perf_script_header(line, len, &sample, &rest) && sample.has_time)
		header_line(t, s, line, len);
	else if (!frame_line(t, s, line, len) && !s->frames.len)
		header_line(t, s, line, len);
}

static void perf_script_line(struct text_import *t, const char *line, size_t len)
{
	struct perf_script *s = t->state;

	if (!s)
		s = t->state = xcalloc(1, sizeof(*s));
	if (!len) {
		close_sample(t, s);
		return;
	}
	if (line[0] == '#')
		return;
	if (s->open && line[0] == '\t') {
		/* Not a frame: the line of its source, or what a tracepoint says. */
		frame_line(t, s, line, len);
		return;
	}
	if (s->open && line[0] == ' ')
		indented_line(t, s, line, len);
	else
		header_line(t, s, line, len);
}

static void perf_script_end(struct text_import *t)
{
	if (t->state)
		close_sample(t, t->state);
}

static void perf_script_release(struct text_import *t)
{
	struct perf_script *s = t->state;

	if (!s)
		return;
	vec_release(&s->frames);
	vec_release(&s->last_frames);
	vec_release(&s->last_stacks);
	vec_release(&s->known);
	slots_release(&s->slots);
	buf_release(&s->texts);
	buf_release(&s->last_event);
	buf_release(&s->last_comm);
	free(s);
	t->state = NULL;
}

/* A sample says its time, or frames follow it. */
bool perf_script_detect(const char *text, size_t len)
{
	struct text_sample sample;
	const char *rest;
	bool header = false;

	for (size_t i = 0; i < DETECT_LINES && len; i++) {
		const char *end = memchr(text, '\n', len);
		size_t part = end ? (size_t)(end - text) : len;

		if (part && text[0] != '#') {
			const char *at = text;

			while (at < text + part && is_blank(*at))
				at++;
			if (header && at > text && at < text + part && is_hex(*at))
				return true;
			header = perf_script_header(text, part, &sample, &rest);
			if (header && sample.has_time)
				return true;
		}
		part += end != NULL;
		text += part;
		len -= part;
	}
	return false;
}

const struct text_format text_perf_script = {
	.name = "text of perf script",
	.line = perf_script_line,
	.end = perf_script_end,
	.release = perf_script_release,
};
