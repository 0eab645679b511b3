/* A program to profile, for the first minute with tacho and for tests. */
#include "cmd/command.h"
#include "base/clock.h"
#include "cmd/demo/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CYCLE_SECONDS 3u
#define PAUSE_US      60000u

struct demo_options {
	unsigned seconds;
};

static const struct option_def demo_table[] = {
	{'s', "seconds", "N", OPT_UINT, offsetof(struct demo_options, seconds),
	 "work for about N seconds (default: 12), in cycles of three"},
	{},
};

struct demo {
	struct demo_text text;
	unsigned cycle;
	bool colours;
};

static unsigned slow_words(const struct demo *d)
{
	return d->cycle % 2 ? 8 : 4;
}

static uint64_t phase_parse(struct demo *d)
{
	return parse_text(&d->text, slow_words(d));
}

static uint64_t phase_compress(struct demo *d)
{
	return compress_text(&d->text);
}

static uint64_t phase_sort(struct demo *d)
{
	(void)d;
	return sort_numbers();
}

static uint64_t phase_multiply(struct demo *d)
{
	(void)d;
	return multiply_matrices();
}

static uint64_t phase_fill(struct demo *d)
{
	(void)d;
	return fill_new_memory();
}

static uint64_t phase_share(struct demo *d)
{
	(void)d;
	return share_a_lock();
}

static const struct {
	const char *name, *result; /* result: what the printed number counts */
	unsigned colour;
	uint64_t (*run)(struct demo *d);
} phases[] = {
	{"parse", "words", 36, phase_parse},
	{"sort", "numbers", 32, phase_sort},
	{"compress", "bytes", 34, phase_compress},
	{"multiply", "sum of the products", 35, phase_multiply},
	{"fill", "new pages", 33, phase_fill},
	{"share", "steps by three threads", 31, phase_share},
};

static void add_line(struct buf *out, const struct demo *d, size_t phase, uint64_t result,
		     uint64_t took_ns)
{
	if (d->colours)
		buf_addf(out, "\033[1;%um%-9s\033[0m", phases[phase].colour, phases[phase].name);
	else
		buf_addf(out, "%-9s", phases[phase].name);
	buf_addf(out, "%5.2f s  ", (double)took_ns / NS_PER_SEC);
	buf_add_grouped(out, result, 13);
	buf_addf(out, " %s\n", phases[phase].result);
}

static void warn(const struct demo *d)
{
	CLEANUP(buf_release) struct buf out = {};

	buf_addf(&out,
		 "%swarning:%s %u of 16 words are looked for one by one: see find_word_slowly\n",
		 d->colours ? "\033[1;33m" : "", d->colours ? "\033[0m" : "", slow_words(d));
	command_flush(&out, STDERR_FILENO);
}

/* Returns false if the output cannot be written. */
static bool run_cycle(struct demo *d, unsigned cycles)
{
	CLEANUP(buf_release) struct buf out = {};

	buf_addf(&out, "%scycle %u of %u%s\n", d->colours ? "\033[1m" : "", d->cycle + 1, cycles,
		 d->colours ? "\033[0m" : "");
	if (d->cycle % 2)
		warn(d);
	for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
		uint64_t begin = clock_now_ns(), result = phases[i].run(d);

		add_line(&out, d, i, result, clock_now_ns() - begin);
		if (!command_flush(&out, STDOUT_FILENO))
			return false;
		usleep(PAUSE_US);
	}
	return true;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct demo_options o = {.seconds = 12};
	struct demo d = {};
	unsigned cycles;
	int status = EXIT_DONE, used = command_options(self, &o, argc, argv, &status);

	if (used < 0)
		return status;
	if (used < argc)
		return command_fail(EXIT_USAGE, "demo: it takes no words, but there is '%s'",
				    argv[used]);
	cycles = o.seconds / CYCLE_SECONDS + (o.seconds % CYCLE_SECONDS != 0);
	/* Print colours into a pipe too: a tool that captures the output can show them. */
	d.colours = !getenv("NO_COLOR");
	demo_text_make(&d.text);
	for (; d.cycle < cycles && status == EXIT_DONE; d.cycle++)
		if (!run_cycle(&d, cycles))
			status = EXIT_FAILED;
	demo_text_free(&d.text);
	return status;
}

const struct command cmd_demo = {
	.name = "demo",
	.summary = "a program to profile, for trying things out",
	.usage = "[--seconds N]",
	.details = "Works for some seconds in ways that look different in a profile: it parses a "
		   "text, sorts, compresses, multiplies matrices in a bad and in a good order, "
		   "fills new memory, and lets three threads wait for one lock. The amount of work "
		   "is always the same. One function is worth finding: in every second cycle it "
		   "does twice as much.\n\n"
		   "A line for each phase is printed, in colours unless NO_COLOR is set.",
	.examples = "tacho record -F 999 -g -- tacho demo  # and then: tacho report, tacho flame\n"
		    "tacho run -F 999 -- tacho demo        # on the server, to be seen live\n"
		    "tacho stat -I 500 -- tacho demo       # what it does, twice a second",
	.options = demo_table,
	.run = run,
};
