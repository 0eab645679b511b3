#include "cmd/top/top.h"
#include "base/clock.h"
#include "base/number.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/terminal/screen.h"
#include "collect/workload.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define FREQ_HZ       999 /* enough samples for a window of ten seconds, at little cost */
#define DELAY_S       1.0
#define WINDOW_S      10.0
#define FIRST_LOOK_NS (400 * NS_PER_MSEC)
/* Rates need at least this much time; keys cause looks that are closer together. */
#define RATE_NS_MIN  (450 * NS_PER_MSEC)
#define LEAST_PCT    0.01
#define ROWS_OF_TEXT 20
#define SAVED_NS     (60 * NS_PER_SEC)
#define SAVED_BYTES  ((uint64_t)64 << 20)
#define SAVED_NAME   "tacho-top.data"

/* ---- options ---- */

#define AT(member)     offsetof(struct top_options, member)
#define RECORD(member) offsetof(struct top_options, record.member)

static const struct option_def table_of_options[] = {
	{0, NULL, NULL, OPT_HEADING, 0, "Where"},
	{'a', "all-cpus", NULL, OPT_FLAG, RECORD(where.all_cpus),
	 "the whole system; the default without -p, -t or -u"},
	{'C', "cpu", "LIST", OPT_STR, RECORD(where.cpus), "only these CPUs (0-3,8)"},
	{'p', "pid", "PID", OPT_STR, RECORD(where.pids),
	 "running processes, with all their threads"},
	{'t', "tid", "TID", OPT_STR, RECORD(where.tids), "running threads"},
	{'u', "uid", "USER", OPT_STR, RECORD(where.user), "all processes of a user"},
	{'G', "cgroup", "NAME", OPT_STR, RECORD(where.cgroups), "only tasks in these cgroups"},
	{'i', "no-inherit", NULL, OPT_FLAG, RECORD(where.no_inherit),
	 "do not watch child processes"},
	{0, NULL, NULL, OPT_HEADING, 0, "What"},
	{'e', "event", "EVENT", OPT_ORDERED, RECORD(events),
	 "events, separated by commas; see tacho list. The key e goes to the next"},
	{'F', "freq", "HZ", OPT_STR, RECORD(freq), "samples a second, or max; 999 without it"},
	{'c', "count", "N", OPT_STR, RECORD(period), "a sample every N events instead"},
	{'g', NULL, NULL, OPT_FLAG, RECORD(calls),
	 "call stacks, by frame pointers: totals, and callers of each line"},
	{0, "call-graph", "MODE", OPT_STR, RECORD(call_graph),
	 "call stacks: fp, dwarf (with a copy of the stack), dwarf,SIZE or lbr"},
	{0, "max-stack", "N", OPT_UINT, RECORD(max_stack), "at most N frames of a stack"},
	{'m', "mmap-pages", "SIZE", OPT_STR, RECORD(ring),
	 "buffer of each CPU: pages, or a size (512K, 8M)"},
	{0, NULL, NULL, OPT_HEADING, 0, "What is shown"},
	{'d', "delay", "SECONDS", OPT_STR, AT(delay), "look every SECONDS; 1 without it"},
	{'w', "window", "SECONDS", OPT_STR, AT(window),
	 "samples of the last SECONDS (up to 60), or all; 10 without it"},
	{'s', "sort", "KEYS", OPT_STR, AT(sort),
	 "what lines are told apart by: pid, comm, dso, sym; comm,dso,sym without it"},
	{'K', "hide-kernel-symbols", NULL, OPT_FLAG, AT(no_kernel), "without the kernel"},
	{'U', "hide-user-symbols", NULL, OPT_FLAG, AT(no_user), "only the kernel"},
	{0, "idle", NULL, OPT_FLAG, AT(idle), "with CPUs that have nothing to do"},
	{0, "percent-limit", "PCT", OPT_STR, AT(percent_limit),
	 "no lines with less than this; 0.01 without it"},
	{0, NULL, NULL, OPT_HEADING, 0, "Output"},
	{0, "stdio", NULL, OPT_FLAG, AT(stdio),
	 "tables as text, one after the other; this is so without a terminal"},
	{'E', "entries", "N", OPT_UINT, AT(entries), "lines of such a table, 0: 20"},
	{0, "updates", "N", OPT_UINT, AT(updates), "end after N of them"},
	{},
};

