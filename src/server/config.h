/*
 * What a server is told: by options, by the environment, by tacho.conf, by default, in this order.
 * Every value remembers where it comes from; `tacho config` shows it. Names are the same everywhere:
 * --keep-age, TACHO_KEEP_AGE, `keep-age = …`. A list is taken as a whole from the first place that has
 * it.
 *
 * The file is the one of --config (or TACHO_CONFIG) alone; without it $XDG_CONFIG_HOME/tacho/tacho.conf,
 * and for what that does not say /etc/tacho.conf. A line is `name = value`; '#' begins a comment.
 *
 * To add a setting: a member, and a row in CONFIG_ROWS. Options and help follow. Once loaded it is only
 * read, by any thread.
 */
#ifndef TACHO_SERVER_CONFIG_H
#define TACHO_SERVER_CONFIG_H

#include "base/err.h"
#include "base/fs.h"

#include <stdint.h>

enum config_kind {
	CONFIG_TEXT,    /* char *, NULL: not set */
	CONFIG_LIST,    /* strvec; values are separated by commas, or lines */
	CONFIG_COUNT,   /* unsigned: how often it was said; in a file as a number */
	CONFIG_BYTES,   /* uint64_t: 10G */
	CONFIG_SECONDS, /* uint64_t: 30d */
	CONFIG_NUMBER,  /* unsigned */
};

struct server_config {
	char *config; /* the file, if it was named */
	char *listen; /* HOST:PORT; 127.0.0.1:5000 */
	char *data;   /* the data directory: $XDG_DATA_HOME/tacho */
	char *tls_cert, *tls_key;
	strvec allow_hosts;
	unsigned insecure;    /* listen beyond loopback without TLS: has to be said twice */
	unsigned no_token;    /* everybody is an administrator; needs `insecure` twice, too */
	strvec users;         /* "NAME:ROLE", made at the start if they are not there */
	uint64_t quota_bytes; /* of the data directory; 0: none */
	uint64_t keep_s, keep_bytes;                     /* older runs go; 0: never */
	uint64_t upload_bytes, body_bytes, output_bytes; /* limits of one */
	unsigned connections, connections_per_address;
	unsigned queue_max;       /* runs that may wait */
	unsigned running_max;     /* at the same time, shared ones */
	uint64_t cache_bytes;     /* memory for answers */
	strvec default_modifiers; /* "PATTERN MODIFIERS", see events.conf */
};

/* ROW(name, member, kind, what the value is called or NULL, default or NULL, help) */
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
	ROW("insecure", insecure, CONFIG_COUNT, NULL, "0",                                         \
	    "given twice: listen beyond loopback without TLS")                                     \
	ROW("no-token", no_token, CONFIG_COUNT, NULL, "0",                                         \
	    "everybody who can connect may do everything; only with --insecure twice")             \
	ROW("user", users, CONFIG_LIST, "NAME:ROLE", NULL,                                         \
	    "a user that there has to be; the token is put into DIR/tokens/NAME")                  \
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
	    "the same from one address")                                                           \
	ROW("queue-max", queue_max, CONFIG_NUMBER, "N", "1000", "runs that may wait")              \
	ROW("running-max", running_max, CONFIG_NUMBER, "N", "16",                                  \
	    "runs at the same time, at most")                                                      \
	ROW("cache", cache_bytes, CONFIG_BYTES, "SIZE", "256M",                                    \
	    "memory for what runs were last asked about")                                          \
	ROW("default-modifiers", default_modifiers, CONFIG_LIST, "PATTERN MODIFIERS", NULL,        \
	    "for events without modifiers, as in events.conf: 'cycles u'; may be given again")

/* One of the command line; value NULL: of those that have none. Belongs to the caller. */
struct config_option {
	const char *name, *value;
};

typedef VEC(struct config_option) config_options;

/* What holds, for people: a row for each setting, in the order of the table. */
struct config_shown {
	const char *name;
	char *value;  /* NULL: not set */
	char *source; /* "option --listen", "environment TACHO_LISTEN", "FILE:3", "default" */
};

typedef VEC(struct config_shown) config_shown_list;

/* Both are to be released, also after a failure. @ret_shown may be NULL. */
int config_load(struct server_config *ret, const config_options *options,
		config_shown_list *ret_shown, struct err *e);
void config_release(struct server_config *c);
void config_shown_release(config_shown_list *l);

/* "HOST:PORT", "[::1]:PORT", ":PORT" (of all addresses). @ret_host is the caller's. */
int config_address(const char *listen, char **ret_host, uint16_t *ret_port, struct err *e);
/* Whether only this machine can reach it. */
bool config_is_loopback(const char *host);
/* Refuses what would put the server within reach of others without protection. */
int config_check_safety(const struct server_config *c, struct err *e);

#endif
