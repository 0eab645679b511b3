/*
 * The server's settings. Each is taken from the first source that has it: command line options, the
 * environment, tacho.conf, the default. Every value remembers its source; `tacho config` shows it.
 * A setting has the same name everywhere: --keep-age, TACHO_KEEP_AGE, `keep-age = …`. Lists are not
 * merged: the first source that has a list provides all of it.
 *
 * If --config (or TACHO_CONFIG) names a file, only that file is read. Otherwise
 * $XDG_CONFIG_HOME/tacho/tacho.conf is read, then /etc/tacho.conf for settings that the first file
 * lacks. A line is `name = value`; '#' begins a comment.
 *
 * To add a setting, add a member and a row in CONFIG_ROWS; options and help follow from the row.
 * Once loaded, the settings are read-only and any thread may read them.
 */
#ifndef TACHO_SERVER_CONFIG_H
#define TACHO_SERVER_CONFIG_H

#include "base/err.h"
#include "base/fs.h"

#include <stdint.h>

enum config_kind {
	CONFIG_TEXT,    /* char *; NULL: not set */
	CONFIG_LIST,    /* strvec: values separated by commas, or the setting given several times */
	CONFIG_COUNT,   /* unsigned: how often the option was given; in a file no, yes or twice */
	CONFIG_BYTES,   /* uint64_t, written as 10G */
	CONFIG_SECONDS, /* uint64_t, written as 30d */
	CONFIG_NUMBER,  /* unsigned */
};

struct server_config {
	char *config; /* path of the settings file; NULL: none was named */
	char *listen; /* HOST:PORT, by default 127.0.0.1:5000 */
	char *data;   /* data directory, by default $XDG_DATA_HOME/tacho */
	char *tls_cert, *tls_key;
	strvec allow_hosts;
	strvec allow_from;    /* ranges of net/cidr.h; empty: any client */
	unsigned insecure;    /* given twice: may listen beyond loopback without TLS */
	unsigned no_token;    /* requests without token act as admin; needs `insecure` twice */
	strvec users;         /* "NAME:ROLE", created at the start if missing */
	char *run_as;         /* whom workloads run as; NULL: see server/run_as.h */
	uint64_t quota_bytes; /* maximum size of the data directory; 0: no limit */
	uint64_t keep_s, keep_bytes;                     /* maximum age, total size; 0: no limit */
	uint64_t upload_bytes, body_bytes, output_bytes; /* maximum size of each */
	unsigned connections, connections_per_address;
	unsigned queue_max;       /* maximum number of queued runs */
	unsigned running_max;     /* maximum number of shared runs at the same time */
	uint64_t cache_bytes;     /* memory limit of the run cache */
	strvec default_modifiers; /* "PATTERN MODIFIERS", see events.conf */
};

