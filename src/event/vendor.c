#include "event/vendor.h"
#include "base/number.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <strings.h>

/* A published set has a few thousand events; a file with more than this is not one. */
#define VENDOR_EVENTS_MAX 200000

/* Returns a string member, or NULL if it is missing, empty, "null" or not a string. */
static const char *text_of(const json_t *object, const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	return s && *s && strcmp(s, "null") ? s : NULL;
}

/*
 * Reads a number, 0 if the member is missing. Returns false for an array, an object or other text.
 * "0xB7, 0xBB" lists a code for each counter; any of them will do, so the first is taken.
 */
static bool read_number(const json_t *object, const char *key, uint64_t *ret_number)
{
	const json_t *value = json_object_get(object, key);
	const char *s = text_of(object, key);
	char first[32];
	size_t len;

	*ret_number = json_is_integer(value) ? (uint64_t)json_integer_value(value) : 0;
	if (json_is_array(value) || json_is_object(value))
		return false;
	if (!s)
		return true;
	s += strspn(s, " ");
	len = strcspn(s, ", ");
	if (len >= sizeof(first))
		return false;
	memcpy(first, s, len);
	first[len] = '\0';
	return parse_u64(first, ret_number);
}

static uint64_t number_of(const json_t *object, const char *key)
{
	uint64_t number;

	return read_number(object, key, &number) ? number : 0;
}

/*
 * Fixed counters are written as event 0 in Intel's files. The kernel wants the codes of the same
 * events on a general counter and moves them to the fixed one itself.
 */
static const struct {
	const char *name;
	const char *terms;
} fixed_events[] = {
	{"inst_retired.any", "event=0xc0"},
	{"inst_retired.any_p", "event=0xc0"},
	{"cpu_clk_unhalted.ref", "event=0x0,umask=0x03"},
	{"cpu_clk_unhalted.thread", "event=0x3c"},
	{"cpu_clk_unhalted.core", "event=0x3c"},
	{"cpu_clk_unhalted.thread_any", "event=0x3c,any=1"},
	{"topdown.slots", "event=0x0,umask=0x04"},
};

static const char *fixed_terms(const char *name, uint64_t code)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed_events) && !code; i++)
		if (!strcasecmp(fixed_events[i].name, name))
			return fixed_events[i].terms;
	return NULL;
}

/* Adds the value of an extra register (MSR) as the PMU's field for that register. */
static void add_msr_term(const json_t *object, struct buf *terms)
{
	uint64_t msr = number_of(object, "MSRIndex"), value = number_of(object, "MSRValue");
	const char *field = msr == 0x1a6 || msr == 0x1a7 ? "offcore_rsp"
			    : msr == 0x3f6               ? "ldlat"
			    : msr == 0x3f7               ? "frontend"
							 : NULL;

	if (field && value)
		buf_addf(terms, ",%s=0x%llx", field, (unsigned long long)value);
}

static char *event_terms(const json_t *object, const char *name)
{
	static const struct {
		const char *key, *field;
	} optional[] = {
		{"CounterMask", "cmask"},     {"Invert", "inv"},
		{"EdgeDetect", "edge"},       {"AnyThread", "any"},
		{"PortMask", "ch_mask"},      {"FCMask", "fc_mask"},
		{"NodeType", "type"},         {"RdWrMask", "rdwrmask"},
		{"EnAllCores", "enallcores"}, {"EnAllSlices", "enallslices"},
		{"SliceId", "sliceid"},       {"ThreadMask", "threadmask"},
	};
	const char *fixed = fixed_terms(name, number_of(object, "EventCode"));
	uint64_t code = number_of(object, "EventCode"), umask = number_of(object, "UMask");
	struct buf terms = {};

	if (text_of(object, "ConfigCode")) {
		buf_addf(&terms, "config=0x%llx",
			 (unsigned long long)number_of(object, "ConfigCode"));
		return buf_steal(&terms);
	}
	if (fixed)
		buf_add(&terms, fixed);
	else
		buf_addf(&terms, "event=0x%llx",
			 (unsigned long long)(code | number_of(object, "ExtSel") << 8));
	if (!fixed && umask)
		buf_addf(&terms, ",umask=0x%llx", (unsigned long long)umask);
	for (size_t i = 0; i < ARRAY_LEN(optional); i++) {
		uint64_t value = number_of(object, optional[i].key);

		if (value)
			buf_addf(&terms, ",%s=0x%llx", optional[i].field,
				 (unsigned long long)value);
	}
	add_msr_term(object, &terms);
	return buf_steal(&terms);
}

static char *copy_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

/* Returns the PMU that an event file calls @unit: mostly the same word in lower case. */
static char *pmu_of_unit(const char *unit)
{
	static const char *const others[][2] = {
		{"CBO", "cbox"},         {"QPI LL", "qpi"},
		{"SBO", "sbox"},         {"iMPH-U", "arb"},
		{"UPI LL", "upi"},       {"CPU-M-CF", "cpum_cf"},
		{"CPU-M-SF", "cpum_sf"}, {"PAI-CRYPTO", "pai_crypto"},
		{"PAI-EXT", "pai_ext"},  {"L3PMC", "amd_l3"},
		{"DFPMC", "amd_df"},     {"UMCPMC", "amd_umc"},
	};
	char *name;

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (!strcasecmp(others[i][0], unit))
			return xstrdup(others[i][1]);
	name = xstrdup(unit);
	for (char *c = name; *c; c++)
		*c = (char)(*c >= 'A' && *c <= 'Z' ? *c + 32 : *c);
	return name;
}

