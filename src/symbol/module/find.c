#include "symbol/module/state.h"

#include <stdio.h>
#include <string.h>

static bool has_build_id(const struct build_id *id, const char *hex)
{
	char text[2 * BUILD_ID_BYTES_MAX + 1] = "";

	for (size_t i = 0; i < id->size && i < BUILD_ID_BYTES_MAX; i++)
		snprintf(text + 2 * i, 3, "%02x", id->bytes[i]);
	return !strcmp(text, hex);
}

struct module *modules_find(struct modules *all, const char *path, const char *build_id)
{
	struct module *found = NULL;

	pthread_mutex_lock(&all->lock);
	vec_each(&all->list, m) {
		if (strcmp((*m)->path, path))
			continue;
		/* An empty id matches every module. Others are compared with the requested id. */
		if (!build_id || !*build_id ||
		    has_build_id(&(*m)->state->request.build_id, build_id)) {
			found = *m;
			break;
		}
	}
	pthread_mutex_unlock(&all->lock);
	if (found)
		module_open(found);
	return found;
}
