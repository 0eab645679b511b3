#include "runs/ledger_words.h"

#include <string.h>

#define PPM           1e6
#define NS_PER_S      1e9
#define LIST_MAX      10     /* names in one line */
#define NAME_MAX      100    /* bytes of one name */
#define EXACT_PPM     990000 /* counted for this part of the time, a value is as good as exact */
#define FEWER_SAMPLES "Take fewer samples a second, or fewer events."

struct speaker {
	const json_t *ledger;
	const struct ledger_run *run;
	ledger_visitor *visit;
	void *ctx;
};

/* ---- numbers ---- */

/* Ledgers come from another process: a value that cannot be an amount counts as 0. */
static double number(const json_t *object, const char *name)
{
	double value = json_number_value(json_object_get(object, name));

	return value > 0 && value < 1e18 ? value : 0;
}

static const char *text(const json_t *object, const char *name)
{
	const char *s = json_string_value(json_object_get(object, name));

	return s ? s : "";
}

static void add_count(struct buf *out, double count)
{
	buf_add_grouped(out, (uint64_t)count, 0);
}

static void add_plural(struct buf *out, double count, const char *one, const char *many)
{
	add_count(out, count);
	buf_addf(out, " %s", count == 1 ? one : many);
}

static void add_share(struct buf *out, double part, double whole)
{
	double percent = whole > 0 ? 100 * part / whole : 0;

	if (percent > 0 && percent < 0.01)
		buf_add(out, "< 0.01 %");
	else
		buf_addf(out, "%.*f %%", percent >= 10 ? 1 : 2, percent);
}

static void add_time(struct buf *out, double ns)
{
	static const struct {
		double ns;
		const char *name;
	} units[] = {{1, "ns"}, {1e3, "µs"}, {1e6, "ms"}, {NS_PER_S, "s"}};
	size_t unit = 0;

	while (unit + 1 < ARRAY_LEN(units) && ns >= 999.5 * units[unit].ns)
		unit++;
	ns /= units[unit].ns;
	buf_addf(out, ns >= 999.5 ? "%.0f %s" : "%.3g %s", ns, units[unit].name);
}

static void say(const struct speaker *s, struct ledger_entry e)
{
	s->visit(s->ctx, &e);
}

/* ---- samples ---- */

static double all_samples(const json_t *l)
{
	return number(l, "samples") + number(l, "lost") + number(l, "dropped");
}

static void say_samples(const struct speaker *s)
{
	double samples = number(s->ledger, "samples");
	CLEANUP(buf_release) struct buf value = {}, sentence = {};

	add_count(&value, samples);
	if (samples > 0 && samples == all_samples(s->ledger)) {
		add_plural(&sentence, samples, "sample", "samples");
		buf_add(&sentence, ", none lost.");
	}
	say(s, (struct ledger_entry){.key = "samples",
				     .name = "Samples taken",
				     .value = buf_str(&value),
				     .about = "Samples that are in the data.",
				     .sentence = sentence.len ? buf_str(&sentence) : NULL});
}

/*
 * Says that a part of @whole samples has a defect. @e holds the key, the name, the meaning and the
 * advice; value and sentence are added here.
 * @fact ends the sentence: "3 of 9 samples were" @fact
 */
static void say_part(const struct speaker *s, struct ledger_entry e, double whole,
		     const char *words, const char *fact)
{
	double part = number(s->ledger, e.key);
	CLEANUP(buf_release) struct buf value = {}, few = {}, sentence = {};

	if (part > 0) {
		add_plural(&value, part, "sample", "samples");
		buf_add(&value, " (");
		add_share(&value, part, whole);
		buf_add(&value, ")");
		add_share(&few, part, whole);
		buf_addf(&few, " %s", words ? words : "");
		add_count(&sentence, part);
		buf_add(&sentence, " of ");
		add_plural(&sentence, whole, "sample", "samples");
		buf_addf(&sentence, " %s %s", part == 1 ? "was" : "were", fact);
		e.bad = true;
		e.words = words ? buf_str(&few) : NULL;
		e.sentence = buf_str(&sentence);
	}
	e.value = part > 0 ? buf_str(&value) : "none";
	say(s, e);
}

static void say_throttled(const struct speaker *s)
{
	double times = number(s->ledger, "throttled");
	CLEANUP(buf_release) struct buf value = {}, words = {}, sentence = {};

	add_plural(&value, times, "time", "times");
	buf_addf(&words, "slowed down %s", buf_str(&value));
	buf_addf(&sentence, "The kernel held sampling back %s, because it took too much CPU time.",
		 buf_str(&value));
	say(s, (struct ledger_entry){
		       .key = "throttled",
		       .name = "Held back",
		       .value = times > 0 ? buf_str(&value) : "never",
		       .about = "The kernel slows sampling down when it takes too much of the CPU; "
				"then samples are missing.",
		       .words = times > 0 ? buf_str(&words) : NULL,
		       .sentence = times > 0 ? buf_str(&sentence) : NULL,
		       .advice = times > 0 ? FEWER_SAMPLES : NULL,
		       .bad = times > 0});
}

