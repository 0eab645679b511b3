#include "event/tracepoint.h"
#include "base/number.h"
#include "base/text.h"

#include <string.h>

#define PROBE_BYTES_MAX (16 << 20)

bool tracepoint_id(const struct roots *roots, const char *system, const char *name,
		   uint64_t *ret_id)
{
	long long id;

	if (!roots->tracefs[0] || strchr(system, '/') || strchr(name, '/') || *name == '.' ||
	    !fs_number(&id, "%s/events/%s/%s/id", roots->tracefs, system, name) || id < 0)
		return false;
	*ret_id = (uint64_t)id;
	return true;
}

/* A glob without special characters is one name: look it up instead of listing @dir. */
static void names_that_match(const char *dir, const char *glob, strvec *ret_names)
{
	CLEANUP(strvec_release) strvec all = {};

	if (!text_is_glob(glob) && !strchr(glob, '/') && fs_exists("%s/%s", dir, glob)) {
		vec_push(ret_names, xstrdup(glob));
		return;
	}
	fs_list(dir, &all);
	vec_each(&all, name)
		if (text_glob(glob, *name))
			vec_push(ret_names, xstrdup(*name));
}

void tracepoint_visit(const struct roots *roots, const char *system_glob, const char *name_glob,
		      tracepoint_visitor visit, void *ctx)
{
	CLEANUP(free_ptr) char *top = xasprintf("%s/events", roots->tracefs);
	CLEANUP(strvec_release) strvec systems = {};

	if (!roots->tracefs[0])
		return;
	names_that_match(top, system_glob, &systems);
	vec_each(&systems, system) {
		CLEANUP(free_ptr) char *dir = xasprintf("%s/%s", top, *system);
		CLEANUP(strvec_release) strvec names = {};

		names_that_match(dir, name_glob, &names);
		vec_each(&names, name) {
			/* Skip control files: events are directories. */
			if (!strcmp(*name, "enable") || !strcmp(*name, "filter"))
				continue;
			if (!strcmp(*system, "ftrace") && !fs_exists("%s/%s/id", dir, *name))
				continue;
			if (strchr(*system, '.') || !visit(ctx, *system, *name))
				return;
		}
	}
}

void probe_lines(const struct roots *roots, strvec *ret_lines)
{
	static const char *const files[] = {"kprobe_events", "uprobe_events", "dynamic_events"};

	for (size_t i = 0; i < ARRAY_LEN(files) && roots->tracefs[0]; i++) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", roots->tracefs, files[i]);
		CLEANUP(free_ptr) char *text = NULL;

		/* dynamic_events repeats the lines of the other two. */
		if (i == 2 && ret_lines->len)
			break;
		if (fs_read(path, PROBE_BYTES_MAX, &text) == 0)
			text_split(text, "\n", ret_lines);
	}
}
