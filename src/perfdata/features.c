#include "perfdata/features.h"

void feature_set_release(struct feature_set *set)
{
	for (size_t i = 0; i < FEATURE_END; i++)
		buf_release(&set->sections[i]);
	set->present = 0;
}