static int parse_seconds(const char *option, const char *text, double least, double most,
			 double *ret, struct err *e)
{
	if (!text || (parse_double(text, ret) && *ret >= least && *ret <= most))
		return 0;
	return err_set(e, EINVAL, "%s takes a number of seconds from %g to %g, not '%s'", option,
		       least, most, text);
}

static int choose_rows(struct top_session *s, struct err *e)
{
	static const struct {
		const char *name;
		unsigned bit;
	} keys[] = {{"pid", TOP_BY_PID},
		    {"comm", TOP_BY_COMM},
		    {"dso", TOP_BY_DSO},
		    {"sym", TOP_BY_SYM},
		    {"symbol", TOP_BY_SYM}};
	CLEANUP(strvec_release) strvec words = {};

	text_split(s->o.sort ? s->o.sort : "comm,dso,sym", ",", &words);
	vec_each(&words, word) {
		unsigned bit = 0;

		for (size_t i = 0; i < ARRAY_LEN(keys); i++)
			if (!strcmp(*word, keys[i].name))
				bit = keys[i].bit;
		if (!bit)
			return err_set(e, EINVAL, "-s takes pid, comm, dso and sym, not '%s'",
				       *word);
		s->question.by |= bit;
	}
	if (!s->question.by)
		return err_set(e, EINVAL, "-s takes at least one of pid, comm, dso and sym");
	return 0;
}

static int choose_view(struct top_session *s, struct err *e)
{
	double delay = DELAY_S, window = WINDOW_S;
	bool all = s->o.window && !strcmp(s->o.window, "all");
	int r = parse_seconds("-d", s->o.delay, 0.1, 3600, &delay, e);

	if (r == 0 && !all)
		r = parse_seconds("-w", s->o.window, 0.5, 60, &window, e);
	s->least_pct = LEAST_PCT;
	if (r == 0 && s->o.percent_limit &&
	    (!parse_double(s->o.percent_limit, &s->least_pct) || s->least_pct < 0 ||
	     s->least_pct > 100))
		r = err_set(e, EINVAL, "--percent-limit takes 0 to 100, not '%s'",
			    s->o.percent_limit);
	if (r == 0 && s->o.no_kernel && s->o.no_user)
		r = err_set(e, EINVAL, "choose one: without the kernel (-K) or only that (-U)");
	s->delay_ns = (uint64_t)(delay * NS_PER_SEC);
	s->window_ns = (uint64_t)(window * NS_PER_SEC);
	s->question.all = all;
	s->question.no_kernel = s->o.no_kernel;
	s->question.no_user = s->o.no_user;
	s->question.idle = s->o.idle;
	return r < 0 ? r : choose_rows(s, e);
}

/* ---- what the collector says ---- */

static void on_started(void *ctx, unsigned events, unsigned rings, uint64_t ring_bytes)
{
	(void)events;
	(void)rings;
	(void)ring_bytes;
	((struct top_session *)ctx)->record.started = true;
}

static bool wants_screen(const struct top_session *s)
{
	return !s->o.stdio && isatty(STDOUT_FILENO);
}

static void on_note(void *ctx, const char *text)
{
	struct top_session *s = ctx;

	/* The screen will hide what is printed before it opens: show the note there too. */
	if (wants_screen(s))
		top_say(s, "%s", text);
	if (!s->screen)
		record_note(&s->record, "%s", text);
}

static void on_switched(void *ctx, const char *path)
{
	struct top_session *s = ctx;

	top_say(s, "wrote '%s': tacho report -i %s", path, path);
}

/* ---- looking ---- */