static void add_event(const json_t *object, const char *name, struct vendor_set *set)
{
	const char *brief = text_of(object, "BriefDescription");
	const char *public = text_of(object, "PublicDescription"), *unit = text_of(object, "Unit");
	struct vendor_event event = {.name = xstrdup(name)};

	event.description = copy_or_null(brief ? brief : public);
	event.details = copy_or_null(brief ? public : NULL);
	event.terms = event_terms(object, name);
	event.unit = unit && strcasecmp(unit, "cpu") ? pmu_of_unit(unit) : NULL;
	event.code = number_of(object, "EventCode");
	event.umask = number_of(object, "UMask");
	event.deprecated = number_of(object, "Deprecated") == 1;
	vec_push(&set->events, event);
}

/* Formulas of Intel's metrics refer to events by alias: [{"Name": "INST…", "Alias": "a"}]. */
static const char *name_of_alias(const json_t *object, const char *word, size_t len)
{
	static const char *const lists[] = {"Events", "Constants"};
	const json_t *item;
	size_t i;

	for (size_t l = 0; l < ARRAY_LEN(lists); l++) {
		json_array_foreach(json_object_get(object, lists[l]), i, item)
		{
			const char *alias = text_of(item, "Alias");

			if (alias && strlen(alias) == len && !strncmp(alias, word, len))
				return text_of(item, "Name");
		}
	}
	return NULL;
}

static char *expression_of(const json_t *object)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
	const char *s = text_of(object, "Formula");
	struct buf out = {};

	if (text_of(object, "MetricExpr") || !s)
		return copy_or_null(text_of(object, "MetricExpr"));
	while (*s) {
		size_t word = strspn(s, letters), other;
		const char *name = word ? name_of_alias(object, s, word) : NULL;

		if (name)
			buf_add(&out, name);
		else
			buf_add_mem(&out, s, word);
		s += word;
		other = strcspn(s, letters);
		buf_add_mem(&out, s, other);
		s += other;
	}
	return buf_steal(&out);
}

static void add_metric(const json_t *object, const char *name, struct vendor_set *set)
{
	const char *scale_unit = text_of(object, "ScaleUnit");
	struct vendor_metric metric = {.name = xstrdup(name), .scale = 1};

	metric.expression = expression_of(object);
	metric.description = copy_or_null(text_of(object, "BriefDescription"));
	metric.group = copy_or_null(text_of(object, "MetricGroup"));
	if (scale_unit) {
		char *end;

		metric.scale = strtod(scale_unit, &end);
		if (end == scale_unit || !(metric.scale > 0))
			metric.scale = 1;
		metric.unit = xstrdup(end);
	} else {
		metric.unit = copy_or_null(text_of(object, "UnitOfMeasure"));
	}
	vec_push(&set->metrics, metric);
}

static int add_item(const json_t *object, size_t index, struct vendor_set *set, struct err *e)
{
	const char *event = text_of(object, "EventName");
	const char *metric = text_of(object, "MetricName");
	const char *expression = text_of(object, "MetricExpr");
	static const char *const codes[] = {"EventCode", "UMask", "ConfigCode"};
	uint64_t number;

	if (!json_is_object(object))
		return err_set(e, EINVAL, "entry %zu is not an object", index + 1);
	if (set->events.len + set->metrics.len >= VENDOR_EVENTS_MAX)
		return err_set(e, EFBIG, "more than %d events", VENDOR_EVENTS_MAX);
	/* Refuse codes that cannot be read: taken as 0 they would select another event. */
	for (size_t i = 0; i < ARRAY_LEN(codes) && event; i++)
		if (!read_number(object, codes[i], &number))
			return err_set(e, EINVAL, "event '%.100s': %s '%.40s' is not a number",
				       event, codes[i],
				       text_of(object, codes[i]) ? text_of(object, codes[i])
								 : "[…]");
	if (event)
		add_event(object, event, set);
	if (metric && (expression || text_of(object, "Formula")))
		add_metric(object, metric, set);
	/* Entries without a name describe groups of metrics or refer to architecture standards. */
	return 0;
}

int vendor_parse(const char *text, size_t len, struct vendor_set *set, struct err *e)
{
	json_error_t where;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &where), *list, *item;
	size_t i;
	int r = 0;

	if (!root)
		return err_set(e, EINVAL, "line %d, column %d: %s", where.line, where.column,
			       where.text);
	list = root;
	if (json_is_object(root))
		list = json_object_get(root, "Events") ? json_object_get(root, "Events")
						       : json_object_get(root, "Metrics");
	if (!json_is_array(list)) {
		r = err_set(e, EINVAL, "this is JSON, but not a list of events or metrics");
	} else {
		json_array_foreach(list, i, item)
		{
			r = add_item(item, i, set, e);
			if (r < 0)
				break;
		}
	}
	json_decref(root);
	return r;
}

static int compare_events(const void *a, const void *b)
{
	return strcasecmp(((const struct vendor_event *)a)->name,
			  ((const struct vendor_event *)b)->name);
}

void vendor_sort(struct vendor_set *set)
{
	if (set->events.len)
		qsort(set->events.items, set->events.len, sizeof(*set->events.items),
		      compare_events);
}

const struct vendor_event *vendor_find(const struct vendor_set *set, const char *name)
{
	struct vendor_event key = {.name = (char *)name};

	if (!set->events.len)
		return NULL;
	return bsearch(&key, set->events.items, set->events.len, sizeof(key), compare_events);
}

void vendor_release(struct vendor_set *set)
{
	vec_each(&set->events, event) {
		free(event->name);
		free(event->description);
		free(event->details);
		free(event->terms);
		free(event->unit);
	}
	vec_each(&set->metrics, metric) {
		free(metric->name);
		free(metric->description);
		free(metric->expression);
		free(metric->group);
		free(metric->unit);
	}
	vec_release(&set->events);
	vec_release(&set->metrics);
	free(set->uarch);
	set->uarch = NULL;
}
