#include "cmd/server/client_options.h"

#define SERVER_ROWS(type)                                                                          \
	{0, NULL, NULL, OPT_HEADING, 0, "Which server"},                                           \
		{0,                                                                                \
		 "server",                                                                         \
		 "URL",                                                                            \
		 OPT_STR,                                                                          \
		 offsetof(type, server.server),                                                    \
		 "the server, also with its ?token=, or the data directory of a server of one's "  \
		 "own; $TACHO_SERVER. Without it the server of one's own"},                        \
		{0,                                                                                \
		 "token-file",                                                                     \
		 "FILE",                                                                           \
		 OPT_STR,                                                                          \
		 offsetof(type, server.token_file),                                                \
		 "a file with the token; $TACHO_TOKEN, which is for the server of $TACHO_SERVER "  \
		 "if there is one. A server of one's own needs none: it is asked through the "     \
		 "socket in its data directory"},                                                  \
	{                                                                                          \
		0, "ca", "FILE", OPT_STR, offsetof(type, server.ca),                               \
			"certificates that a server with TLS is trusted by; the system's "         \
			"without it"                                                               \
	}

#define WHICH_RUN                                                                                  \
	"A run is named by its id, by the beginning of it, or by the word last: the newest one."

/* ---- run ---- */

#define AT(member) offsetof(struct client_run_options, member)

static const struct option_def run_table[] = {
	{0, NULL, NULL, OPT_HEADING, 0, "What to measure"},
	{0, "tool", "TOOL", OPT_STR, AT(tool),
	 "stat: counters over time; record: samples; both: the default"},
	{'e', "event", "EVENT", OPT_LIST, AT(events),
	 "events that are counted; with --tool record those that are sampled"},
	{'s', "sample", "EVENT", OPT_LIST, AT(samples), "events that are sampled"},
	{'I', "interval", "SECONDS", OPT_STR, AT(interval),
	 "counters are read this often; 0.1 without it"},
	{'F', "freq", "HZ", OPT_STR, AT(freq), "samples a second; 999 without it"},
	{'c', "count", "N", OPT_STR, AT(period), "a sample every N events instead"},
	{'g', NULL, NULL, OPT_FLAG, AT(calls), "call stacks by frame pointers; the default"},
	{0, "call-graph", "MODE", OPT_STR, AT(call_graph),
	 "call stacks: fp, dwarf (with a copy of the stack), dwarf,SIZE, lbr or none"},
	{0, "filter", "EXPR", OPT_LIST, AT(filters),
	 "sample tracepoints only if their fields match ('prev_pid == 0'; see tacho record "
	 "--help); all sampled events must be tracepoints, and all filters must match"},
	{0, NULL, NULL, OPT_HEADING, 0, "The command"},
	{0, "shell", NULL, OPT_FLAG, AT(shell), "the words are given to sh -c"},
	{0, "env", "NAME=VALUE", OPT_LIST, AT(env),
	 "added to its environment; NAME alone: with the value it has here"},
	{0, "cwd", "DIR", OPT_STR, AT(cwd), "where it runs; here without it"},
	{0, "user", "USER", OPT_STR, AT(user), "who it runs as"},
	{0, "affinity", "LIST", OPT_STR, AT(affinity), "CPUs that it may use (0-3,8)"},
	{0, "timeout", "SECONDS", OPT_STR, AT(timeout), "it is ended after that time"},
	{0, NULL, NULL, OPT_HEADING, 0, "Instead of a command"},
	{'p', "pid", "PID", OPT_STR, AT(pids), "running processes, with all their threads"},
	{'t', "tid", "TID", OPT_STR, AT(tids), "running threads"},
	{'a', "all-cpus", NULL, OPT_FLAG, AT(all_cpus), "the whole system"},
	{'C', "cpu", "LIST", OPT_STR, AT(cpus), "only these CPUs (0-3,8)"},
	{0, "duration", "SECONDS", OPT_STR, AT(duration), "for how long; until Ctrl-C without it"},
	{0, NULL, NULL, OPT_HEADING, 0, "How it is kept"},
	{0, "session", "NAME", OPT_STR, AT(session),
	 "runs that belong together; made if it is not there; \"command line\" without it"},
	{0, "description", "TEXT", OPT_STR, AT(description), "a line that says what it is"},
	{0, "note", "TEXT", OPT_STR, AT(note), "more that is worth remembering"},
	{0, "tag", "TAG", OPT_LIST, AT(tags), "a word to find it by"},
	{0, "keep-raw", NULL, OPT_FLAG, AT(keep_raw), "keep the perf.data file, too"},
	{0, NULL, NULL, OPT_HEADING, 0, "How it runs"},
	{'d', "detach", NULL, OPT_FLAG, AT(detach), "print the id of the run and do not wait"},
	{0, "exclusive", NULL, OPT_FLAG, AT(exclusive),
	 "nothing else is measured meanwhile; this is so for commands"},
	{0, "shared", NULL, OPT_FLAG, AT(shared),
	 "others may be measured meanwhile; this is so for running processes and the system"},
	{'q', "quiet", NULL, OPT_FLAG, AT(quiet), "say nothing but errors"},
	SERVER_ROWS(struct client_run_options),
	{},
};