/* CPU time of this process and of the collector. */
static uint64_t own_cpu_ns(const struct top_session *s)
{
	struct timespec t;
	uint64_t sum = 0;
	clockid_t clock;

	if (!clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
		sum += (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
	if (s->recording && !clock_getcpuclockid(recording_collector(s->live.recording), &clock) &&
	    !clock_gettime(clock, &t))
		sum += (uint64_t)t.tv_sec * NS_PER_SEC + (uint64_t)t.tv_nsec;
	return sum;
}

/* Samples arrive in slices, so the rate is measured between the ends of two slices. */
static void take_rate(struct top_figures *f, const struct top_feed *feed)
{
	uint64_t passed = feed->last_ns - f->samples_ns;

	if (feed->last_ns <= f->samples_ns || passed < RATE_NS_MIN)
		return;
	f->samples_per_s = (double)(feed->samples - f->samples) * NS_PER_SEC / (double)passed;
	f->samples = feed->samples;
	f->samples_ns = feed->last_ns;
}

static void take_own_cpu(struct top_session *s)
{
	struct top_figures *f = &s->figures;
	uint64_t now = clock_now_ns(), used = own_cpu_ns(s), passed = now - f->own_cpu_at_ns;

	if (passed < RATE_NS_MIN || !s->recording)
		return;
	f->own_cpu_pct = 100.0 * (double)(used - f->own_cpu_ns) / (double)passed;
	f->own_cpu_ns = used;
	f->own_cpu_at_ns = now;
}

static void take_figures(struct top_session *s)
{
	const struct top_feed *feed = &s->feed;
	double window = (double)s->window_ns / NS_PER_SEC, since;

	take_rate(&s->figures, feed);
	take_own_cpu(s);
	since = (double)(feed->last_ns - s->start_ns) / NS_PER_SEC;
	if (!feed->last_ns)
		since = 0;
	s->figures.window_s = s->question.all || since < window ? since : window;
	s->figures.lost = feed->lost;
}

/* Unless the user chose an event, shows the one with most samples so far. It stays while it has
 * samples, so that the table does not change under the reader. */
static void choose_event(struct top_session *s)
{
	const struct top_table *t = &s->feed.table;
	CLEANUP(free_ptr) uint64_t *samples = NULL;
	size_t events = s->feed.events.len;

	if (s->event_chosen || s->view.all.samples || !events)
		return;
	samples = xcalloc(events, sizeof(*samples));
	vec_each(&t->cells, cell)
		if (cell->event < events)
			samples[cell->event] += cell->all.samples;
	s->question.event = events_busiest(samples, events);
	top_view_build(&s->view, t, &s->question);
}

void top_look(struct top_session *s)
{
	pthread_mutex_lock(&s->feed.lock);
	top_view_build(&s->view, &s->feed.table, &s->question);
	choose_event(s);
	s->generation = s->feed.table.generation;
	take_figures(s);
	if (s->screen)
		top_make_lines(s);
	pthread_mutex_unlock(&s->feed.lock);
}

static void print_table(struct top_session *s)
{
	CLEANUP(buf_release) struct buf out = {};
	struct term term = term_of(STDOUT_FILENO);
	size_t rows = s->o.entries ? s->o.entries : ROWS_OF_TEXT;

	if (term.tty && !s->o.entries && term.height > 5)
		rows = term.height - 4;
	pthread_mutex_lock(&s->feed.lock);
	if (s->updates > 1)
		buf_add_char(&out, '\n');
	top_print(s, rows, &out);
	pthread_mutex_unlock(&s->feed.lock);
	if (!command_flush_on(&out, STDOUT_FILENO))
		s->quit = true;
}

static void update(struct top_session *s)
{
	top_look(s);
	s->updates++;
	if (s->screen)
		top_draw(s);
	else
		print_table(s);
	if (s->o.updates && s->updates >= s->o.updates)
		s->quit = true;
}

/* ---- the run ---- */

static void open_screen(struct top_session *s)
{
	struct err e = {};

	if (screen_open(&e) == 0)
		s->screen = true;
	else
		record_note(&s->record, "%s: tables are printed instead", e.text);
}

/* Takes the result of a recording that has ended. */
static void take_end(struct top_session *s)
{
	bool stopped = recording_stops(s->live.recording);

	s->result = recording_finish(s->live.recording, &s->summary, &s->error);
	s->recording = false;
	/* The recording reads signals no more: from now on they end the process. */
	sigprocmask(SIG_SETMASK, &s->signals_before, NULL);
	if (stopped) {
		/* The signal was meant for us and we ended the workload: ignore its status. */
		s->summary.has_workload = false;
		s->result = 0;
	}
	if (s->result < 0 || stopped)
		s->quit = true;
}

static void look_at_feed(struct top_session *s)
{
	pthread_mutex_lock(&s->feed.lock);
	s->fed = s->feed.ended;
	s->has_data = s->feed.first_ns;
	if (s->fed && s->recording && s->feed.error.code) {
		s->error = s->feed.error;
		s->result = -s->error.code;
		s->quit = true;
	}
	pthread_mutex_unlock(&s->feed.lock);
}

static int milliseconds_left(const struct top_session *s)
{
	uint64_t now = clock_now_ns();

	if ((!s->recording && !s->fed) || (!s->screen && !s->has_data))
		return 20;
	return s->next_ns > now ? (int)((s->next_ns - now) / NS_PER_MSEC) + 1 : 0;
}

static void wait_for_something(struct top_session *s, int timeout_ms)
{
	struct pollfd fds[RECORDING_FDS + 1];
	nfds_t count = 0;

	if (s->recording) {
		recording_fds(s->live.recording, fds);
		count = RECORDING_FDS;
	}
	if (s->screen)
		fds[count++] = (struct pollfd){.fd = screen_fd(), .events = POLLIN};
	poll(fds, count, timeout_ms);
	if (s->recording && !recording_turn(s->live.recording))
		take_end(s);
	else if (s->recording && recording_stops(s->live.recording))
		s->quit = true;
	if (s->screen)
		top_handle_keys(s);
}

static void watch(struct top_session *s)
{
	s->start_ns = s->figures.samples_ns = s->figures.own_cpu_at_ns = clock_now_ns();
	s->figures.own_cpu_ns = own_cpu_ns(s);
	s->next_ns = clock_now_ns() + MIN(s->delay_ns, s->screen ? FIRST_LOOK_NS : s->delay_ns);
	while (!s->quit) {
		uint64_t now;
		bool last;

		wait_for_something(s, milliseconds_left(s));
		look_at_feed(s);
		last = !s->screen && !s->recording && s->fed;
		now = clock_now_ns();
		/* Do not print a first table before there are samples. */
		if (s->quit || (!last && (now < s->next_ns || (!s->screen && !s->has_data))))
			continue;
		update(s);
		s->quit |= last;
		s->next_ns += s->delay_ns;
		if (s->next_ns <= now)
			s->next_ns = now + s->delay_ns;
	}
}

static int start(struct top_session *s, struct err *e)
{
	struct recording_plan *plan = &s->record.plan;
	struct top_feed_options feed = {
		.resolve = {.leaf_only =
				    !sampling_has_calls(&plan->sampling, plan->events, CALLS_NONE),
			    .max_stack = s->o.record.max_stack,
			    .no_inlines = true,
			    .threads = 1,
			    .symbols = {.no_debuginfod = true}},
		.roots = &s->record.catalog.roots,
		.tasks = plan->target.tasks.items,
		.task_count = plan->target.tasks.len,
		.window_ns = s->window_ns,
	};
	int r;

	plan->output.keep_ns = SAVED_NS;
	plan->output.keep_bytes = SAVED_BYTES;
	plan->no_terminal = wants_screen(s);
	plan->workload.to_stderr = true;
	/* Nothing is left on the disk but what the user saves. */
	plan->no_keep = plan->no_jvm = true;
	plan->stop_now = true;
	plan->on_started = on_started;
	plan->on_note = on_note;
	plan->on_switched = on_switched;
	plan->ctx = s;
	sigprocmask(SIG_SETMASK, NULL, &s->signals_before);
	r = live_start(&s->live, plan, e);
	if (r < 0)
		return r;
	s->recording = true;
	r = top_feed_start(&s->feed, s->live.data_fd, &feed, e);
	s->feeding = r == 0;
	return r;
}

static void shut_down(struct top_session *s)
{
	struct record_summary unused;

	if (s->recording)
		recording_stop(s->live.recording, true);
	if (s->feeding)
		top_feed_stop(&s->feed);
	if (s->recording)
		recording_finish(s->live.recording, &unused, NULL);
	s->recording = false;
	if (s->screen)
		screen_close();
	s->screen = false;
	if (s->feeding)
		top_feed_release(&s->feed);
}

static int top(struct top_session *s, struct err *e)
{
	int r = record_make_plan(&s->record, e);

	if (r < 0)
		return r;
	if (!wants_screen(s))
		record_note_clock(&s->record, "shown");
	s->question.chains =
		sampling_has_calls(&s->record.plan.sampling, &s->record.events, CALLS_NONE);
	r = start(s, e);
	if (r < 0) {
		shut_down(s);
		return r;
	}
	while (s->recording && !s->record.started && !s->quit)
		wait_for_something(s, -1);
	if (s->recording && !s->quit && wants_screen(s))
		open_screen(s);
	watch(s);
	shut_down(s);
	if (s->result < 0) {
		*e = s->error;
		s->record.summary = s->summary;
		record_explain(&s->record, e);
	}
	return s->result;
}

static int exit_status(const struct top_session *s, int r, const struct err *e)
{
	struct workload w = {.wait_status = s->summary.wait_status};
	bool workload = s->record.plan.argv;

	if (r < 0 && s->summary.exec_failed)
		return e->code == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
	if (r < 0)
		return workload ? EXIT_TACHO_FAILED : EXIT_FAILED;
	return workload && s->summary.has_workload ? workload_exit_status(&w) : EXIT_DONE;
}

static int run_top(const struct command *self, int argc, char **argv)
{
	struct top_session s = {.record = {.name = "top", .default_hz = FREQ_HZ}};
	int status = 0, used = command_options(self, &s.o, argc, argv, &status), r;
	struct err e = {};

	if (used < 0)
		return status;
	if (choose_view(&s, &e) < 0)
		return command_fail(EXIT_USAGE, "top: %s", e.text);
	s.record.o = s.o.record;
	s.record.o.output = SAVED_NAME;
	catalog_init(&s.record.catalog);
	record_keep_command_line(&s.record, self->name, argc, argv);
	s.record.plan.argv = used < argc ? argv + used : NULL;
	s.record.term = term_of(STDERR_FILENO);
	r = top(&s, &e);
	if (r < 0)
		command_fail(0, "top: %s", e.text);
	status = exit_status(&s, r, &e);
	top_screen_release(&s);
	record_release(&s.record);
	return status;
}

const struct command cmd_top = {
	.name = "top",
	.summary = "show where the CPU goes, live",
	.usage = "[OPTIONS]\n[OPTIONS] [-a | -p PID | -t TID | -u USER]\n[OPTIONS] [--] COMMAND "
		 "[ARG…]",
	.details =
		"Takes samples of the whole system, of processes or of a command, and shows where "
		"they were, a line for each function of each program, once a second. Shares are "
		"those of the last ten seconds: exactly the samples of that time, not a mean that "
		"fades; -w or the key w chooses another time, up to a minute, or all since the "
		"start.\n\n"
		"Keys: the arrows, Page Up and Page Down, Home and End move; Enter shows the "
		"callers of a line (with -g); s sorts by self, total, process, library or "
		"function; v makes lines of functions, processes or libraries; / shows only lines "
		"that match a regular expression; z zooms into the process or library of the line, "
		"and Escape goes back; K and U leave out the kernel or all else; i shows idle "
		"CPUs, too; e goes to the "
		"next event; w changes the time that is looked at, + and - how often; f or Space "
		"freezes the screen; S saves the last minute as perf.data (for tacho report, flame "
		"and perf), or the table as text, or folded stacks; h helps; q quits.\n\n"
		"Without a terminal, with TERM=dumb or --stdio, tables are printed one after the "
		"other.\n\n"
		"A command that is started has no terminal while the screen is in use: what it "
		"would write there is thrown away, unless it is redirected. It is ended by q; if "
		"it ends by itself, the last samples stay on the screen.\n\n"
		"The header tells how many samples were lost because the kernel's buffers or tacho "
		"did not keep up, and how much of a CPU tacho takes itself. Names come from what "
		"is on this machine; nothing is downloaded.",
	.examples = "  tacho top\n"
		    "  tacho top -g -p 1234\n"
		    "  tacho top -e page-faults -c 1 -s comm,pid\n"
		    "  tacho top --stdio --updates 3 -E 10   # three tables of ten lines\n"
		    "  tacho top -F 4000 -- make >/dev/null",
	.exit_status = "0; with a COMMAND that ended by itself its status, 126 or 127 if it could "
		       "not be executed or found, 125 if tacho failed; 1 if tacho failed without "
		       "one; 2 for wrong usage.",
	.options = table_of_options,
	.run = run_top,
};
