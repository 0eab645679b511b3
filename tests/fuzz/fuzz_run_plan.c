/* Plans of runs, and words: what is accepted says the same when it is written out and read again. */
#include "collect/run/plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_words(const char *text)
{
	CLEANUP(strvec_release) strvec words = {}, again = {};
	CLEANUP(buf_release) struct buf line = {};
	struct err e = {};

	if (words_split(text, &words, &e) < 0) {
		if (words.len || !e.text[0])
			abort();
		return;
	}
	words_join(words.items, words.len, &line);
	if (words_split(buf_str(&line), &again, &e) < 0 || again.len != words.len)
		abort();
	for (size_t i = 0; i < words.len; i++)
		if (strcmp(words.items[i], again.items[i]))
			abort();
}

static void check_plan(const json_t *json)
{
	struct run_plan p = {}, again = {};
	struct err e = {};
	json_t *first, *second;
	int r = run_plan_parse(json, &p, &e);

	if (r < 0) {
		if (r != -EINVAL || !e.text[0])
			abort();
		return;
	}
	if (!p.tool || (!p.argv.len && !p.pids.len && !p.tids.len && !p.system_wide))
		abort();
	first = run_plan_json(&p);
	if (run_plan_parse(first, &again, &e) < 0)
		abort();
	second = run_plan_json(&again);
	if (!json_equal(first, second))
		abort();
	json_decref(first);
	json_decref(second);
	run_plan_release(&p);
	run_plan_release(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = strndup((const char *)data, size);
	json_t *json = json_loadb((const char *)data, size, 0, NULL);

	if (!text)
		return 0;
	check_words(text);
	if (json)
		check_plan(json);
	json_decref(json);
	free(text);
	return 0;
}