static void say_sampling(const struct speaker *s)
{
	double wanted = all_samples(s->ledger), taken = number(s->ledger, "samples");

	say_samples(s);
	say_part(s,
		 (struct ledger_entry){.key = "lost",
				       .name = "Lost by the kernel",
				       .about = "Samples for which the kernel had no room, because "
						"they came faster than they were read.",
				       .advice = FEWER_SAMPLES},
		 wanted, "of samples lost", "lost: the kernel had no room for them.");
	say_part(s,
		 (struct ledger_entry){.key = "dropped",
				       .name = "Left out by tacho",
				       .about = "Samples that were read, but that tacho could not "
						"keep up with.",
				       .advice = FEWER_SAMPLES},
		 wanted, "of samples left out", "left out: tacho could not keep up with them.");
	say_throttled(s);
	say_part(s,
		 (struct ledger_entry){.key = "cut_stacks",
				       .name = "Stacks cut off",
				       .about = "Stacks so deep that their outermost callers are "
						"missing in the flame graph."},
		 taken, NULL, "taken without the outermost callers: the stack was too deep.");
}

/* ---- counters ---- */

static void say_missed(const struct speaker *s)
{
	double missed = number(s->ledger, "intervals_missed");
	double all = missed + number(s->ledger, "intervals");
	CLEANUP(buf_release) struct buf value = {}, words = {}, sentence = {};

	add_count(&value, missed);
	buf_add(&value, " of ");
	add_count(&value, all);
	add_plural(&words, missed, "reading missed", "readings missed");
	buf_addf(&sentence, "%s readings of the counters were missed.", buf_str(&value));
	say(s,
	    (struct ledger_entry){
		    .key = "intervals_missed",
		    .name = "Readings missed",
		    .value = missed > 0 ? buf_str(&value) : "none",
		    .about = "Counters are read at intervals. After a missed reading the next one "
			     "covers both, so sums are right, but short peaks are hidden.",
		    .words = missed > 0 ? buf_str(&words) : NULL,
		    .sentence = missed > 0 ? buf_str(&sentence) : NULL,
		    .advice = missed > 0 ? "Read the counters less often." : NULL,
		    .bad = missed > 0});
}

static void say_multiplexed(const struct speaker *s)
{
	const json_t *list = json_object_get(s->ledger, "multiplexed"), *one;
	CLEANUP(buf_release) struct buf value = {}, words = {}, sentence = {};
	size_t i, named = 0;
	double estimated = 0;

	json_array_foreach(list, i, one)
	{
		double ppm = number(one, "running_ppm");
		const char *event = text(one, "event");

		if (!*event)
			continue;
		estimated += ppm < EXACT_PPM;
		if (++named > LIST_MAX)
			continue;
		buf_addf(&value, "%s%.*s ", named > 1 ? ", " : "", NAME_MAX, event);
		add_share(&value, ppm, PPM);
		buf_add(&value, " of the time");
	}
	if (named > LIST_MAX)
		buf_addf(&value, " and %zu more", named - LIST_MAX);
	add_plural(&words, estimated, "counter estimated", "counters estimated");
	buf_addf(&sentence,
		 "Events shared a counter of the CPU, and their values are scaled up from the time "
		 "they counted: %s.",
		 buf_str(&value));
	say(s,
	    (struct ledger_entry){
		    .key = "multiplexed",
		    .name = "Shared counters",
		    .value = value.len ? buf_str(&value) : "none",
		    .about = "The CPU can count only a few events at once. These took turns, and "
			     "their values are scaled up from the time they really counted.",
		    .words = estimated > 0 ? buf_str(&words) : NULL,
		    .sentence = value.len ? buf_str(&sentence) : NULL,
		    .advice = estimated > 0 ? "Count fewer events at once for exact values." : NULL,
		    .bad = estimated > 0});
}

static void say_intervals(const struct speaker *s)
{
	double stretched = number(s->ledger, "interval_stretched_ns");
	double late = number(s->ledger, "interval_worst_late_ns");
	CLEANUP(buf_release) struct buf longer = {}, sentence = {}, latest = {};

	add_time(&longer, stretched);
	buf_addf(&sentence, "Reading the counters took so long that the interval became %s.",
		 buf_str(&longer));
	if (stretched > 0)
		say(s, (struct ledger_entry){.key = "interval_stretched_ns",
					     .name = "Longer interval",
					     .value = buf_str(&longer),
					     .about = "Reading the counters took so long that this "
						      "interval was used instead of the shorter "
						      "one.",
					     .sentence = buf_str(&sentence),
					     .bad = true});
	add_time(&latest, late);
	buf_add(&latest, " late");
	if (late > 0)
		say(s, (struct ledger_entry){.key = "interval_worst_late_ns",
					     .name = "Latest reading",
					     .value = buf_str(&latest),
					     .about = "How late the counters were read at worst. "
						      "Times are exact all the same."});
}

