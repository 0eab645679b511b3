/* Parses RUN_PLAN, the order of the server. */
#include "collect/run/runner.h"

#include <errno.h>

#define OUTPUT_BYTES (16ull << 20)
#define SPILL_BYTES  (2ull << 30)

static char *text_of(const json_t *json, const char *name)
{
	const char *text = json_string_value(json_object_get(json, name));

	return text ? xstrdup(text) : NULL;
}

static uint64_t number_of(const json_t *json, const char *name, uint64_t otherwise)
{
	const json_t *value = json_object_get(json, name);

	return json_is_integer(value) && json_integer_value(value) >= 0
		       ? (uint64_t)json_integer_value(value)
		       : otherwise;
}

int runner_order_parse(const void *bytes, size_t size, struct runner_order *ret, struct err *e)
{
	json_error_t where;
	json_t *json = json_loadb(bytes, size, 0, &where);
	int r = 0;

	if (!json)
		return err_set(e, EINVAL, "the plan is not JSON: %s", where.text);
	ret->raw = text_of(json, "raw");
	ret->spill = text_of(json, "spill");
	ret->import = text_of(json, "import");
	ret->import_name = text_of(json_object_get(json, "plan"), "import");
	ret->private = json_is_true(json_object_get(json, "private"));
	ret->output_bytes = number_of(json, "output_bytes", OUTPUT_BYTES);
	ret->spill_bytes = number_of(json, "spill_bytes", SPILL_BYTES);
	ret->run_as = text_of(json, "run_as");
	ret->restricted = json_is_true(json_object_get(json, "restricted"));
	/* An import needs no plan. */
	if (!ret->import)
		r = run_plan_parse(json_object_get(json, "plan"), &ret->plan, e);
	json_decref(json);
	return r;
}

void runner_order_release(struct runner_order *o)
{
	run_plan_release(&o->plan);
	free(o->raw);
	free(o->spill);
	free(o->import);
	free(o->import_name);
	free(o->run_as);
	*o = (struct runner_order){};
}
