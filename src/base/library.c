#include "base/library.h"

#include <dlfcn.h>

#ifdef TACHO_STATIC
const char *library_load(const char *file, const char *const *names, size_t count, void *members)
{
	(void)names;
	(void)count;
	(void)members;
	return file;
}
#else
const char *library_load(const char *file, const char *const *names, size_t count, void *members)
{
	void *handle = dlopen(file, RTLD_NOW), **places = members;

	if (!handle)
		return file;
	for (size_t i = 0; i < count; i++)
		if (!(places[i] = dlsym(handle, names[i])))
			return names[i];
	return NULL;
}
#endif
