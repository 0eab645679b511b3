#include "resolve/history.h"
#include "perfdata/format.h"
#include "resolve/image.h"

#include <string.h>

#define KERNEL_SPACE 0

/* ---- tasks ---- */

static void begin_task_era(struct history *h, struct thread *thread, uint64_t time_ns)
{
	struct task_era era = {.time_ns = time_ns, .pid = thread->pid, .tid = thread->tid};

	if (thread->number == UINT32_MAX || h->era_count >= ERAS_MAX) {
		h->refused++;
		return;
	}
	while (h->task_eras.len <= thread->number)
		vec_push(&h->task_eras, (__typeof__(*h->task_eras.items)){});
	era.comm = profile_string_n(h->profile, thread->comm, thread->comm_len);
	if (!h->threads_on_demand)
		era.thread = profile_thread(h->profile, era.pid, era.tid, era.comm);
	h->era_count++;
	vec_push(&h->task_eras.items[thread->number], era);
}

/*
 * The last of the eras that began by then; before the first, the first: it is the only thing known.
 * Both kinds of eras begin with their time.
 */
static size_t era_at(const void *eras, size_t each, size_t count, uint64_t time_ns,
		     struct answer_span *span)
{
	size_t low = 0, high = count;

#define BEGINS(i) (*(const uint64_t *)((const char *)eras + (i)*each))
	/* The newest is asked for most often. */
	if (BEGINS(count - 1) <= time_ns)
		low = count - 1;
	while (high - low > 1) {
		size_t middle = (low + high) / 2;

		if (BEGINS(middle) <= time_ns)
			low = middle;
		else
			high = middle;
	}
	if (span) {
		span->from_ns = low ? BEGINS(low) : 0;
		span->until_ns = low + 1 < count ? BEGINS(low + 1) : UINT64_MAX;
	}
#undef BEGINS
	return low;
}

static struct task_era *task_era_at(const struct history *h, uint32_t tid, uint64_t time_ns,
				    struct answer_span *span)
{
	const struct thread *thread = threads_look(&h->threads, tid);
	const __typeof__(*h->task_eras.items) *eras;

	if (span)
		*span = (struct answer_span){};
	if (!thread || thread->number >= h->task_eras.len)
		return NULL;
	eras = &h->task_eras.items[thread->number];
	if (!eras->len)
		return NULL;
	return &eras->items[era_at(eras->items, sizeof(*eras->items), eras->len, time_ns, span)];
}

thread_id history_thread(const struct history *h, uint32_t tid, uint64_t time_ns,
			 struct answer_span *span)
{
	const struct task_era *era = task_era_at(h, tid, time_ns, span);

	return era ? era->thread : (thread_id){};
}

thread_id history_thread_now(struct history *h, uint32_t tid, uint64_t time_ns,
			     struct answer_span *span)
{
	struct task_era *era = task_era_at(h, tid, time_ns, span);

	if (!era)
		return (thread_id){};
	if (!era->thread.n)
		era->thread = profile_thread(h->profile, era->pid, era->tid, era->comm);
	return era->thread;
}

thread_id history_add_thread(struct history *h, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	struct thread *thread = threads_get(&h->threads, pid, tid);

	begin_task_era(h, thread, time_ns);
	return history_thread_now(h, tid, time_ns, NULL);
}

/* ---- spaces ---- */

static struct space *find_space(const struct history *h, uint32_t pid)
{
	uint64_t hash = hash_mix(h->profile->seed, pid);
	size_t at = slots_begin(&h->space_slots, hash);
	uint32_t n;

	while ((n = slots_next(&h->space_slots, hash, &at)))
		if (h->spaces.items[n].pid == pid)
			return &h->spaces.items[n];
	return NULL;
}

static struct space *get_space(struct history *h, uint32_t pid)
{
	struct space *known = find_space(h, pid);

	if (known)
		return known;
	slots_add(&h->space_slots, hash_mix(h->profile->seed, pid), (uint32_t)h->spaces.len);
	vec_push(&h->spaces, (struct space){.pid = pid});
	return &h->spaces.items[h->spaces.len - 1];
}

static uint32_t current_root(const struct space *s)
{
	return s->eras.len ? s->eras.items[s->eras.len - 1].root : 0;
}

