/* Sends the code of the functions that were hit most, at the end of a run: see code_collect.h. */
#include "collect/run/code_collect.h"
#include "collect/run/feed.h"

static bool send_code(void *ctx, function_id function, const struct buf *bytes)
{
	struct run_feed *f = ctx;

	(void)function;
	return !__atomic_load_n(&f->runner->feed_stops, __ATOMIC_RELAXED) &&
	       runner_send_patiently(f->runner, RUN_CODE, bytes);
}

void feed_code(struct run_feed *f)
{
	static const struct symbol_options places;
	struct code_options options = {.symbols = &places, .arch = f->file->facts.arch};
	struct code_limits limits = CODE_LIMITS_DEFAULT;
	struct code_report report;

	if (f->ended || !f->samples)
		return;
	/* Bring the weights of rows up to date. */
	analysis_name(&f->analysis);
	code_collect(&f->profile, f->modules, &options, &limits, send_code, f, &report);
}