const struct command cmd_run = {
	.name = "run",
	.summary = "measure a command on the server and follow it live",
	.usage = "[OPTIONS] [--] COMMAND [ARGUMENTS]\n[OPTIONS] -p PID | -t TID | -a",
	.details =
		"The server starts the command, counts and takes samples, and keeps everything; "
		"see "
		"tacho serve. Runs that would disturb each other wait in a queue.\n\n"
		"What the command prints is passed through. On a terminal a line tells how far it "
		"is. Ctrl-C ends the command; what was measured until then is kept. The command "
		"reads nothing: its standard input is empty.",
	.examples = "  tacho run -- ./a.out\n"
		    "  tacho run -e task-clock,page-faults -F 4000 --session tuning -- make -j4\n"
		    "  tacho run --tool stat -p 4711 --duration 60\n"
		    "  tacho export last -f svg -o flame.svg   # the flame graph of it",
	.exit_status = "That of the command; 126 if it cannot be executed, 127 if it is not there, "
		       "128+n after signal n, 125 if tacho itself failed. With --detach 0.",
	.options = run_table,
	.run = command_exec_server,
};

#undef AT

/* ---- ls ---- */

#define AT(member) offsetof(struct client_ls_options, member)

static const struct option_def ls_table[] = {
	{'s', "sessions", NULL, OPT_FLAG, AT(sessions), "sessions instead of runs"},
	{0, "search", "TEXT", OPT_STR, AT(search), "only those that have TEXT in them"},
	{'n', "limit", "N", OPT_UINT, AT(limit), "at most N, the newest; 50 without it"},
	{0, "json", NULL, OPT_FLAG, AT(json), "as JSON"},
	SERVER_ROWS(struct client_ls_options),
	{},
};

const struct command cmd_ls = {
	.name = "ls",
	.summary = "list the runs of the server",
	.usage = "[OPTIONS] [SESSION]",
	.details =
		"The newest runs come first: of all sessions, or of the one that is named by its "
		"title, its id or the beginning of either.",
	.examples = "  tacho ls\n"
		    "  tacho ls --sessions\n"
		    "  tacho ls 'command line' --json",
	.options = ls_table,
	.run = command_exec_server,
};

#undef AT

/* ---- show ---- */

#define AT(member) offsetof(struct client_show_options, member)

static const struct option_def show_table[] = {
	{'n', "limit", "N", OPT_UINT, AT(limit), "the N hottest functions; 10 without it"},
	{0, "json", NULL, OPT_FLAG, AT(json), "as JSON"},
	SERVER_ROWS(struct client_show_options),
	{},
};

const struct command cmd_show = {
	.name = "show",
	.summary = "tell what a run was and what it found",
	.usage = "[OPTIONS] RUN",
	.details = WHICH_RUN,
	.examples = "  tacho show last\n  tacho show 3f2a --json",
	.options = show_table,
	.words = "last",
	.run = command_exec_server,
};

