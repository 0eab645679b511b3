/* Encodes and decodes the bodies of the collector's messages. */
#include "collect/recording.h"

void counts_put(struct buf *body, const struct record_counts *counts)
{
	body_u64(body, counts->samples);
	body_u64(body, counts->bytes);
	body_u64(body, counts->lost);
	body_u64(body, counts->throttled);
	body_u64(body, counts->cpu_ns);
	body_u64(body, counts->live.dropped);
	body_u64(body, counts->live.spilled_bytes);
	body_u64(body, counts->live.waiting_bytes);
	body_u64(body, counts->ticks.ticks);
	body_u64(body, counts->ticks.missed);
	body_u64(body, counts->ticks.worst_late_ns);
	body_u64(body, counts->ticks.stretched_ns);
	body_u64(body, counts->ticks.worst_cost_ns);
}

bool counts_get(struct cursor *body, struct record_counts *ret)
{
	struct record_counts counts;

	counts.samples = cursor_u64(body);
	counts.bytes = cursor_u64(body);
	counts.lost = cursor_u64(body);
	counts.throttled = cursor_u64(body);
	counts.cpu_ns = cursor_u64(body);
	counts.live.dropped = cursor_u64(body);
	counts.live.spilled_bytes = cursor_u64(body);
	counts.live.waiting_bytes = cursor_u64(body);
	counts.ticks.ticks = cursor_u64(body);
	counts.ticks.missed = cursor_u64(body);
	counts.ticks.worst_late_ns = cursor_u64(body);
	counts.ticks.stretched_ns = cursor_u64(body);
	counts.ticks.worst_cost_ns = cursor_u64(body);
	if (body->failed)
		return false;
	*ret = counts;
	return true;
}

enum { SUMMARY_WORKLOAD = 1, SUMMARY_EXEC_FAILED = 2 };

void summary_put(struct buf *body, const struct record_summary *summary)
{
	counts_put(body, &summary->counts);
	body_u64(body, summary->end_ns);
	body_u32(body, (uint32_t)summary->wait_status);
	body_u16(body, (uint16_t)((summary->has_workload ? SUMMARY_WORKLOAD : 0) |
				  (summary->exec_failed ? SUMMARY_EXEC_FAILED : 0)));
	body_u16(body, (uint16_t)summary->end);
}

bool summary_get(struct cursor *body, struct record_summary *ret)
{
	struct record_summary summary = {};
	uint16_t flags, end;

	if (!counts_get(body, &summary.counts))
		return false;
	summary.end_ns = cursor_u64(body);
	summary.wait_status = (int)cursor_u32(body);
	flags = cursor_u16(body);
	end = cursor_u16(body);
	if (body->failed || end > END_MAX_SIZE)
		return false;
	summary.has_workload = flags & SUMMARY_WORKLOAD;
	summary.exec_failed = flags & SUMMARY_EXEC_FAILED;
	summary.end = (enum record_end)end;
	*ret = summary;
	return true;
}

char *text_get(struct cursor *body)
{
	char *text = xstrndup((const char *)body->data + body->at, body->size - body->at);

	body->at = body->size;
	return text;
}
