/* The ledger of a run in answers of the API. */
#include "runs/ledger_words.h"
#include "base/clock.h"
#include "query/run_cache.h"
#include "runs/json.h"

#include <string.h>

struct ledger_run ledger_run_of(const struct stored_run *run)
{
	json_t *plan = run->plan ? json_loads(run->plan, 0, NULL) : NULL;
	struct ledger_run about = {.seconds = run_seconds(run),
				   .import = json_object_get(plan, "import"),
				   .running = !run_state_ended(run->state)};

	if (about.running && run->started_ms)
		about.seconds = (double)clock_ns_of(CLOCK_REALTIME) / (double)NS_PER_SEC -
				(double)run->started_ms / 1000;
	json_decref(plan);
	return about;
}

static void write_entry(struct json *j, const struct ledger_entry *e)
{
	jw_open(j, '{');
	jw_kv_str(j, "key", e->key);
	jw_kv_bool(j, "bad", e->bad);
	jw_kv_str(j, "name", e->name);
	jw_kv_str(j, "value", e->value);
	jw_kv_str(j, "about", e->about);
	jw_kv_str(j, "words", e->words);
	jw_kv_str(j, "sentence", e->sentence);
	jw_kv_str(j, "advice", e->bad ? e->advice : NULL);
	jw_close(j, '}');
}

static void visit_any(void *ctx, const struct ledger_entry *e)
{
	write_entry(ctx, e);
}

static void visit_bad(void *ctx, const struct ledger_entry *e)
{
	if (e->bad)
		write_entry(ctx, e);
}

void ledger_json_members(struct json *j, const json_t *ledger)
{
	const struct ledger_run unknown = {};
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)ledger, name, value)
	{
		if (!strcmp(name, "warnings")) /* added below */
			continue;
		jw_key(j, name);
		json_add_value(j, value);
	}
	jw_key(j, "warnings");
	jw_open(j, '[');
	ledger_words(ledger, &unknown, visit_bad, j);
	jw_close(j, ']');
}

void ledger_json(struct json *j, const json_t *ledger)
{
	if (!json_is_object(ledger)) {
		jw_null(j);
		return;
	}
	jw_open(j, '{');
	ledger_json_members(j, ledger);
	jw_close(j, '}');
}

/* ---- whether the data can be trusted ---- */

struct verdict {
	struct buf text, more;
};

static void add_sentence(struct buf *out, const char *sentence)
{
	/* Two lines may have the same advice. */
	if (sentence && !strstr(buf_str(out), sentence))
		buf_addf(out, "%s%s", out->len ? " " : "", sentence);
}

static void judge_events(struct verdict *v, const json_t *opened)
{
	const json_t *one;
	size_t i, failed = 0;

	json_array_foreach(json_object_get(opened, "events"), i, one)
	{
		const char *name = json_string_value(json_object_get(one, "name"));

		if (!json_is_string(json_object_get(one, "problem")) &&
		    !json_is_false(json_object_get(one, "supported")))
			continue;
		buf_addf(&v->text, "%s%.100s", failed++ ? ", " : "", name ? name : "An event");
	}
	if (!failed)
		return;
	buf_add(&v->text, " could not be measured.");
	add_sentence(&v->more, "The table of events says why.");
}

static void judge_entry(void *ctx, const struct ledger_entry *e)
{
	struct verdict *v = ctx;

	if (!e->bad || !e->words)
		return;
	add_sentence(&v->text, e->sentence);
	add_sentence(&v->more, e->advice);
}

static void write_verdict(struct json *j, const json_t *ledger, const json_t *opened,
			  const struct ledger_run *run)
{
	struct verdict v = {};
	bool good;

	judge_events(&v, opened);
	ledger_words(ledger, run, judge_entry, &v);
	good = !v.text.len;
	if (good) {
		buf_add(&v.text, run->running ? "Nothing was lost so far." : "Nothing was lost.");
		buf_add(&v.more, run->import ? "All samples of the file are here."
					     : "All that was asked for was measured.");
	}
	jw_open(j, '{');
	jw_kv_bool(j, "good", good);
	jw_kv_str(j, "text", buf_str(&v.text));
	jw_kv_str(j, "more", buf_str(&v.more));
	jw_close(j, '}');
	buf_release(&v.text);
	buf_release(&v.more);
}

void ledger_json_words(struct json *j, const json_t *ledger, const json_t *opened,
		       const struct ledger_run *run)
{
	jw_key(j, "verdict");
	if (json_is_object(ledger))
		write_verdict(j, ledger, opened, run);
	else
		jw_null(j);
	jw_key(j, "entries");
	jw_open(j, '[');
	ledger_words(ledger, run, visit_any, j);
	jw_close(j, ']');
}
