/*
 * The subcommands of tacho. Each lives in a file or subfolder of this folder and is described by
 * one const struct, from which --help, the manual page and shell completion are made.
 *
 * To add one: write src/cmd/NAME.c with `const struct command cmd_NAME = {…}`, declare it below,
 * add it to commands[] in main.c and to meson.build.
 *
 * There are two programs. `tacho` starts in a millisecond because it links little; commands that
 * need the server's libraries (HTTP, SQL, HDF5) are described here too, so that help and completion
 * know them, but are carried out by `tacho-server` beside it: their run() is command_exec_server().
 */
#ifndef TACHO_CMD_COMMAND_H
#define TACHO_CMD_COMMAND_H

#include "base/buf.h"
#include "base/option.h"

struct command {
	const char *name;
	const char *summary;     /* half a line, lower case, no full stop */
	const char *usage;       /* what follows "tacho NAME", one form a line */
	const char *details;     /* paragraphs, separated by an empty line */
	const char *examples;    /* lines "command  # what it does" */
	const char *exit_status; /* NULL: the usual one (0 done, 1 failed, 2 wrong usage) */
	const struct option_def *options;
	const char *words; /* possible first arguments, for completion: "load remove" */
	bool hidden;       /* not for people: neither help nor completion shows it */
	int (*run)(const struct command *self, int argc, char **argv);
};

/* Exit statuses; a command that runs a workload passes the workload's on instead. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_TACHO_FAILED = 125, /* of commands with a workload: tacho itself failed */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NOT_FOUND = 127,
};

extern const struct command cmd_annotate, cmd_collect, cmd_completion, cmd_convert, cmd_demo,
	cmd_diff, cmd_doctor, cmd_events, cmd_flame, cmd_help, cmd_info, cmd_list, cmd_record,
	cmd_report, cmd_script, cmd_stat, cmd_top;
extern const struct command cmd_serve, cmd_config, cmd_users; /* serve_options.c */
extern const struct command cmd_run, cmd_ls, cmd_show, cmd_rm, cmd_export,
	cmd_view;                              /* client_options.c */
extern const struct command *const commands[]; /* ended by NULL */

/* Prints "tacho: sentence" on stderr and returns @status. */
int command_fail(int status, const char *fmt, ...) PRINTF_LIKE(2, 3);

/*
 * Every command calls this first: parses the options into @values. Returns the number of words
 * read, or -1 if the command must end now with *@ret_status (help shown, or wrong usage).
 */
int command_options(const struct command *self, void *values, int argc, char **argv,
		    int *ret_status);

/*
 * The same for a command with one argument, which may stand between the options. *@word stays
 * unchanged if there is none; @what names the argument in errors. Returns false if the command must
 * end now.
 */
bool command_one_word(const struct command *self, void *values, int argc, char **argv,
		      const char **word, const char *what, int *ret_status);

/*
 * Writes all of @b to @fd and empties @b. Returns false if that fails, for example if the disk is
 * full. If the reader of standard output has gone (tacho list | head), command_flush() ends the
 * process silently by SIGPIPE. Commands that still have work to do (a workload, clients) use
 * command_flush_on(), which returns false instead.
 */
bool command_flush(struct buf *b, int fd);
bool command_flush_on(struct buf *b, int fd);

/* Ends the process by SIGPIPE, for output that is not written by command_flush(). */
void command_end_by_pipe(void);

/* In tacho (cmd/server/exec_server.c): executes `tacho-server NAME …`. In tacho-server
 * (cmd/server/main.c): calls the function that implements the command. */
int command_exec_server(const struct command *self, int argc, char **argv);

/* help.c */
void help_of_command(const struct command *c, struct buf *out);
void help_of_all(struct buf *out);
int help_unknown(const char *name); /* reports an unknown command; returns EXIT_USAGE */
void help_manual(const struct command *c, struct buf *out); /* NULL: the page of tacho itself */

#endif
