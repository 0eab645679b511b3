#include "cmd/annotate/name.h"
#include "base/text.h"
#include "symbol/demangle.h"

#include <ctype.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define BUCKETS 256 /* of the hash table of modules; a recording rarely has more modules */

/* Whether @wanted is the last component of @name without template arguments and parameters. */
static bool is_short_name(const char *name, const char *wanted)
{
	size_t len = strlen(wanted), depth = 0;
	const char *last = name;

	for (const char *s = name; *s; s++) {
		if (*s == '<' && s[1] != '<' && (s == name || s[-1] != '<'))
			depth++;
		else if (*s == '>' && depth)
			depth--;
		else if (!depth && s[0] == ':' && s[1] == ':')
			last = s + 2;
	}
	return !strncmp(last, wanted, len) && (!last[len] || last[len] == '<' || last[len] == '(');
}

enum name_match name_match(const char *name, const char *wanted)
{
	if (!strcmp(name, wanted))
		return NAME_SAME;
	if (is_short_name(name, wanted))
		return NAME_SHORT;
	return text_is_glob(wanted) && text_glob(wanted, name) ? NAME_PATTERN : NAME_OTHER;
}

/* Takes the longest identifier before the first "<", or in a pattern before the first "[". */
struct wanted_name wanted_name_of(const char *text)
{
	struct wanted_name w = {.text = text};
	bool pattern = text_is_glob(text);
	size_t longest = 0;

	for (const char *s = text; *s && (pattern ? *s != '[' : *s != '<');) {
		size_t len = 0;

		while (isalnum((unsigned char)s[len]) || s[len] == '_')
			len++;
		if (len > longest && len < sizeof(w.word)) {
			longest = len;
			memcpy(w.word, s, len);
			w.word[len] = '\0';
		}
		s += len ? len : 1;
	}
	/* Mangled names do not contain "operator+", "(anonymous namespace)" or "~X" literally. */
	if (strstr(text, "operator") || strchr(text, '(') || strchr(text, '~') ||
	    strchr(text, '{') || strchr(text, ' '))
		w.word[0] = '\0';
	return w;
}

bool name_is_wanted(const struct wanted_name *w, const char *linker_name)
{
	CLEANUP(buf_release) struct buf readable = {};

	/* Patterns ignore case. */
	if (text_is_glob(w->text) ? !text_contains(linker_name, w->word)
				  : !strstr(linker_name, w->word))
		return false;
	if (name_match(linker_name, w->text) != NAME_OTHER)
		return true;
	return demangle(linker_name, &readable) &&
	       name_match(buf_str(&readable), w->text) != NAME_OTHER;
}

bool module_is_listed(const char *list, const char *path)
{
	CLEANUP(strvec_release) strvec words = {};
	const char *slash = strrchr(path, '/');

	text_split(list, ",", &words);
	vec_each(&words, w)
		if (!strcmp(*w, path) || (slash && !strcmp(*w, slash + 1)))
			return true;
	return false;
}

/* ---- places ---- */

struct place_range {
	uint64_t start, end;
};

struct module_places {
	struct module_places *next;
	const struct module *module;
	VEC(struct place_range) ranges; /* ascending */
};

/* Lists only grow at their head, so reading them needs no lock. */
struct wanted_places {
	struct wanted_name name;
	const char *dso;
	pthread_mutex_t lock;
	_Atomic(struct module_places *) buckets[BUCKETS];
};

struct wanted_places *wanted_places_new(const struct wanted_name *name, const char *dso)
{
	struct wanted_places *w = xcalloc(1, sizeof(*w));

	w->name = *name;
	w->dso = dso;
	pthread_mutex_init(&w->lock, NULL);
	return w;
}

void wanted_places_free(struct wanted_places *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < BUCKETS; i++) {
		struct module_places *at = w->buckets[i], *next;

		for (; at; at = next) {
			next = at->next;
			vec_release(&at->ranges);
			free(at);
		}
	}
	pthread_mutex_destroy(&w->lock);
	free(w);
}

static struct module_places *find_places(struct module_places *list, const struct module *m)
{
	while (list && list->module != m)
		list = list->next;
	return list;
}

static void collect_ranges(const struct wanted_places *w, struct module *m,
			   struct module_places *to)
{
	/* Do not load the symbols of modules that --dso excludes. */
	bool listed = !w->dso || module_is_listed(w->dso, m->path);
	const struct symtab *t = listed ? module_symbols(m) : NULL;

	for (size_t i = 0; t && i < t->symbols.len; i++) {
		const struct symbol *s = &t->symbols.items[i];

		if (name_is_wanted(&w->name, symtab_name(t, s)))
			vec_push(&to->ranges, (struct place_range){s->start, s->end});
	}
}

static const struct module_places *places_of(struct wanted_places *w, struct module *m)
{
	_Atomic(struct module_places *) *bucket = &w->buckets[((uintptr_t)m >> 6) % BUCKETS];
	struct module_places *found = find_places(atomic_load(bucket), m), *new;

	if (found)
		return found;
	/* Collect outside the lock, so that other threads can go on with other modules. */
	new = xcalloc(1, sizeof(*new));
	new->module = m;
	collect_ranges(w, m, new);
	pthread_mutex_lock(&w->lock);
	found = find_places(atomic_load(bucket), m);
	if (!found) {
		new->next = atomic_load(bucket);
		atomic_store(bucket, new);
	}
	pthread_mutex_unlock(&w->lock);
	if (!found)
		return new;
	vec_release(&new->ranges);
	free(new);
	return found;
}

bool is_wanted_place(struct wanted_places *w, struct module *m, uint64_t address)
{
	const struct module_places *places = places_of(w, m);
	size_t low = 0, high = places->ranges.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct place_range *r = &places->ranges.items[mid];

		if (address < r->start)
			high = mid;
		else if (address >= r->end)
			low = mid + 1;
		else
			return true;
	}
	return false;
}
