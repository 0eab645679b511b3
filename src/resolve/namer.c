#include "resolve/namer.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/digits.h"
#include "resolve/image.h"
#include "resolve/name_lookup.h"
#include "symbol/demangle.h"

#include <pthread.h>
#include <string.h>

/* Fewer than this are not worth a thread. */
#define FRAMES_A_THREAD   512
#define NAMER_THREADS_MAX 64
/* Most files are read in less. */
#define PATIENCE_NS (15 * NS_PER_MSEC)

static struct module *module_of(struct namer *n, module_id module)
{
	uint32_t image = module.n < n->images.len ? n->images.items[module.n] : 0;

	return image ? n->resolver->modules.items[image] : NULL;
}

/* ---- into the profile ---- */

static string_id readable(struct namer *n, const char *name)
{
	struct buf text = {};
	string_id id;

	if (n->resolver->shared->options->symbols.no_demangle || !demangle(name, &text))
		return profile_string(n->resolver->profile, name);
	id = profile_string_n(n->resolver->profile, text.s, text.len);
	buf_release(&text);
	return id;
}

static function_id function_of_symbol(struct namer *n, const struct symbol *s, const char *name,
				      module_id module)
{
	struct profile *p = n->resolver->profile;
	uint64_t hash = hash_mix(p->seed ^ module.n, s->start);
	size_t at = slots_begin(&n->functions, hash);
	struct profile_function f = {.module = module,
				     .start = s->start,
				     .size = function_size(s->end - s->start),
				     .named = true};
	uint32_t number;

	f.kind = p->modules.items[module.n].kind;
	/* Where a runtime has put one function, there may be another by now. */
	while (f.kind != CODE_JIT && (number = slots_next(&n->functions, hash, &at)))
		if (n->known.items[number - 1].start == s->start &&
		    n->known.items[number - 1].module.n == module.n)
			return n->known.items[number - 1].function;
	f.name = readable(n, name);
	if (f.kind == CODE_JIT)
		return profile_function(p, &f);
	vec_push(&n->known, (struct named_symbol){s->start, module, profile_function(p, &f)});
	slots_add(&n->functions, hash, (uint32_t)n->known.len);
	return n->known.items[n->known.len - 1].function;
}

/* "[libx.so]" */
static string_id label_of_module(struct namer *n, module_id module)
{
	struct profile *p = n->resolver->profile;
	const char *name = profile_text(p, p->modules.items[module.n].name);

	while (n->labels.len <= module.n)
		vec_push(&n->labels, (string_id){});
	if (!n->labels.items[module.n].n) {
		buf_clear(&n->text);
		buf_addf(&n->text, *name == '[' ? "%s" : "[%s]", name);
		n->labels.items[module.n] = profile_string_n(p, n->text.s, n->text.len);
	}
	return n->labels.items[module.n];
}

/* "libx.so+0x12", one in graphs with all others of its module that have no name. */
static function_id function_without_symbol(struct namer *n, const struct profile_frame *frame,
					   struct resolve_report *report)
{
	struct profile *p = n->resolver->profile;
	struct profile_function f = {.module = frame->module,
				     .kind = p->modules.items[frame->module.n].kind};
	char address[DIGITS_MAX];

	if (frame->module.n == n->resolver->shared->nowhere.n) {
		f.name = profile_string(p, "[unknown]");
		return profile_function(p, &f);
	}
	/* Those that are one by now were counted before. */
	report->unnamed_frames += frame->address != NAMELESS_ADDRESS;
	f.label = label_of_module(n, frame->module);
	buf_clear(&n->text);
	buf_add(&n->text, profile_text(p, p->modules.items[frame->module.n].name));
	buf_add(&n->text, "+0x");
	buf_add_mem(&n->text, address, (size_t)(put_hex(address, frame->address) - address));
	f.name = profile_string_n(p, n->text.s, n->text.len);
	f.start = frame->address;
	return profile_function(p, &f);
}

static function_id function_inlined(struct namer *n, const char *name, module_id module)
{
	struct profile *p = n->resolver->profile;
	struct profile_function f = {
		.name = readable(n, name),
		.module = module,
		.kind = p->modules.items[module.n].kind,
		.named = true,
	};

	return profile_function(p, &f);
}

