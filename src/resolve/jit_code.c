#include "resolve/jit_code.h"
#include "resolve/analysis.h"
#include "symbol/jitdump.h"

#include <time.h>

/* The runtime's clock is CLOCK_MONOTONIC; a recording by another one cannot be compared. */
static bool clocks_agree(const struct analysis *a, const struct jitdump *j)
{
	const struct stream *s = &a->file->stream;

	return !jitdump_uses_cpu_clock(j) && s->events.len && s->events.items[0].attr.use_clockid &&
	       s->events.items[0].attr.clockid == CLOCK_MONOTONIC;
}

void jit_code_announce(void *ctx, uint32_t image, uint32_t pid, uint64_t time_ns)
{
	struct analysis *a = ctx;
	struct module *module;
	const struct jitdump *j;
	const struct jitdump_load *loads;
	size_t count;
	bool agree;

	if (a->jitdumps++ >= JITDUMP_FILES_MAX)
		return;
	module = resolver_module(&a->resolver, image);
	j = module_jitdump(module);
	if (!j)
		return;
	count = jitdump_loads(j, &loads);
	agree = clocks_agree(a, j);
	for (size_t i = 0; i < count; i++) {
		struct coming_code code = {
			/* Without a common clock the last one at an address wins. */
			.time_ns = agree && loads[i].time > time_ns ? loads[i].time : time_ns,
			.length = loads[i].size,
			.mapping = {.start = loads[i].address,
				    .offset = loads[i].code_offset,
				    .image = image},
			.pid = pid,
		};

		if (code.length)
			history_expect(&a->history, &code);
	}
	history_sort_coming(&a->history);
}
