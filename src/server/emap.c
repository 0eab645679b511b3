#include "server/emap.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"
#include "event/parse/parse.h"
#include "event/usage.h"
#include "perf/availability.h"
#include "perf/open.h"

#include <pthread.h>
#include <string.h>

/* Age at which the list is made again: modules and probes may come and go. */
#define KEPT_NS (30 * NS_PER_SEC)

struct emap {
	pthread_mutex_t lock;
	struct emap_list *list; /* NULL: not loaded yet */
	uint64_t loaded_ns;
	bool stale;
	pthread_mutex_t catalog_lock; /* taken before `lock` */
	struct catalog catalog;       /* for checking the events of plans */
};

struct loading {
	struct emap_list *list;
	struct availability availability;
	struct catalog *catalog;
	struct usage usage;
};

struct emap *emap_new(void)
{
	struct emap *m = xcalloc(1, sizeof(*m));

	pthread_mutex_init(&m->lock, NULL);
	pthread_mutex_init(&m->catalog_lock, NULL);
	catalog_init(&m->catalog);
	return m;
}

static void release_event(struct emap_event *event)
{
	free(event->name);
	free(event->alias);
	free(event->description);
	free(event->unit);
	free(event->pmu);
	free(event->masks);
	free(event->reason);
}

/* The caller must hold m->lock, unless no other thread has @list. */
static void drop(struct emap_list *list)
{
	if (!list || --list->refs)
		return;
	vec_each(&list->events, event)
		release_event(event);
	vec_release(&list->events);
	strvec_release(&list->problems);
	free(list);
}

void emap_free(struct emap *m)
{
	if (!m)
		return;
	drop(m->list);
	catalog_release(&m->catalog);
	pthread_mutex_destroy(&m->catalog_lock);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static char *copy(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

static char *masks_json(const struct catalog_entry *entry)
{
	struct buf out = {};
	struct json j = jw_to(&out);

	if (!entry->mask_count)
		return NULL;
	jw_open(&j, '[');
	for (size_t i = 0; i < entry->mask_count; i++) {
		jw_open(&j, '{');
		jw_kv_str(&j, "name", entry->masks[i].name);
		jw_kv_str(&j, "description", entry->masks[i].description);
		jw_close(&j, '}');
	}
	jw_close(&j, ']');
	return buf_steal(&out);
}

static void examine(struct loading *l, const struct catalog_entry *entry, struct emap_event *event)
{
	int code = entry->openable ? availability_of(&l->availability, entry) : -1;

	event->available = code < 0 ? -1 : code == 0;
	if (code > 0) {
		struct buf reason = {};

		perf_open_reason(code, &entry->attr, entry->cpu >= 0, catalog_no_pmu(l->catalog),
				 &reason);
		event->reason = buf_steal(&reason);
	}
}

static bool add_entry(void *ctx, const struct catalog_entry *entry)
{
	struct loading *l = ctx;
	struct emap_event event = {
		.name = copy(entry->name),
		.alias = copy(entry->alias),
		.description = copy(entry->description),
		.unit = copy(entry->unit),
		.pmu = copy(entry->pmu),
		.masks = masks_json(entry),
		.kind = entry->kind,
	};

	event.used = usage_of(&l->usage, entry->name);
	if (!event.used && entry->alias)
		event.used = usage_of(&l->usage, entry->alias);
	examine(l, entry, &event);
	vec_push(&l->list->events, event);
	return true;
}

static void add_problem(void *ctx, enum event_kind kind, const char *sentence)
{
	struct loading *l = ctx;

	(void)kind;
	vec_push(&l->list->problems, xstrdup(sentence));
}

/* Moves used events to the front, the most used first. The others keep the catalogue's order. */
static void put_used_first(struct emap_list *list)
{
	size_t used = 0;

	for (size_t i = 0; i < list->events.len; i++) {
		struct emap_event event = list->events.items[i];
		size_t at = used;

		if (!event.used)
			continue;
		while (at && list->events.items[at - 1].used < event.used)
			at--;
		memmove(&list->events.items[at + 1], &list->events.items[at],
			(i - at) * sizeof(event));
		list->events.items[at] = event;
		used++;
	}
}

static struct emap_list *load(void)
{
	CLEANUP(catalog_release) struct catalog c;
	const struct catalog_query all = {.kind = -1};
	struct loading l = {.list = xcalloc(1, sizeof(*l.list))};

	catalog_init(&c);
	l.list->refs = 1;
	l.availability.roots = &c.roots;
	l.catalog = &c;
	usage_load(&l.usage);
	catalog_visit(&c, &all, add_entry, add_problem, &l);
	usage_release(&l.usage);
	put_used_first(l.list);
	return l.list;
}

struct emap_list *emap_get(struct emap *m)
{
	struct emap_list *list;
	uint64_t now = clock_now_ns();

	pthread_mutex_lock(&m->lock);
	if (!m->list || m->stale || now - m->loaded_ns > KEPT_NS) {
		drop(m->list);
		m->list = load();
		m->loaded_ns = now;
		m->stale = false;
	}
	list = m->list;
	list->refs++;
	pthread_mutex_unlock(&m->lock);
	return list;
}

void emap_put(struct emap *m, struct emap_list *list)
{
	pthread_mutex_lock(&m->lock);
	drop(list);
	pthread_mutex_unlock(&m->lock);
}

bool emap_matches(const struct emap_event *event, const char *search)
{
	CLEANUP(strvec_release) strvec words = {};

	if (!search)
		return true;
	text_split(search, " \t", &words);
	vec_each(&words, word)
		if (!text_contains(event->name, *word) && !text_contains(event->alias, *word) &&
		    !text_contains(event->description, *word) &&
		    !text_contains(event->pmu, *word) && !text_contains(event->masks, *word))
			return false;
	return true;
}

int emap_check_events(struct emap *m, const struct run_plan *plan, struct err *e)
{
	bool was_read;
	int r;

	pthread_mutex_lock(&m->catalog_lock);
	was_read = m->catalog.pmus_ready || m->catalog.vendor_ready;
	r = run_plan_check_events(plan, &m->catalog, e);
	if (r < 0 && was_read) {
		catalog_release(&m->catalog);
		catalog_init(&m->catalog);
		r = run_plan_check_events(plan, &m->catalog, e);
	}
	pthread_mutex_unlock(&m->catalog_lock);
	return r;
}

void emap_note_used(struct emap *m, const struct run_plan *plan)
{
	struct event_list list = {};

	pthread_mutex_lock(&m->catalog_lock);
	vec_each(&plan->events, name)
		events_parse(&m->catalog, *name, &list, NULL);
	vec_each(&plan->sample_events, name)
		events_parse(&m->catalog, *name, &list, NULL);
	/* usage_note() reads and rewrites the usage file: one thread at a time. */
	pthread_mutex_lock(&m->lock);
	if (list.events.len)
		usage_note(&list);
	m->stale = true;
	pthread_mutex_unlock(&m->lock);
	pthread_mutex_unlock(&m->catalog_lock);
	event_list_release(&list);
}