static void begin_space_era(struct history *h, struct space *s, uint64_t time_ns, uint32_t root)
{
	struct space_era *last = s->eras.len ? &s->eras.items[s->eras.len - 1] : NULL;

	s->gone = false;
	/* Nobody can have looked in between. */
	if (last && last->time_ns >= time_ns) {
		last->root = root;
		return;
	}
	if (h->era_count >= ERAS_MAX) {
		h->refused++;
		return;
	}
	h->era_count++;
	if (!s->eras.len)
		s->begun_ns = time_ns;
	vec_push(&s->eras, (struct space_era){time_ns, root});
}

static uint32_t root_at(const struct space *s, uint64_t time_ns, struct answer_span *span)
{
	if (!s || !s->eras.len) {
		if (span)
			*span = (struct answer_span){.until_ns = UINT64_MAX};
		return 0;
	}
	return s->eras
		.items[era_at(s->eras.items, sizeof(*s->eras.items), s->eras.len, time_ns, span)]
		.root;
}

uint32_t history_space(const struct history *h, uint32_t pid, uint64_t time_ns,
		       struct answer_span *span)
{
	return root_at(find_space(h, pid), time_ns, span);
}

uint64_t history_beginning(const struct history *h, uint32_t pid)
{
	const struct space *s = find_space(h, pid);

	return s ? s->begun_ns : 0;
}

uint32_t history_kernel(const struct history *h, uint64_t time_ns, struct answer_span *span)
{
	return root_at(&h->spaces.items[KERNEL_SPACE], time_ns, span);
}

void history_add_hidden_kernel(struct history *h)
{
	h->hidden_kernel = image_of_hidden_kernel(h);
}

/* ---- records ---- */

void history_map(struct history *h, uint32_t pid, uint64_t time_ns, const struct mapping *mapping,
		 uint64_t length)
{
	struct space *s = pid == KERNEL_PID ? &h->spaces.items[KERNEL_SPACE] : get_space(h, pid);
	uint64_t end = mapping->start + length;
	uint32_t number = (uint32_t)h->mappings.len;

	if (end < mapping->start)
		end = UINT64_MAX;
	if (h->mappings.len >= MAP_NODES_MAX) {
		h->refused++;
		return;
	}
	vec_push(&h->mappings, *mapping);
	begin_space_era(h, s, time_ns,
			maps_add(&h->maps, current_root(s), mapping->start, end, number));
}

/* ---- what will be ---- */

