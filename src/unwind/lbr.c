#include "unwind/lbr.h"

bool lbr_is_call_stack(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	       attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/* Marks are the highest numbers there are. */
static bool is_mark(uint64_t ip)
{
	return ip >= (uint64_t)PERF_CONTEXT_MAX;
}

size_t lbr_chain(const struct sample *s, uint64_t *ret, size_t max)
{
	const struct branch_view *calls = &s->branches;
	size_t user = 0, len = 0;

	while (user < s->chain_len && s->chain[user] != (uint64_t)PERF_CONTEXT_USER)
		user++;
	for (; len < s->chain_len && len < max && (len <= user || !calls->count); len++)
		ret[len] = s->chain[len];
	if (user == s->chain_len || !calls->count)
		return len;
	/* Where the sample was taken; if the chain does not say, the function that was called last. */
	if (len < max) {
		bool has_ip = user + 1 < s->chain_len && !is_mark(s->chain[user + 1]);

		ret[len++] = has_ip ? s->chain[user + 1] : calls->entries[0].to;
	}
	for (uint64_t i = 0; i < calls->count && len < max; i++)
		ret[len++] = calls->entries[i].from;
	return len;
}
