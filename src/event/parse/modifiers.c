/* Modifiers after an event (":ukpp") and the user's defaults for them. */
#include "event/parse/parse.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define MODIFIERS        "ukhGHpPSDWeI"
#define CONFIG_BYTES_MAX (1 << 20)

bool is_modifiers(const char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!strchr(MODIFIERS, s[i]) || !s[i])
			return false;
	return len > 0;
}

/* Applies modifiers and returns NULL, or applies none and returns a bad letter. */
static const char *apply(struct event *event, const char *s, size_t len)
{
	struct perf_event_attr *a = &event->attr;
	bool user = memchr(s, 'u', len), kernel = memchr(s, 'k', len), hv = memchr(s, 'h', len);
	bool guest = memchr(s, 'G', len), host = memchr(s, 'H', len);
	unsigned precise = 0;

	for (size_t i = 0; i < len; i++) {
		if (!is_modifiers(&s[i], 1))
			return &s[i];
		precise += s[i] == 'p';
	}
	if (precise + a->precise_ip > 3)
		return s;
	/* A group's modifiers add to those of its events: {a:u,b}:k counts a in both modes. */
	if (user || kernel || hv) {
		bool first = !a->exclude_user && !a->exclude_kernel && !a->exclude_hv;

		a->exclude_user = !user && (first || a->exclude_user);
		a->exclude_kernel = !kernel && (first || a->exclude_kernel);
		a->exclude_hv = !hv && (first || a->exclude_hv);
	}
	if (guest || host) {
		bool first = !a->exclude_guest && !a->exclude_host;

		a->exclude_guest = !guest && (first || a->exclude_guest);
		a->exclude_host = !host && (first || a->exclude_host);
	}
	a->precise_ip = (a->precise_ip + precise) & 3;
	event->precise_max |= memchr(s, 'P', len) != NULL;
	event->sample_read |= memchr(s, 'S', len) != NULL;
	event->weak_group |= memchr(s, 'W', len) != NULL;
	if (memchr(s, 'D', len))
		a->pinned = 1;
	if (memchr(s, 'e', len))
		a->exclusive = 1;
	if (memchr(s, 'I', len))
		a->exclude_idle = 1;
	event->modified = true;
	return NULL;
}

int parse_modifiers(struct parse *p, struct event *event, const char *at, size_t len)
{
	const char *bad;

	if (!len)
		return parse_error(p, at, "modifiers are missing behind ':'");
	bad = apply(event, at, len);
	if (bad && is_modifiers(bad, 1))
		return parse_error(p, bad, "'p' can be given at most three times");
	if (bad)
		return parse_error(p, bad, "'%c' is not a modifier (they are " MODIFIERS ")", *bad);
	return 0;
}

int events_limit_modes(struct event_list *list, bool user, bool kernel, struct err *e)
{
	if (user && kernel)
		return err_set(e, EINVAL, "choose one: --all-user or --all-kernel");
	if (!user && !kernel)
		return 0;
	vec_each(&list->events, event) {
		struct perf_event_attr *a = &event->attr;
		/* ":uk" counts both modes, but not the hypervisor. */
		bool both = a->exclude_hv && !a->exclude_user && !a->exclude_kernel;

		if (event->tool)
			continue;
		if (both || (user ? a->exclude_user : a->exclude_kernel))
			return err_set(e, EINVAL,
				       "'%s' has modifiers that contradict %s: leave one of them "
				       "out",
				       event->name, user ? "--all-user" : "--all-kernel");
		a->exclude_user = kernel;
		a->exclude_kernel = user;
		a->exclude_hv = 1;
		event->modified = true;
	}
	return 0;
}

/* A default for "cycles" also applies to cpu_core/cycles/, its name on a hybrid machine. */
static bool default_is_for(const char *pattern, const char *name)
{
	const char *open = strchr(name, '/'), *close = strrchr(name, '/');
	CLEANUP(free_ptr) char *inner = NULL;

	if (text_glob(pattern, name))
		return true;
	if (!open || open == close)
		return false;
	inner = xstrndup(open + 1, (size_t)(close - open - 1));
	return text_glob(pattern, inner);
}

static void apply_default(struct event_list *list, const char *pattern, const char *mods)
{
	vec_each(&list->events, event) {
		bool slashed = event->name[strlen(event->name) - 1] == '/';
		char *name;

		if (event->modified || event->tool || !default_is_for(pattern, event->name) ||
		    apply(event, mods, strlen(mods)))
			continue;
		name = xasprintf("%s%s%s", event->name, slashed ? "" : ":", mods);
		free(event->name);
		event->name = name;
	}
}

/* Applies "PATTERN MODIFIERS" items, split at @separators. @where: source named in errors. */
static int apply_text(struct event_list *list, const char *text, const char *separators,
		      const char *where, struct err *e)
{
	CLEANUP(strvec_release) strvec lines = {};

	text_split(text, separators, &lines);
	vec_each(&lines, line) {
		CLEANUP(strvec_release) strvec words = {};
		const char *mods;

		text_split(*line, " \t\r", &words);
		if (!words.len || words.items[0][0] == '#')
			continue;
		mods = words.len > 1 ? words.items[1] + (words.items[1][0] == ':') : "";
		if (words.len != 2 || !is_modifiers(mods, strlen(mods)))
			return err_set(e, EINVAL,
				       "%s: '%s' is not 'PATTERN MODIFIERS' (such as 'cycles u'; "
				       "modifiers are " MODIFIERS ")",
				       where, *line);
		apply_default(list, words.items[0], mods);
	}
	return 0;
}

int events_apply_defaults(struct event_list *list, struct err *e)
{
	CLEANUP(free_ptr) char *dir = fs_xdg_dir("XDG_CONFIG_HOME", ".config");
	CLEANUP(free_ptr) char *path = dir ? xasprintf("%s/events.conf", dir) : NULL;
	CLEANUP(free_ptr) char *text = NULL;
	const char *given = getenv("TACHO_DEFAULT_MODIFIERS");
	int r = given ? apply_text(list, given, ",", "TACHO_DEFAULT_MODIFIERS", e) : 0;

	if (r < 0)
		return r;
	r = path ? fs_read(path, CONFIG_BYTES_MAX, &text) : -ENOENT;
	/* Ignore a home that belongs to somebody else, as after su. */
	if (r == -ENOENT || r == -EACCES || r == -ENOTDIR)
		return 0;
	if (r < 0)
		return err_set(e, -r, "cannot read '%s': %s", path, strerror(-r));
	return apply_text(list, text, "\n", path, e);
}
