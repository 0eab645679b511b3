#include "cmd/script/names.h"
#include "base/text.h"

#include <string.h>

int script_names_init(struct script_names *n, struct perfdata *file,
		      const struct resolve_options *options, struct err *e)
{
	profile_init(&n->profile);
	n->modules = modules_new(&options->symbols);
	n->ready = true;
	return analysis_init(&n->analysis, file, n->modules, options, &n->profile, e);
}

void script_names_release(struct script_names *n)
{
	if (!n->ready)
		return;
	analysis_release(&n->analysis);
	modules_free(n->modules);
	profile_release(&n->profile);
	vec_release(&n->levels);
	vec_release(&n->frames);
	buf_release(&n->bytes);
}

void script_names_chain(struct script_names *n, const struct record *r,
			const struct stream_event *event, uint64_t time_ns)
{
	resolver_chain(&n->analysis.resolver, r, event, time_ns);
}

struct chain_step script_names_step(struct script_names *n, uint64_t address, uint32_t pid,
				    uint64_t time_ns)
{
	const struct history *h = &n->analysis.history;
	/* On all known architectures the kernel has the upper half of the address space. */
	bool kernel = address >> 63;

	return resolver_step(&n->analysis.resolver, address,
			     kernel ? history_kernel(h, time_ns, NULL) | KERNEL_ROOT
				    : history_space(h, pid, time_ns, NULL));
}

/* Names come from files and may contain control characters. */
static uint32_t add_text(struct script_names *n, const char *text, uint32_t *ret_len)
{
	uint32_t at = (uint32_t)n->bytes.len;

	text_add_printable(&n->bytes, text);
	*ret_len = (uint32_t)n->bytes.len - at;
	return at;
}

static struct frame_text text_of(struct script_names *n, const struct profile_frame *frame,
				 const struct frame_name *name)
{
	const struct profile *p = &n->profile;
	const struct profile_function *f = function_of(p, name->function);
	const struct profile_module *m = &p->modules.items[frame->module.n];
	struct frame_text t = {.inlined = name->inlined};

	t.symbol = add_text(n, f->named ? profile_text(p, f->name) : "[unknown]", &t.symbol_len);
	if (!name->inlined)
		t.module = add_text(n, frame->module.n ? profile_text(p, m->path) : "[unknown]",
				    &t.module_len);
	if (name->file.n) {
		t.line = add_text(n, profile_text(p, name->file), &t.line_len);
		buf_addf(&n->bytes, ":%u", name->line);
		t.line_len = (uint32_t)n->bytes.len - t.line;
	}
	t.start = f->named ? function_of(
				     p, names_of(p, (frame_id){(uint32_t)(frame - p->frames.items)})
						->function)
				     ->start
			   : 0;
	return t;
}

static void make_texts(struct script_names *n, frame_id id)
{
	struct frame_levels levels = {.first = (uint32_t)n->levels.len};
	const struct profile_frame *frame;

	namer_frame(&n->analysis.namer, id, &n->analysis.resolver.report);
	frame = &n->profile.frames.items[id.n];
	for (uint32_t i = frame->name_count; i-- > 0;) {
		struct frame_text t = text_of(n, frame, &names_of(&n->profile, id)[i]);

		vec_push(&n->levels, t);
		levels.count++;
	}
	while (n->frames.len <= id.n)
		vec_push(&n->frames, (struct frame_levels){});
	n->frames.items[id.n] = levels;
}

const struct frame_text *script_names_of(struct script_names *n, const struct chain_step *step,
					 frame_id *ret_frame, uint32_t *ret_count)
{
	frame_id id = resolver_frame(&n->analysis.resolver, step);

	*ret_frame = id;
	if (id.n >= n->frames.len || !n->frames.items[id.n].count)
		make_texts(n, id);
	*ret_count = n->frames.items[id.n].count;
	return &n->levels.items[n->frames.items[id.n].first];
}

static void json_level(struct script_names *n, struct json *j, const struct chain_step *step,
		       frame_id id, const struct frame_name *name)
{
	const struct profile *p = &n->profile;
	const struct profile_frame *frame = &p->frames.items[id.n];
	const struct profile_function *f = function_of(p, name->function);

	jw_open(j, '{');
	jw_kv_str(j, "function", f->named ? profile_text(p, f->name) : NULL);
	if (f->start && f->named)
		jw_kv_u64(j, "offset", frame->address + step->back - f->start);
	if (name->inlined)
		jw_kv_bool(j, "inlined", true);
	if (frame->module.n)
		jw_kv_str(j, "module", profile_text(p, p->modules.items[frame->module.n].path));
	if (name->file.n) {
		jw_kv_str(j, "file", profile_text(p, name->file));
		jw_kv_u64(j, "line", name->line);
	}
	jw_close(j, '}');
}

void script_names_json(struct script_names *n, struct json *j, const struct record *r,
		       const struct stream_event *event, bool leaf_only)
{
	const struct resolver *resolver = &n->analysis.resolver;
	const char *end;

	script_names_chain(n, r, event, r->id.time_ns);
	if (!resolver->steps.len)
		resolver_leaf(&n->analysis.resolver, r, event, r->id.time_ns);
	jw_key(j, "stack");
	jw_open(j, '[');
	for (size_t i = 0; i < resolver->steps.len && !(leaf_only && i); i++) {
		const struct chain_step *step = &resolver->steps.items[i];
		frame_id id;
		uint32_t count;

		script_names_of(n, step, &id, &count);
		while (count-- > 0)
			json_level(n, j, step, id, &names_of(&n->profile, id)[count]);
	}
	jw_close(j, ']');
	end = unwind_end_text(resolver->end);
	if (end && !leaf_only) {
		CLEANUP(free_ptr) char *words = xstrndup(end + 1, strlen(end) - 2);

		jw_kv_str(j, "stack_end", words);
	}
}

const char *script_names_kernel(struct script_names *n, uint64_t address, uint64_t *ret_offset)
{
	struct chain_step step;
	const struct profile_function *f;
	frame_id id;
	uint32_t count;

	step = resolver_step(&n->analysis.resolver, address,
			     history_kernel(&n->analysis.history, UINT64_MAX, NULL) | KERNEL_ROOT);
	script_names_of(n, &step, &id, &count);
	if (!count)
		return NULL;
	f = function_of(&n->profile, names_of(&n->profile, id)->function);
	*ret_offset = n->profile.frames.items[id.n].address - f->start;
	return f->named ? profile_text(&n->profile, f->name) : NULL;
}
