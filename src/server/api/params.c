/* Parameters of requests: the query, and bodies in JSON. */
#include "server/api/api.h"
#include "base/number.h"
#include "base/text.h"
#include "query/selection.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define BODY_DEPTH_MAX   16
#define NAME_SHOWN_BYTES 60

static int unknown(const char *what, const char *name, const char *const *known, struct err *e)
{
	CLEANUP(free_ptr) char *shown = xstrndup(name, NAME_SHOWN_BYTES);
	CLEANUP(suggest_release) struct suggest nearest = {.wanted = shown};
	CLEANUP(buf_release) struct buf text = {};

	buf_addf(&text, "There is no %s '", what);
	text_add_printable(&text, shown);
	buf_add(&text, "'");
	for (size_t i = 0; known[i]; i++)
		suggest_offer(&nearest, known[i]);
	suggest_sentence(&nearest, &text);
	/* A suggestion ends the sentence with '?'. */
	if (nearest.count)
		return err_set(e, EINVAL, "%s", buf_str(&text));
	buf_add(&text, known[0] ? "; it takes" : " here; it takes none");
	for (size_t i = 0; known[i]; i++)
		buf_addf(&text, "%s %s", i ? "," : "", known[i]);
	return err_set(e, EINVAL, "%s.", buf_str(&text));
}

static bool is_one_of(const char *name, const char *const *known)
{
	for (size_t i = 0; known[i]; i++)
		if (!strcmp(known[i], name))
			return true;
	return false;
}

int api_params_known(const struct http_request *r, const char *const *known, struct err *e)
{
	vec_each(&r->query, pair)
		if (strcmp(pair->name, "token") && !is_one_of(pair->name, known))
			return unknown("parameter", pair->name, known, e);
	return 0;
}

int api_param_u64(const struct http_request *r, const char *name, uint64_t max, uint64_t *ret,
		  struct err *e)
{
	const char *text = http_query(r, name);
	uint64_t value;

	if (!text)
		return 0;
	if (!parse_u64(text, &value))
		return err_set(e, EINVAL, "The parameter %s is not a number.", name);
	if (value > max)
		return err_set(e, EINVAL, "The parameter %s is at most %llu.", name,
			       (unsigned long long)max);
	*ret = value;
	return 0;
}

int api_param_double(const struct http_request *r, const char *name, double min, double max,
		     double *ret, struct err *e)
{
	const char *text = http_query(r, name);
	double value;

	if (!text)
		return 0;
	if (!parse_double(text, &value))
		return err_set(e, EINVAL, "The parameter %s is not a number.", name);
	if (value < min || value > max)
		return err_set(e, EINVAL, "The parameter %s is from %g to %g.", name, min, max);
	*ret = value;
	return 0;
}

int api_param_bool(const struct http_request *r, const char *name, bool *ret, struct err *e)
{
	static const char *const yes[] = {"1", "true", "yes", "", NULL};
	static const char *const no[] = {"0", "false", "no", NULL};
	const char *text = http_query(r, name);

	if (!text)
		return 0;
	if (!is_one_of(text, yes) && !is_one_of(text, no))
		return err_set(e, EINVAL, "The parameter %s is true or false.", name);
	*ret = is_one_of(text, yes);
	return 0;
}

int api_page(const struct http_request *r, struct page *ret, struct err *e)
{
	uint64_t limit = API_LIMIT, before = 0;
	int rc = api_param_u64(r, "limit", API_LIMIT_MAX, &limit, e);

	if (rc == 0)
		rc = api_param_u64(r, "before", INT64_MAX, &before, e);
	if (rc < 0)
		return rc;
	if (limit == 0)
		return err_set(e, EINVAL, "The parameter limit is at least 1.");
	ret->limit = (unsigned)limit;
	ret->before = (int64_t)before;
	ret->search = http_query(r, "search");
	if (ret->search && !ret->search[0])
		ret->search = NULL;
	return 0;
}

int api_page_known(const struct http_request *r, const char *const *known, struct page *ret,
		   struct err *e)
{
	int rc = api_params_known(r, known, e);

	return rc < 0 ? rc : api_page(r, ret, e);
}

/* Returns the nesting depth of brackets outside strings: jansson recurses into each level. */
static unsigned depth_of(const char *text, size_t len)
{
	unsigned depth = 0, deepest = 0;
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == '{' || text[i] == '['))
			deepest = ++depth > deepest ? depth : deepest;
		else if (!quoted && (text[i] == '}' || text[i] == ']') && depth)
			depth--;
	}
	return deepest;
}

int api_body(const struct http_request *r, json_t **ret, struct err *e)
{
	json_error_t at;
	json_t *value;

	if (r->body.len == 0) {
		*ret = json_object();
		return 0;
	}
	if (depth_of(buf_str(&r->body), r->body.len) > BODY_DEPTH_MAX)
		return err_set(e, EINVAL, "The body is nested deeper than %d.", BODY_DEPTH_MAX);
	value = json_loadb(buf_str(&r->body), r->body.len, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
			   &at);
	/* jansson's own message is about one of its flags. */
	if (!value && json_error_code(&at) == json_error_null_character)
		return err_set(e, EINVAL,
			       "Text of the body has a NUL character (line %d, column %d).",
			       at.line, at.column);
	if (!value)
		return err_set(e, EINVAL, "The body is not JSON: %s (line %d, column %d).", at.text,
			       at.line, at.column);
	if (!json_is_object(value)) {
		json_decref(value);
		return err_set(e, EINVAL, "The body must be a JSON object: {…}.");
	}
	*ret = value;
	return 0;
}

int api_fields_known(const json_t *object, const char *const *known, struct err *e)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)object, name,
			    value) if (!is_one_of(name, known)) return unknown("field", name, known,
									       e);
	return 0;
}

int api_field_str(const json_t *object, const char *name, size_t max, const char **ret,
		  struct err *e)
{
	const json_t *value = json_object_get(object, name);

	*ret = NULL;
	if (!value || json_is_null(value))
		return 0;
	if (!json_is_string(value))
		return err_set(e, EINVAL, "The field %s must be a string.", name);
	if (json_string_length(value) > max)
		return err_set(e, E2BIG, "The field %s is longer than %zu bytes.", name, max);
	*ret = json_string_value(value);
	return 0;
}

static const char *query_value(const void *request, const char *name)
{
	return http_query(request, name);
}

int api_selection(struct selection *sel, const struct http_request *r, const char *prefix,
		  const struct run_data *d, struct err *e)
{
	const struct selection_params p = {.value = query_value, .ctx = r, .prefix = prefix};

	return selection_parse(sel, &p, d, e);
}
