#include "perfdata/attr.h"
#include "event/generic.h"

#include <string.h>

#define FLAGS_AT (offsetof(struct perf_event_attr, read_format) + 8)

static void turn64(void *at)
{
	uint64_t v;

	memcpy(&v, at, sizeof(v));
	v = __builtin_bswap64(v);
	memcpy(at, &v, sizeof(v));
}

static void turn32(void *at)
{
	uint32_t v;

	memcpy(&v, at, sizeof(v));
	v = __builtin_bswap32(v);
	memcpy(at, &v, sizeof(v));
}

/*
 * Flags are single bits but for precise_ip: the first bit of each byte is its lowest with us, its
 * highest there.
 */
static void turn_flags(struct perf_event_attr *attr)
{
	unsigned char *flags = (unsigned char *)attr + FLAGS_AT;
	unsigned precise;

	for (size_t i = 0; i < 8; i++) {
		unsigned char from = flags[i], to = 0;

		for (int bit = 0; bit < 8; bit++)
			to |= (unsigned char)(((from >> bit) & 1) << (7 - bit));
		flags[i] = to;
	}
	precise = attr->precise_ip;
	attr->precise_ip = (precise >> 1 | precise << 1) & 3;
}

static void turn(struct perf_event_attr *attr)
{
	turn32(&attr->type);
	turn64(&attr->config);
	turn64(&attr->sample_period);
	turn64(&attr->sample_type);
	turn64(&attr->read_format);
	turn_flags(attr);
	turn32(&attr->wakeup_events);
	turn32(&attr->bp_type);
	turn64(&attr->config1);
	turn64(&attr->config2);
	turn64(&attr->branch_sample_type);
	turn64(&attr->sample_regs_user);
	turn32(&attr->sample_stack_user);
	turn32(&attr->clockid);
	turn64(&attr->sample_regs_intr);
	turn32(&attr->aux_watermark);
	attr->sample_max_stack = __builtin_bswap16(attr->sample_max_stack);
	turn32(&attr->aux_sample_size);
	turn64(&attr->sig_data);
}

bool attr_read(struct cursor *c, size_t room, struct perf_event_attr *ret)
{
	struct cursor head = *c, all;
	uint32_t size;

	cursor_u32(&head);
	size = cursor_u32(&head);
	/* The first files had no size there. */
	if (!size)
		size = PERF_ATTR_SIZE_VER0;
	if (head.failed || size < PERF_ATTR_SIZE_VER0 || size > 4096 || (room && size > room))
		return false;
	all = cursor_part(c, c->at, size);
	if (all.failed)
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret, all.data, size < sizeof(*ret) ? size : sizeof(*ret));
	if (c->swap)
		turn(ret);
	ret->size = size < sizeof(*ret) ? size : sizeof(*ret);
	cursor_skip(c, room ? room : size);
	return !c->failed;
}

/* As perf writes them: only what differs from the default of its kind. */
static void add_modifiers(const struct perf_event_attr *attr, struct buf *out)
{
	bool without_guest = false, colon = false;
	char letters[8];
	size_t n = 0;

	if (attr->exclude_kernel || attr->exclude_user || attr->exclude_hv) {
		if (!attr->exclude_kernel)
			letters[n++] = 'k';
		if (!attr->exclude_user)
			letters[n++] = 'u';
		if (!attr->exclude_hv)
			letters[n++] = 'h';
		without_guest = true;
	}
	for (unsigned i = 0; i < attr->precise_ip; i++)
		letters[n++] = 'p';
	without_guest |= attr->precise_ip;
	colon = n;
	if (colon)
		buf_addf(out, ":%.*s", (int)n, letters);
	if (!attr->exclude_host && attr->exclude_guest != without_guest)
		return;
	if (!colon)
		buf_add_char(out, ':');
	if (!attr->exclude_host)
		buf_add_char(out, 'H');
	if (!attr->exclude_guest)
		buf_add_char(out, 'G');
}

static bool add_known(const struct perf_event_attr *attr, struct buf *out)
{
	uint64_t config = attr->config;
	char name[64], description[128];

	/* The upper half names a PMU of a machine with several kinds of cores. */
	if (attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE)
		config &= 0xffffffff;
	for (size_t i = 0; i < generic_event_count; i++)
		if (generic_events[i].type == attr->type && generic_events[i].config == config) {
			buf_add(out, generic_events[i].name);
			return true;
		}
	if (attr->type != PERF_TYPE_HW_CACHE)
		return false;
	for (size_t i = 0;; i++) {
		uint64_t value;

		if (!cache_event_nth(i, name, sizeof(name), &value, description,
				     sizeof(description)))
			return false;
		if (value == config) {
			buf_add(out, name);
			return true;
		}
	}
}

void attr_name(const struct perf_event_attr *attr, struct buf *out)
{
	if (attr->type == PERF_TYPE_TRACEPOINT) {
		buf_addf(out, "tracepoint %llu", (unsigned long long)attr->config);
		return;
	}
	if (attr->type == PERF_TYPE_BREAKPOINT) {
		buf_addf(out, "mem:0x%llx", (unsigned long long)attr->bp_addr);
		return;
	}
	if (!add_known(attr, out)) {
		if (attr->type != PERF_TYPE_RAW)
			buf_addf(out, "pmu %u ", attr->type);
		buf_addf(out, "raw 0x%llx", (unsigned long long)attr->config);
	}
	add_modifiers(attr, out);
}
