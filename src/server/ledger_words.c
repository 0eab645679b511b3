#include "server/ledger_words.h"

#define NS_PER_S 1e9
#define PPM_PCT  1e4

struct speaker {
	ledger_sentence *say;
	void *ctx;
};

static void say(const struct speaker *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void say(const struct speaker *s, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf line = {};
	va_list ap;

	va_start(ap, fmt);
	buf_addv(&line, fmt, ap);
	va_end(ap);
	s->say(s->ctx, buf_str(&line));
}

static double number(const json_t *object, const char *name)
{
	return json_number_value(json_object_get(object, name));
}

static const char *text(const json_t *value)
{
	const char *s = json_string_value(value);

	return s ? s : "";
}

static void say_samples(const struct speaker *s, const json_t *l)
{
	double samples = number(l, "samples"), lost = number(l, "lost") + number(l, "dropped");

	if (lost > 0)
		say(s, "%.0f of %.0f samples were lost", lost, samples + lost);
	else if (samples > 0)
		say(s, "%.0f samples, none lost", samples);
	if (number(l, "throttled") > 0)
		say(s, "the kernel held sampling back %.0f times, because it took too long",
		    number(l, "throttled"));
}

static void say_counters(const struct speaker *s, const json_t *l)
{
	double missed = number(l, "intervals_missed");
	const json_t *one;
	size_t i;

	if (missed > 0)
		say(s, "%.0f of %.0f readings of the counters were missed", missed,
		    missed + number(l, "intervals"));
	if (number(l, "interval_stretched_ns") > 0)
		say(s, "reading the counters took so long that the interval became %.3g ms",
		    number(l, "interval_stretched_ns") / 1e6);
	json_array_foreach(json_object_get(l, "multiplexed"), i, one)
		say(s, "%s was counted %.1f %% of the time; the rest is extrapolated",
		    text(json_object_get(one, "event")), number(one, "running_ppm") / PPM_PCT);
}

void ledger_words(const json_t *l, ledger_sentence *sentence, void *ctx)
{
	struct speaker s = {sentence, ctx};
	const json_t *one;
	size_t i;

	if (!json_is_object(l))
		return;
	say_samples(&s, l);
	say_counters(&s, l);
	json_array_foreach(json_object_get(l, "overlap"), i, one)
		say(&s, "another run was measured meanwhile: %s",
		    text(json_is_string(one) ? one : json_object_get(one, "uuid")));
	if (number(l, "output_dropped_bytes") > 0)
		say(&s, "%.0f bytes of what it printed are not kept",
		    number(l, "output_dropped_bytes"));
	if (number(l, "collector_cpu_ns") > 0)
		say(&s, "tacho itself used %.2f s of CPU time",
		    number(l, "collector_cpu_ns") / NS_PER_S);
}
