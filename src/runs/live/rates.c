/* Samples of a running run in each time slot, for new subscribers. */
#include "runs/live/internal.h"

#include "base/alloc.h"

#include <stdlib.h>

void live_rates_add(struct live_rates *r, uint32_t event, uint64_t time_ns)
{
	uint64_t piece = time_ns / LIVE_RATE_NS;

	/* Samples of a chunk are sorted by time: most are in the same slot as the one before. */
	if (r->pending.len) {
		struct live_burst *last = &r->pending.items[r->pending.len - 1];

		if (last->piece == piece && last->event == event) {
			last->samples++;
			return;
		}
	}
	vec_push(&r->pending, (struct live_burst){piece, event, 1});
}

/* Extends the ring up to the time slot @piece with empty slots. */
static void advance(struct live_rates *r, uint64_t piece)
{
	uint64_t fresh = piece + 1 - r->end;

	if (piece < r->end)
		return;
	if (fresh > LIVE_RATE_SLOTS)
		fresh = LIVE_RATE_SLOTS;
	vec_each(&r->samples, event)
		for (uint64_t i = 0; i < fresh; i++)
			(*event)[(piece - i) % LIVE_RATE_SLOTS] = 0;
	r->end = piece + 1;
}

void live_rates_fold(struct live_rates *r)
{
	vec_each(&r->pending, burst) {
		while (r->samples.len <= burst->event)
			vec_push(&r->samples, xcalloc(LIVE_RATE_SLOTS, sizeof(uint32_t)));
		advance(r, burst->piece);
		if (burst->piece + LIVE_RATE_SLOTS >= r->end)
			r->samples.items[burst->event][burst->piece % LIVE_RATE_SLOTS] +=
				burst->samples;
	}
	r->pending.len = 0;
}

void live_rates_text(const struct live_rates *r, struct json *j)
{
	uint64_t first = r->end > LIVE_RATE_SLOTS ? r->end - LIVE_RATE_SLOTS : 0;

	jw_key(j, "rates");
	jw_open(j, '{');
	jw_kv_u64(j, "from_ns", first * LIVE_RATE_NS);
	jw_kv_u64(j, "step_ns", LIVE_RATE_NS);
	jw_key(j, "samples");
	jw_open(j, '[');
	vec_each(&r->samples, event) {
		jw_open(j, '[');
		for (uint64_t piece = first; piece < r->end; piece++)
			jw_u64(j, (*event)[piece % LIVE_RATE_SLOTS]);
		jw_close(j, ']');
	}
	jw_close(j, ']');
	jw_close(j, '}');
}

void live_rates_release(struct live_rates *r)
{
	vec_each(&r->samples, event)
		free(*event);
	vec_release(&r->samples);
	vec_release(&r->pending);
}