static string_id file_id(struct namer *n, const char *file)
{
	return file ? profile_string(n->resolver->profile, file) : (string_id){};
}

/* All of the image is one function that the record named. */
static function_id function_of_image(struct namer *n, const struct profile_frame *frame)
{
	const struct history *h = n->resolver->shared->history;
	uint32_t image = frame->module.n < n->images.len ? n->images.items[frame->module.n] : 0;
	struct profile_function f = {
		.name = h->images.items[image].symbol,
		.module = frame->module,
		.kind = CODE_KERNEL,
		.named = true,
	};

	return f.name.n ? profile_function(n->resolver->profile, &f) : (function_id){};
}

static function_id outermost(struct namer *n, const struct profile_frame *frame,
			     const struct finding *f, const struct dwarf_place *places,
			     struct resolve_report *report)
{
	function_id of_image;

	if (f->symbol)
		return function_of_symbol(n, f->symbol, f->name, frame->module);
	if (places && f->place_count && places[0].function)
		return function_inlined(n, places[0].function, frame->module);
	of_image = function_of_image(n, frame);
	return of_image.n ? of_image : function_without_symbol(n, frame, report);
}

static void take(struct namer *n, frame_id id, const struct finding *f,
		 const struct dwarf_place *places, struct resolve_report *report)
{
	struct profile_frame frame = n->resolver->profile->frames.items[id.n];
	bool no_inlines = n->resolver->shared->options->no_inlines;
	struct frame_name names[DWARF_INLINE_DEPTH_MAX] = {};
	uint32_t place_count = places ? f->place_count : 0;
	uint32_t count = 1;

	if (frame.names)
		return;
	names[0].function = outermost(n, &frame, f, places, report);
	if (place_count) {
		/* Without inlined functions the innermost line is where it really was. */
		const struct dwarf_place *at = &places[no_inlines ? place_count - 1 : 0];

		names[0].file = file_id(n, at->file);
		names[0].line = at->line;
	}
	for (; !no_inlines && count < place_count; count++) {
		const struct dwarf_place *at = &places[count];

		names[count] = (struct frame_name){
			.function = function_inlined(n, at->function ? at->function : "[inlined]",
						     frame.module),
			.file = file_id(n, at->file),
			.line = at->line,
			.inlined = true,
		};
	}
	profile_name_frame(n->resolver->profile, id, names, count);
}

/* ---- the files that frames are in ---- */

/* Opens what frames lie in, before the threads begin. */
static void prepare_modules(struct namer *n)
{
	const struct history *h = n->resolver->shared->history;
	struct profile *p = n->resolver->profile;
	CLEANUP(free_ptr) bool *hit = xcalloc(p->modules.len, sizeof(*hit));

	for (size_t i = n->named; i < p->frames.len; i++)
		hit[p->frames.items[i].module.n] = true;
	while (n->images.len < p->modules.len)
		vec_push(&n->images, 0);
	for (uint32_t i = 1; i < h->images.len; i++) {
		module_id module = h->images.items[i].module;

		if (hit[module.n] && !n->images.items[module.n])
			n->images.items[module.n] = i;
	}
	for (uint32_t i = 1; i < p->modules.len; i++)
		if (hit[i] && n->images.items[i])
			resolver_module(n->resolver, n->images.items[i]);
}

/* How far apart virtual addresses and offsets in the file are, in code; of the kernel, its _text. */
static uint64_t bias_of(struct module *m, const struct image *image)
{
	struct elf_file *elf = m->kind == MODULE_ELF ? module_elf(m) : NULL;
	const struct elf_segment *segments = NULL;
	size_t count = elf ? elf_segments(elf, &segments) : 0;
	uint64_t text = image->request.kernel_text;

	if (m->kind == MODULE_KERNEL)
		return text ? module_address(m, 0, text) : 0;
	for (size_t i = 0; i < count; i++)
		if (segments[i].type == PT_LOAD && (segments[i].flags & PF_X))
			return segments[i].address - segments[i].offset;
	return 0;
}

