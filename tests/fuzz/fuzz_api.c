/* Bodies and parameters of the API: the first byte chooses what the rest is read as. */
#include "base/number.h"
#include "server/api/api.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_body(const struct http_request *r)
{
	static const char *const known[] = {"title", "note", "tags", "description", NULL};
	const char *text;
	json_t *body = NULL;
	struct err e = {};

	if (api_body(r, &body, &e) == 0) {
		api_fields_known(body, known, &e);
		api_field_str(body, "title", API_TITLE_BYTES, &text, &e);
		json_decref(body);
	}
}

static void read_parameters(const char *text)
{
	static const char *const known[] = {"limit", "before", "search", NULL};
	const char *const names[] = {"limit", "before", "search", text};
	struct http_request r = {.upload_fd = -1};
	struct page page = {};
	struct err e = {};
	uint64_t ns = 0;
	bool flag = false;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		vec_push(&r.query, (struct http_pair){(char *)names[i], (char *)text});
	api_params_known(&r, known, &e);
	api_page(&r, &page, &e);
	parse_time_ns(text, &ns);
	api_param_bool(&r, "limit", &flag, &e);
	vec_release(&r.query);
}

/* Texts of the store, which an older or damaged one may have. */
static void show_run(char *text)
{
	CLEANUP(buf_release) struct buf out = {};
	struct json j = jw_to(&out);
	struct stored_run run = {.description = text,
				 .plan = text,
				 .opened = text,
				 .ledger = text,
				 .ended = text,
				 .tags = text};
	json_t *again;

	run_json(&j, &run, NULL);
	again = json_loads(buf_str(&out), 0, NULL);
	if (!again)
		abort();
	json_decref(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_request r = {.upload_fd = -1};

	if (!size)
		return 0;
	buf_add_mem(&r.body, data + 1, size - 1);
	if (data[0] % 3 == 0)
		read_body(&r);
	else if (data[0] % 3 == 1)
		read_parameters(buf_str(&r.body));
	else if (r.body.s)
		show_run(r.body.s);
	buf_release(&r.body);
	return 0;
}
