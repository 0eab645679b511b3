/*
 * Loads the profile for a command from perf.data (file, pipe, directory), folded stacks or the text
 * of perf script; the format is detected from the content. The options that select samples and
 * locate symbols are the same for all commands:
 *
 *	struct my_options { struct profile_options profile; … };
 *	static const struct option_def my_table[] = {
 *		PROFILE_FILE_ROW(struct my_options, profile),
 *		PROFILE_ROWS(struct my_options, profile),
 *		…
 *	};
 *
 *	if (profile_options_check(&o.profile, &resolve, &e) < 0) …  // wrong usage
 *	resolve.lines = true;                                        // what this command needs
 *	if (profile_input_load(o.profile.input, &resolve, &in, &e) < 0) …
 *	… use in.profile …
 *	status = profile_input_end(&in, "report");                   // prints warnings, frees
 *	profile_options_release(&o.profile, &resolve);
 *
 * One thread. Loading shows a progress bar.
 */
#ifndef TACHO_CMD_INPUT_PROFILE_INPUT_H
#define TACHO_CMD_INPUT_PROFILE_INPUT_H

#include "base/option.h"
#include "resolve/resolve.h"

/* What the user typed. */
struct profile_options {
	const char *input; /* NULL: see cmd/input/default_input.h */
	const char *time, *comms, *pids, *tids, *cpus, *events;
	const char *sum; /* a field of tracepoints */
	const char *symfs, *kallsyms, *vmlinux;
	option_list source_map;
	unsigned max_stack;
	bool no_inline, no_demangle;
	bool ignored; /* set by options that have no effect */
};

#define PROFILE_FILE_ROW(type, member)                                                             \
	{                                                                                          \
		'i', "input", "FILE", OPT_STR,                                                     \
			offsetof(type, member) + offsetof(struct profile_options, input),          \
			"perf.data, folded stacks or text of perf script (default: a pipe on "     \
			"standard input, else perf.data; -: standard input)",                      \
	}

#define PROFILE_ROW(type, member, letter, name, arg, kind, field, help)                            \
	{                                                                                          \
		letter, name, arg, kind,                                                           \
			offsetof(type, member) + offsetof(struct profile_options, field), help,    \
	}

/* An option of perf that is accepted without effect, because tacho always behaves that way. */
#define PROFILE_IGNORED_ROW(type, member, letter, name)                                            \
	PROFILE_ROW(type, member, letter, name, NULL, OPT_FLAG, ignored, NULL)

/* Two headings with their options, for the end of a table. -c and -C mean the same as in perf. */
#define PROFILE_ROWS(type, member)                                                                 \
	{.kind = OPT_HEADING, .help = "Which samples"},                                            \
		PROFILE_ROW(type, member, 0, "event", "EVENT", OPT_STR, events,                    \
			    "only of this event (several: a,b)"),                                  \
		PROFILE_ROW(type, member, 0, "time", "FROM,TO", OPT_STR, time,                     \
			    "only of this time, in seconds of the recording's clock; or shares: "  \
			    "10%-20%"),                                                            \
		PROFILE_ROW(type, member, 'c', "comms", "NAMES", OPT_STR, comms,                   \
			    "only of threads with one of these names"),                            \
		PROFILE_ROW(type, member, 0, "pid", "PIDS", OPT_STR, pids,                         \
			    "only of these processes"),                                            \
		PROFILE_ROW(type, member, 0, "tid", "TIDS", OPT_STR, tids,                         \
			    "only of these threads"),                                              \
		PROFILE_ROW(type, member, 'C', "cpu", "CPUS", OPT_STR, cpus,                       \
			    "only of these CPUs: 0-3,8"),                                          \
		PROFILE_ROW(type, member, 0, "sum", "FIELD", OPT_STR, sum,                         \
			    "weigh samples by this field of their tracepoint instead of their "    \
			    "period: bytes_req, kmem:kmalloc.bytes_req"),                          \
		{.kind = OPT_HEADING, .help = "Stacks and names"},                                 \
		PROFILE_ROW(type, member, 0, "max-stack", "N", OPT_UINT, max_stack,                \
			    "at most this many frames, the innermost ones (default: 127)"),        \
		PROFILE_ROW(type, member, 0, "no-inline", NULL, OPT_FLAG, no_inline,               \
			    "do not show inlined functions, which is faster"),                     \
		PROFILE_ROW(type, member, 0, "no-demangle", NULL, OPT_FLAG, no_demangle,           \
			    "names as the linker has them"),                                       \
		PROFILE_ROW(type, member, 0, "symfs", "DIR", OPT_STR, symfs,                       \
			    "look for programs and libraries below this directory"),               \
		PROFILE_ROW(type, member, 'k', "vmlinux", "FILE", OPT_STR, vmlinux,                \
			    "the kernel that was recorded, with its symbols"),                     \
		PROFILE_ROW(type, member, 0, "kallsyms", "FILE", OPT_STR, kallsyms,                \
			    "its symbols, as /proc/kallsyms has them"),                            \
		PROFILE_ROW(type, member, 0, "source-map", "FROM=TO", OPT_LIST, source_map,        \
			    "source files that begin with FROM are below TO now"),                 \
		PROFILE_IGNORED_ROW(type, member, 'f', "force"),                                   \
		PROFILE_IGNORED_ROW(type, member, 'v', "verbose"),                                 \
		PROFILE_IGNORED_ROW(type, member, 0, "inline"),                                    \
		PROFILE_IGNORED_ROW(type, member, 0, "demangle")