/* The build id, where the mapping did not tell it. */
static string_id found_id(struct namer *n, const struct module *m, const struct image *image)
{
	struct module_request request = image->request;
	CLEANUP(buf_release) struct buf hex = {};

	if (request.build_id.size)
		return (string_id){};
	if (n->resolver->shared->facts)
		image_find_build_id(n->resolver->shared->facts, &request);
	if (!request.build_id.size)
		request.build_id = m->build_id;
	for (size_t i = 0; i < request.build_id.size; i++)
		buf_addf(&hex, "%02x", request.build_id.bytes[i]);
	return profile_string(n->resolver->profile, buf_str(&hex));
}

static void note_modules(struct namer *n)
{
	const struct image *images = n->resolver->shared->history->images.items;
	struct profile *p = n->resolver->profile;

	while (n->noted.len < n->images.len)
		vec_push(&n->noted, false);
	for (uint32_t i = 1; i < n->images.len; i++) {
		struct module *m = module_of(n, (module_id){i});

		if (!m)
			continue;
		if (!n->noted.items[i]) {
			n->noted.items[i] = true;
			p->modules.items[i].found_id = found_id(n, m, &images[n->images.items[i]]);
			p->modules.items[i].bias = bias_of(m, &images[n->images.items[i]]);
		}
		module_check_memory(m);
		if (m->problem && !p->modules.items[i].problem.n)
			p->modules.items[i].problem = profile_string(p, m->problem);
	}
}

/* ---- all of them ---- */

static struct module **list_modules(struct namer *n)
{
	size_t count = n->resolver->profile->modules.len;
	struct module **list = xcalloc(count, sizeof(*list));

	for (uint32_t i = 1; i < count; i++)
		list[i] = module_of(n, (module_id){i});
	return list;
}

static size_t first_unnamed(const struct namer *n)
{
	return n->named ? n->named : 1;
}

static void take_all(struct namer *n, const struct name_lookup *l, struct resolve_report *report)
{
	for (size_t i = 0; i < l->count; i++) {
		const struct finding *found = &l->findings[i];

		take(n, (frame_id){l->first + (uint32_t)i}, found, l->places.items + found->places,
		     report);
	}
	n->named = l->first + l->count;
}

static unsigned worker_count(const struct namer *n, size_t frames)
{
	size_t count = n->resolver->shared->options->threads;

	if (count > NAMER_THREADS_MAX)
		count = NAMER_THREADS_MAX;
	if (count > frames / FRAMES_A_THREAD)
		count = frames / FRAMES_A_THREAD;
	return count ? (unsigned)count : 1;
}

static void name_rest(struct namer *n, size_t first, size_t count, struct resolve_report *report)
{
	unsigned workers = worker_count(n, count);
	CLEANUP(free_ptr) struct name_lookup *all = xcalloc(workers, sizeof(*all));
	CLEANUP(free_ptr) struct module **modules = list_modules(n);

	for (unsigned i = 0; i < workers; i++) {
		size_t from = count * i / workers, to = count * (i + 1) / workers;

		name_lookup_init(&all[i], n->resolver->shared->options, modules,
				 n->resolver->profile, first + from, to - from);
		/* The first does its share here; one that cannot be started, too. */
		if (i && pthread_create(&all[i].thread, NULL, name_lookup_run, &all[i])) {
			name_lookup_run(&all[i]);
			all[i].thread = 0;
		}
	}
	name_lookup_run(&all[0]);
	for (unsigned i = 0; i < workers; i++) {
		if (all[i].thread)
			pthread_join(all[i].thread, NULL);
		take_all(n, &all[i], report);
		name_lookup_release(&all[i]);
	}
}

static void finish_beside(struct namer *n, struct resolve_report *report)
{
	if (!n->beside)
		return;
	take_all(n, lookup_beside_join(n->beside), report);
	lookup_beside_free(n->beside);
	n->beside = NULL;
}

void namer_run(struct namer *n, struct resolve_report *report)
{
	size_t count = n->resolver->profile->frames.len, first = first_unnamed(n);

	if (first >= count)
		return;
	finish_beside(n, report);
	first = first_unnamed(n);
	if (first < count) {
		prepare_modules(n);
		name_rest(n, first, count - first, report);
	}
	note_modules(n);
}