/* ---- the rest ---- */

/* Adds a run's description and the start of its UUID, by which commands and the page find it. */
static void add_run(struct buf *out, const json_t *run)
{
	const char *command = text(run, "description"), *uuid = text(run, "run");

	if (*command && *uuid)
		buf_addf(out, "%.*s (%.8s)", NAME_MAX, command, uuid);
	else
		buf_addf(out, "%.*s", NAME_MAX, *command ? command : *uuid ? uuid : "unknown");
}

static void say_overlap(const struct speaker *s)
{
	const json_t *list = json_object_get(s->ledger, "overlap"), *one;
	size_t count = json_array_size(list), i;
	CLEANUP(buf_release) struct buf value = {}, sentence = {};

	json_array_foreach(list, i, one)
	{
		if (i == LIST_MAX)
			buf_addf(&value, " and %zu more", count - i);
		if (i >= LIST_MAX)
			break;
		buf_add(&value, i ? ", " : "");
		add_run(&value, one);
	}
	if (count == 1)
		buf_add(&sentence, "Another run was");
	else
		buf_addf(&sentence, "%zu other runs were", count);
	buf_addf(&sentence, " measured at the same time: %s.", buf_str(&value));
	say(s,
	    (struct ledger_entry){
		    .key = "overlap",
		    .name = "Measured at the same time",
		    .value = count ? buf_str(&value) : "nothing else",
		    .about = "Runs that were measured at the same time share CPUs and caches with "
			     "this one and may slow it down.",
		    .words = count ? "ran beside another" : NULL,
		    .sentence = count ? buf_str(&sentence) : NULL,
		    .advice = count ? "Run it alone for figures to compare." : NULL,
		    .bad = count > 0});
}

static void say_bytes(const struct speaker *s)
{
	double dropped = number(s->ledger, "output_dropped_bytes");
	double spilled = number(s->ledger, "spilled_bytes");
	CLEANUP(buf_release) struct buf value = {}, sentence = {}, waited = {};

	buf_add_size(&value, (uint64_t)dropped);
	buf_addf(&sentence,
		 "%s of output are not kept: the program printed more than the server stores for a "
		 "run.",
		 buf_str(&value));
	if (dropped > 0)
		say(s, (struct ledger_entry){.key = "output_dropped_bytes",
					     .name = "Output not kept",
					     .value = buf_str(&value),
					     .about = "The program printed more than is kept.",
					     .sentence = buf_str(&sentence),
					     .bad = true});
	buf_add_size(&waited, (uint64_t)spilled);
	if (spilled > 0)
		say(s, (struct ledger_entry){.key = "spilled_bytes",
					     .name = "Waited on the disk",
					     .value = buf_str(&waited),
					     .about = "Data that came faster than they could be "
						      "stored. Nothing of them is lost."});
}

static void say_cost(const struct speaker *s)
{
	double ns = number(s->ledger, "collector_cpu_ns");
	CLEANUP(buf_release) struct buf value = {}, sentence = {};

	if (ns <= 0)
		return;
	add_time(&value, ns);
	buf_add(&value, " of CPU time");
	if (s->run->seconds > 0 && !s->run->import) {
		buf_add(&value, ", ");
		add_share(&value, ns / NS_PER_S, s->run->seconds);
		buf_add(&value, " of one CPU");
	}
	buf_addf(&sentence, "%s used %s.", s->run->import ? "Reading the file" : "tacho itself",
		 buf_str(&value));
	say(s, (struct ledger_entry){
		       .key = "collector_cpu_ns",
		       .name = s->run->import ? "Reading the file" : "tacho itself",
		       .value = buf_str(&value),
		       .about = s->run->import
					? "What tacho used to read the file; the recording itself "
					  "cost what its tool took."
					: "What measuring took. It runs beside the program, on "
					  "whatever CPU is free.",
		       .sentence = buf_str(&sentence)});
}

void ledger_words(const json_t *ledger, const struct ledger_run *run, ledger_visitor *visit,
		  void *ctx)
{
	const struct speaker s = {ledger, run, visit, ctx};

	if (!json_is_object(ledger))
		return;
	if (all_samples(ledger) > 0)
		say_sampling(&s);
	if (number(ledger, "intervals") + number(ledger, "intervals_missed") > 0) {
		say_missed(&s);
		say_multiplexed(&s);
		say_intervals(&s);
	}
	say_overlap(&s);
	say_bytes(&s);
	say_cost(&s);
}