/* Checks what can be checked before reading and fills *@ret. Fails only for wrong usage. */
int profile_options_check(const struct profile_options *o, struct resolve_options *ret,
			  struct err *e);
/* Returns -EINVAL if a file or directory that the user gave for symbols cannot be read. */
int symbol_places_check(const struct symbol_options *o, struct err *e);
void profile_options_release(struct profile_options *o, struct resolve_options *resolve);

enum profile_source { PROFILE_PERFDATA, PROFILE_FOLDED, PROFILE_PERF_SCRIPT };

struct profile_input {
	char *path; /* as shown in messages */
	enum profile_source source;
	bool once; /* standard input or a pipe: it cannot be read a second time */
	struct profile profile;
	struct resolve_report report; /* for text: only the counts that it has */
	struct sample_filter filter;  /* as the user gave it */
	struct perfdata *file;        /* perf.data only, else NULL: the machine, the events */
	struct modules *modules;      /* perf.data only, else NULL: code and lines */
	bool differential;            /* folded text with two counts: events "before" and "after" */
	uint64_t bad_lines, first_bad_line; /* text: lines that were left out */
	bool damaged;                       /* the profile holds what could be read */
	char damage[1024];
};

/*
 * @path NULL: see cmd/input/default_input.h. Fails if nothing could be read. A damaged file fails
 * only in profile_input_end(), after the command has shown the readable part.
 */
int profile_input_load(const char *path, const struct resolve_options *o, struct profile_input *ret,
		       struct err *e);

/*
 * Returns the event that is shown if none is named: that with most samples in the whole input, also
 * where only a part of it was read, so that all parts are about the same event. If the part has no
 * samples of it, the event with most samples there.
 */
event_id profile_input_event(const struct profile_input *in);

/*
 * Tells which event was chosen so if there are several, or if the part has no samples of the one that other
 * parts show. @shows: "flame: shows"; @others: how others are chosen.
 */
void profile_input_tell_event(const struct profile_input *in, event_id shown, const char *shows,
			      const char *others);
/* The name of an event; NULL if the input does not name it, as folded stacks. */
const char *profile_input_event_name(const struct profile_input *in, event_id event);

/* Returns -ENODATA; @e says that there are no samples, or which options left none. */
int profile_input_nothing(const struct profile_input *in, struct err *e);

/* Prints warnings on stderr (losses, missing names, damage), once each. */
void profile_input_warn(const struct profile_input *in, const char *command);
void profile_input_release(struct profile_input *in);

/* Warns, releases, and returns EXIT_FAILED for a damaged file, else EXIT_DONE. */
int profile_input_end(struct profile_input *in, const char *command);

/* profile_filter.c: the sample filter for text. */
struct text_sample;
int text_filter_make(struct filter *f, const struct sample_filter *o, struct err *e);
bool text_filter_wants_event(void *ctx, const char *name);
bool text_filter_wants(void *ctx, const struct text_sample *sample); /* ctx: struct filter */

#endif