/* What is read for the first time takes long, whatever is in it. */
static bool has_new_modules(const struct namer *n)
{
	const struct profile *p = n->resolver->profile;

	for (size_t i = first_unnamed(n); i < p->frames.len; i++) {
		uint32_t module = p->frames.items[i].module.n;

		if (n->images.items[module] && (module >= n->noted.len || !n->noted.items[module]))
			return true;
	}
	return false;
}

bool namer_start(struct namer *n)
{
	const struct profile *p = n->resolver->profile;
	size_t first = first_unnamed(n);

	if (n->beside || first >= p->frames.len)
		return false;
	prepare_modules(n);
	if (!has_new_modules(n))
		return false;
	n->beside = lookup_beside_start(n->resolver->shared->options, list_modules(n), p, first,
					p->frames.len - first);
	return n->beside && !lookup_beside_wait(n->beside, PATIENCE_NS);
}

bool namer_is_busy(struct namer *n)
{
	return n->beside && !lookup_beside_wait(n->beside, 0);
}

/* ---- code that is made while it runs ---- */

static bool is_unnamed_jit(const struct profile *p, const struct profile_frame *frame)
{
	return p->modules.items[frame->module.n].kind == CODE_JIT && frame->name_count == 1 &&
	       !function_of(p, p->names.items[frame->names].function)->named;
}

size_t namer_unnamed_jit(const struct namer *n)
{
	const struct profile *p = n->resolver->profile;
	size_t count = 0;

	for (size_t i = 1; i < n->named; i++)
		count += is_unnamed_jit(p, &p->frames.items[i]);
	return count;
}

static void reopen_jit(struct namer *n)
{
	const struct profile *p = n->resolver->profile;

	for (uint32_t i = 1; i < n->images.len; i++) {
		struct module *m = module_of(n, (module_id){i});

		if (m && p->modules.items[i].kind == CODE_JIT)
			module_renew(m);
	}
}

void namer_renew_jit(struct namer *n, frame_list *ret)
{
	struct profile *p = n->resolver->profile;

	reopen_jit(n);
	for (uint32_t i = 1; i < n->named; i++) {
		struct profile_frame *frame = &p->frames.items[i];
		struct module *m = is_unnamed_jit(p, frame) ? module_of(n, frame->module) : NULL;
		struct frame_name name = {};
		const struct symbol *symbol;
		const char *text;

		symbol = m ? resolver_symbol(m, frame->address, &text) : NULL;
		if (!symbol)
			continue;
		name.function = function_of_symbol(n, symbol, text, frame->module);
		frame->names = 0;
		profile_name_frame(p, (frame_id){i}, &name, 1);
		vec_push(ret, (frame_id){i});
	}
}

/* An image of the frame's module, opened. */
static void prepare_module(struct namer *n, module_id module)
{
	const struct history *h = n->resolver->shared->history;

	while (n->images.len <= module.n)
		vec_push(&n->images, 0);
	for (uint32_t i = 1; i < h->images.len && !n->images.items[module.n]; i++)
		if (h->images.items[i].module.n == module.n) {
			n->images.items[module.n] = i;
			resolver_module(n->resolver, i);
		}
}

void namer_frame(struct namer *n, frame_id frame, struct resolve_report *report)
{
	module_id module = n->resolver->profile->frames.items[frame.n].module;
	const struct profile_frame *f = &n->resolver->profile->frames.items[frame.n];
	struct name_lookup lookup = {.options = n->resolver->shared->options};
	struct finding finding = {};
	struct module *m;

	if (!frame.n)
		return;
	if (module.n >= n->images.len || !n->images.items[module.n])
		prepare_module(n, module);
	m = f->names ? NULL : module_of(n, module);
	if (m)
		name_lookup_one(&lookup, m, f->address, &finding);
	take(n, frame, &finding, lookup.places.items, report);
	vec_release(&lookup.places);
}

void namer_init(struct namer *n, struct resolver *resolver)
{
	*n = (struct namer){.resolver = resolver};
}

void namer_release(struct namer *n)
{
	if (n->beside) {
		lookup_beside_join(n->beside);
		lookup_beside_free(n->beside);
	}
	slots_release(&n->functions);
	vec_release(&n->known);
	vec_release(&n->images);
	vec_release(&n->noted);
	vec_release(&n->labels);
	buf_release(&n->text);
}
