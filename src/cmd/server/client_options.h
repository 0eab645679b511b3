/*
 * Options of the commands that are clients of the server: run, ls, show, rm, export, view. `tacho`
 * needs them for help and completion; `tacho-server` carries the commands out (NAME.c).
 */
#ifndef TACHO_CMD_SERVER_CLIENT_OPTIONS_H
#define TACHO_CMD_SERVER_CLIENT_OPTIONS_H

#include "cmd/command.h"

/* The server to use, and how to authenticate. */
struct client_server_options {
	const char *server, *token_file, *ca;
};

struct client_run_options {
	struct client_server_options server;
	option_list events, samples, env, tags;
	const char *tool, *freq, *period, *interval, *call_graph;
	option_list filters;
	const char *session, *description, *note, *cwd, *user, *affinity;
	const char *pids, *tids, *cpus, *duration, *timeout;
	bool calls, all_cpus, shell, detach, shared, exclusive, keep_raw, quiet;
};

struct client_ls_options {
	struct client_server_options server;
	const char *search;
	unsigned limit;
	bool sessions, json;
};

struct client_show_options {
	struct client_server_options server;
	unsigned limit;
	bool json;
};

struct client_rm_options {
	struct client_server_options server;
	bool session;
};

struct client_export_options {
	struct client_server_options server;
	const char *format, *output, *session;
	const char *from, *to, *event, *threads, *cpus, *what, *stream;
	bool quiet;
};

struct client_view_options {
	bool no_browser;
};

#endif