#undef AT

/* ---- rm ---- */

static const struct option_def rm_table[] = {
	{'s', "session", NULL, OPT_FLAG, offsetof(struct client_rm_options, session),
	 "sessions are named, which go with all their runs"},
	SERVER_ROWS(struct client_rm_options),
	{},
};

const struct command cmd_rm = {
	.name = "rm",
	.summary = "remove runs, or sessions, from the server",
	.usage = "[OPTIONS] RUN…\n--session [OPTIONS] SESSION…",
	.details = WHICH_RUN
	" One that still runs is cancelled first. What it takes on the disk is given back. There "
	"is no way to undo it.",
	.examples = "  tacho rm last\n  tacho rm --session tuning",
	.options = rm_table,
	.words = "last",
	.run = command_exec_server,
};

/* ---- export ---- */

#define AT(member) offsetof(struct client_export_options, member)

static const struct option_def export_table[] = {
	{'f', "format", "FORMAT", OPT_STR, AT(format),
	 "csv, json, jsonl, h5, folded, svg, html, data or log; by the name of the file without "
	 "it"},
	{'o', "output", "FILE", OPT_STR, AT(output),
	 "write to FILE; - is standard output, which is so in a pipe"},
	{0, "session", "SESSION", OPT_STR, AT(session), "all runs of a session, as h5"},
	{'q', "quiet", NULL, OPT_FLAG, AT(quiet), "say nothing but errors"},
	{0, NULL, NULL, OPT_HEADING, 0, "What of it (csv, jsonl, folded, svg, html)"},
	{0, "from", "TIME", OPT_STR, AT(from), "from this time after the start on (200ms, 1.5s)"},
	{0, "to", "TIME", OPT_STR, AT(to), "until this time"},
	{'e', "event", "EVENT", OPT_STR, AT(event), "samples of this event"},
	{'t', "tid", "TID", OPT_STR, AT(threads), "samples of these threads"},
	{'C', "cpu", "LIST", OPT_STR, AT(cpus), "samples on these CPUs"},
	{0, "what", "WHAT", OPT_STR, AT(what),
	 "of csv and jsonl: counters, samples, or a table as sched:sched_switch"},
	{0, "stream", "STREAM", OPT_STR, AT(stream), "of log: stdout or stderr, as it was printed"},
	SERVER_ROWS(struct client_export_options),
	{},
};

const struct command cmd_export = {
	.name = "export",
	.summary = "download a run as CSV, HDF5, flame graph, perf.data …",
	.usage = "[OPTIONS] RUN\n[OPTIONS] --session SESSION",
	.details = WHICH_RUN
	"\n\nh5 is read by pandas.read_hdf and h5py: tables of counters, samples, stacks, "
	"functions and tracepoints. jsonl has an object for each row. data is perf.data: the kept "
	"file if there is one, else made from what is "
	"stored, and then it says what it lacks.",
	.examples = "  tacho export last -o flame.svg\n"
		    "  tacho export last -f csv | head\n"
		    "  tacho export last -f jsonl --what sched:sched_switch | jq .prev_comm\n"
		    "  tacho export --session tuning -o tuning.h5",
	.options = export_table,
	.words = "last",
	.run = command_exec_server,
};

#undef AT

/* ---- view ---- */

static const struct option_def view_table[] = {
	{0, "no-browser", NULL, OPT_FLAG, offsetof(struct client_view_options, no_browser),
	 "only print the address"},
	{},
};

const struct command cmd_view = {
	.name = "view",
	.summary = "look at a recording in the browser",
	.usage = "[OPTIONS] FILE",
	.details = "Starts a private server on a free port of this machine, reads FILE (perf.data) "
		   "into "
		   "it and opens the browser, if there is a display, or prints the address. Ctrl-C "
		   "ends "
		   "it; nothing is left behind.",
	.examples = "  tacho record -g -- ./a.out && tacho view perf.data",
	.options = view_table,
	.run = command_exec_server,
};