/* ROW(name, member, kind, placeholder for the value or NULL, default or NULL, help) */
#define CONFIG_ROWS(ROW)                                                                           \
	ROW("config", config, CONFIG_TEXT, "FILE", NULL,                                           \
	    "take settings from FILE instead of tacho.conf in the configuration directory and in " \
	    "/etc")                                                                                \
	ROW("listen", listen, CONFIG_TEXT, "HOST:PORT", "127.0.0.1:5000",                          \
	    "where to listen; 127.0.0.1:5000 without it, port 0 is any free one")                  \
	ROW("data", data, CONFIG_TEXT, "DIR", NULL,                                                \
	    "where everything is kept; $XDG_DATA_HOME/tacho without it")                           \
	ROW("tls-cert", tls_cert, CONFIG_TEXT, "FILE", NULL, "certificate (PEM), for https")       \
	ROW("tls-key", tls_key, CONFIG_TEXT, "FILE", NULL, "its private key (PEM)")                \
	ROW("allow-host", allow_hosts, CONFIG_LIST, "NAME", NULL,                                  \
	    "a name that the server is reached by, besides loopback ones; may be given again")     \
	ROW("allow-from", allow_from, CONFIG_LIST, "CIDR", NULL,                                   \
	    "answer only clients with these addresses (192.0.2.0/24, 2001:db8::/32), whatever "    \
	    "token they have; may be given again")                                                 \
	ROW("insecure", insecure, CONFIG_COUNT, NULL, "0",                                         \
	    "given twice: listen beyond loopback without TLS")                                     \
	ROW("no-token", no_token, CONFIG_COUNT, NULL, "0",                                         \
	    "everybody who can connect may do everything; only with --insecure twice")             \
	ROW("user", users, CONFIG_LIST, "NAME:ROLE", NULL,                                         \
	    "create this user if missing; 'tacho users token NAME' prints a token")                \
	ROW("run-as", run_as, CONFIG_TEXT, "USER", NULL,                                           \
	    "programs run as this user, if the server runs as root; without it as the user who "   \
	    "called sudo. If sudo did not start the server, or USER is root, only administrators " \
	    "may start any")                                                                       \
	ROW("quota", quota_bytes, CONFIG_BYTES, "SIZE", "0",                                       \
	    "no new runs when the data directory is larger (10G); 0: no limit")                    \
	ROW("keep-age", keep_s, CONFIG_SECONDS, "TIME", "0",                                       \
	    "runs that are older go by themselves (30d); 0: never")                                \
	ROW("keep-size", keep_bytes, CONFIG_BYTES, "SIZE", "0",                                    \
	    "the oldest runs go when all take more than this (50G); 0: never")                     \
	ROW("upload-max", upload_bytes, CONFIG_BYTES, "SIZE", "64G",                               \
	    "size of a recording that is imported, at most")                                       \
	ROW("body-max", body_bytes, CONFIG_BYTES, "SIZE", "1M",                                    \
	    "size of the body of any other request, at most")                                      \
	ROW("output-max", output_bytes, CONFIG_BYTES, "SIZE", "16M",                               \
	    "how much of a workload's output is kept")                                             \
	ROW("connections", connections, CONFIG_NUMBER, "N", "4096",                                \
	    "connections at the same time, at most")                                               \
	ROW("connections-per-address", connections_per_address, CONFIG_NUMBER, "N", "2048",        \
	    "the same from one address; clients without a valid token make room first")            \
	ROW("queue-max", queue_max, CONFIG_NUMBER, "N", "1000", "runs that may wait")              \
	ROW("running-max", running_max, CONFIG_NUMBER, "N", "16",                                  \
	    "runs at the same time, at most")                                                      \
	ROW("cache", cache_bytes, CONFIG_BYTES, "SIZE", "256M",                                    \
	    "memory for the data of runs that were looked at last")                                \
	ROW("default-modifiers", default_modifiers, CONFIG_LIST, "PATTERN MODIFIERS", NULL,        \
	    "for events without modifiers, as in events.conf: 'cycles u'; may be given again")

/* An option of the command line. @value is NULL if the option takes none. The caller owns both. */
struct config_option {
	const char *name, *value;
};

typedef VEC(struct config_option) config_options;

/* The effective settings as text: one row per setting, in the order of CONFIG_ROWS. */
struct config_shown {
	const char *name;
	char *value;  /* NULL: not set */
	char *source; /* "option --listen", "environment TACHO_LISTEN", "FILE:3", "default" */
};

typedef VEC(struct config_shown) config_shown_list;

/* The caller must release @ret and @ret_shown, also after a failure. @ret_shown may be NULL. */
int config_load(struct server_config *ret, const config_options *options,
		config_shown_list *ret_shown, struct err *e);
void config_release(struct server_config *c);
void config_shown_release(config_shown_list *l);

/* Parses "HOST:PORT", "[::1]:PORT" or ":PORT" (host 0.0.0.0). The caller must free @ret_host. */
int config_address(const char *listen, char **ret_host, uint16_t *ret_port, struct err *e);
/* Whether @host is a loopback address, which only this machine can reach. */
bool config_is_loopback(const char *host);
/*
 * Returns -EINVAL if the settings expose the server without TLS or a token, or name only one of
 * certificate and key.
 */
int config_check_safety(const struct server_config *c, struct err *e);

#endif