static int by_time(const void *a, const void *b)
{
	const struct coming_code *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void history_expect(struct history *h, const struct coming_code *code)
{
	if (h->coming.len >= COMING_MAX) {
		h->refused++;
		return;
	}
	vec_push(&h->coming, *code);
	h->coming.items[h->coming.len - 1].number = (uint32_t)h->coming.len;
	get_space(h, code->pid)->tells_code = true;
}

void history_sort_coming(struct history *h)
{
	if (h->coming.len > h->coming_at)
		qsort(h->coming.items + h->coming_at, h->coming.len - h->coming_at,
		      sizeof(*h->coming.items), by_time);
}

void history_catch_up(struct history *h, uint64_t time_ns)
{
	while (h->coming_at < h->coming.len && h->coming.items[h->coming_at].time_ns <= time_ns) {
		const struct coming_code *c = &h->coming.items[h->coming_at++];

		history_map(h, c->pid, c->time_ns, &c->mapping, c->length);
	}
}

/* ---- what is ---- */

static bool is_kernel(uint16_t misc)
{
	return (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
}

/*
 * Records of data come with those of code if data addresses or stacks are recorded. Memory of a
 * runtime that was executable counts as such also while it is written to: functions in it go on.
 */
static bool is_data(const struct history *h, const struct record *r, uint32_t image)
{
	const struct space *s = find_space(h, r->mmap.pid);
	uint32_t before;

	if (!(r->misc & PERF_RECORD_MISC_MMAP_DATA))
		return false;
	return !s || !maps_find(&h->maps, current_root(s), r->mmap.start, &before) ||
	       h->mappings.items[before].data || h->mappings.items[before].image != image;
}

static void take_mmap(struct history *h, const struct record *r, uint64_t time_ns)
{
	const struct mmap_view *m = &r->mmap;
	uint16_t mode = r->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct mapping mapping = {.start = m->start, .offset = m->file_offset};
	struct image *image;

	/* Guests have kernels of their own, at the same addresses. */
	if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
		return;
	mapping.image = image_of_mmap(h, r);
	if (!mapping.image) {
		h->refused++;
		return;
	}
	mapping.data = is_data(h, r, mapping.image);
	image = &h->images.items[mapping.image];
	if (image_has_runtime_addresses(image))
		mapping.offset = mapping.start;
	/* Memory becomes executable when the code is in it: that must not hide what it was told to
	 * be. */
	if (image->request.kind == MODULE_PERF_MAP && get_space(h, m->pid)->tells_code)
		return;
	history_map(h, is_kernel(r->misc) ? KERNEL_PID : m->pid, time_ns, &mapping, m->length);
	if (image->request.kind == MODULE_JITDUMP && !image->announced && h->on_jitdump) {
		image->announced = true;
		h->on_jitdump(h->ctx, mapping.image, m->pid, time_ns);
	}
}

/* Code that the kernel made for itself: BPF programs, trampolines. */
static void take_ksymbol(struct history *h, const struct ksymbol_view *k, uint64_t time_ns)
{
	struct mapping mapping = {.start = k->address, .offset = k->address};

	if (k->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
		return; /* samples that were taken before may still come */
	mapping.image = image_of_ksymbol(h, k);
	if (mapping.image)
		history_map(h, KERNEL_PID, time_ns, &mapping, k->length);
}

static void take_fork(struct history *h, const struct record *r, uint64_t time_ns)
{
	const struct task_view *t = &r->task;
	uint32_t root;

	begin_task_era(h, threads_get(&h->threads, t->pid, t->tid), time_ns);
	if (t->pid == t->parent_pid)
		return;
	/* Tools make such records up for what was there already, whose mappings follow. */
	root = r->misc & PERF_RECORD_MISC_FORK_EXEC
		       ? 0
		       : history_space(h, t->parent_pid, time_ns, NULL);
	begin_space_era(h, get_space(h, t->pid), time_ns, root);
}

static void count_lost(struct history *h, uint64_t time_ns, uint32_t cpu, uint64_t count)
{
	h->profile->lost += count;
	if (h->on_loss && count)
		h->on_loss(h->ctx, time_ns, cpu, count);
}

void history_end(struct history *h)
{
	if (h->lost_in_total > h->lost_in_rings)
		count_lost(h, 0, ~0u, h->lost_in_total - h->lost_in_rings);
	h->lost_in_rings = h->lost_in_total = 0;
}

void history_record(struct history *h, const struct record *r, uint64_t time_ns)
{
	history_catch_up(h, time_ns);
	threads_record(&h->threads, r);
	switch (r->type) {
	case PERF_RECORD_COMM:
		/* An exec does not forget what was mapped: until it is over, stacks are still those of
		 * the caller, and the new program's mappings come to lie over the old ones. */
		begin_task_era(h, threads_get(&h->threads, r->comm.pid, r->comm.tid), time_ns);
		break;
	case PERF_RECORD_FORK:
		take_fork(h, r, time_ns);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		take_mmap(h, r, time_ns);
		break;
	case PERF_RECORD_KSYMBOL:
		take_ksymbol(h, &r->ksymbol, time_ns);
		break;
	case PERF_RECORD_LOST:
		h->lost_in_rings += r->lost.lost;
		count_lost(h, time_ns, r->id.cpu, r->lost.lost);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		if (r->misc & MISC_LOST_BY_FILTER)
			break;
		/* With a time it is the kernel's own and tells of samples that never reached a ring. */
		if (time_ns)
			count_lost(h, time_ns, r->id.cpu, r->lost.lost);
		else
			h->lost_in_total += r->lost.lost;
		break;
	case PERF_RECORD_THROTTLE:
		if (h->on_loss)
			h->on_loss(h->ctx, time_ns, r->id.cpu, 0);
		break;
	default:
		break;
	}
}

/* ---- forgetting ---- */

/* Of eras, those that are over by then; the last one is not. Both kinds begin with their time. */
static size_t eras_over(const void *eras, size_t each, size_t count, uint64_t time_ns)
{
	return count ? era_at(eras, each, count, time_ns, NULL) : 0;
}

#define DROP_FIRST(h, eras, count)                                                                 \
	do {                                                                                       \
		size_t dropped = (count);                                                          \
		(eras)->len -= dropped;                                                            \
		(h)->era_count -= dropped;                                                         \
		if (dropped)                                                                       \
			memmove((eras)->items, (eras)->items + dropped,                            \
				(eras)->len * sizeof(*(eras)->items));                             \
	} while (0)

static void release_eras(struct history *h, size_t number)
{
	h->era_count -= h->task_eras.items[number].len;
	vec_release(&h->task_eras.items[number]);
}

/* The place that it gets was that of one who has moved already, or goes. */
static void move_eras(void *ctx, uint32_t from, uint32_t to)
{
	struct history *h = ctx;

	if (from == to || to >= h->task_eras.len)
		return;
	release_eras(h, to);
	if (from >= h->task_eras.len)
		return;
	h->task_eras.items[to] = h->task_eras.items[from];
	h->task_eras.items[from] = (__typeof__(*h->task_eras.items)){};
}

static void forget_tasks(struct history *h)
{
	threads_forget(&h->threads, move_eras, h);
	while (h->task_eras.len > h->threads.count)
		release_eras(h, --h->task_eras.len);
}

static void keep_spaces(struct history *h, const bool *goes)
{
	size_t kept = 1;

	slots_release(&h->space_slots);
	for (size_t i = 1; i < h->spaces.len; i++) {
		struct space *s = &h->spaces.items[i];

		if (goes[i]) {
			h->era_count -= s->eras.len;
			vec_release(&s->eras);
			continue;
		}
		slots_add(&h->space_slots, hash_mix(h->profile->seed, s->pid), (uint32_t)kept);
		h->spaces.items[kept++] = *s;
	}
	h->spaces.len = kept;
}

/* Who had no task left the last time, and has none now, goes: those that it had may be forgotten by
 * now. One of whom no task was ever known is not known to have ended. */
static void forget_spaces(struct history *h)
{
	enum { UNKNOWN, EXITED, ALIVE };
	uint8_t *state = xcalloc(h->spaces.len, sizeof(*state));
	bool *goes = xcalloc(h->spaces.len, sizeof(*goes));

	for (uint32_t i = 0; i < h->threads.count; i++) {
		const struct thread *thread = threads_at(&h->threads, i);
		const struct space *s = find_space(h, thread->pid);
		size_t at = s ? (size_t)(s - h->spaces.items) : 0;

		if (s && state[at] != ALIVE)
			state[at] = thread->exited ? EXITED : ALIVE;
	}
	for (size_t i = 1; i < h->spaces.len; i++) {
		struct space *s = &h->spaces.items[i];

		goes[i] = s->gone && state[i] != ALIVE;
		s->gone = state[i] == EXITED;
	}
	keep_spaces(h, goes);
	free(state);
	free(goes);
}

static void forget_mappings(struct history *h, const bool *used)
{
	uint32_t *to = xcalloc(h->mappings.len, sizeof(*to));
	size_t kept = 1;

	for (size_t i = 1; i < h->mappings.len; i++)
		if (used[i]) {
			to[i] = (uint32_t)kept;
			h->mappings.items[kept++] = h->mappings.items[i];
		}
	vec_each(&h->maps.nodes, node)
		node->mapping = to[node->mapping];
	h->mappings.len = kept;
	free(to);
}

void history_forget(struct history *h, uint64_t before_ns, uint64_t now_ns)
{
	bool *used = xcalloc(h->mappings.len, sizeof(*used));
	VEC(uint32_t *) roots = {};

	if (before_ns >= h->looked_ns) {
		h->looked_ns = now_ns;
		forget_tasks(h);
		forget_spaces(h);
	}
	vec_each(&h->task_eras, eras)
		DROP_FIRST(h, eras,
			   eras_over(eras->items, sizeof(*eras->items), eras->len, before_ns));
	vec_each(&h->spaces, s) {
		DROP_FIRST(
			h, &s->eras,
			eras_over(s->eras.items, sizeof(*s->eras.items), s->eras.len, before_ns));
		vec_each(&s->eras, era)
			vec_push(&roots, &era->root);
	}
	maps_keep(&h->maps, roots.items, roots.len, used);
	forget_mappings(h, used);
	vec_release(&roots);
	free(used);
}

void history_init(struct history *h, struct profile *profile)
{
	*h = (struct history){.profile = profile};
	threads_init(&h->threads);
	maps_init(&h->maps);
	vec_push(&h->mappings, (struct mapping){});
	vec_push(&h->images, (struct image){});
	vec_push(&h->spaces, (struct space){.pid = KERNEL_PID});
	history_add_thread(h, 0, 0, 0);
}

void history_release(struct history *h)
{
	vec_each(&h->task_eras, eras)
		vec_release(eras);
	vec_release(&h->task_eras);
	vec_each(&h->spaces, space)
		vec_release(&space->eras);
	vec_release(&h->spaces);
	slots_release(&h->space_slots);
	maps_release(&h->maps);
	vec_release(&h->mappings);
	vec_release(&h->coming);
	images_release(h);
	threads_release(&h->threads);
}
