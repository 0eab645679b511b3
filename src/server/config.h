/*
 * What a server is told: by options, by the environment, by tacho.conf, by default, in this order.
 * Every value remembers where it comes from; `tacho config` shows it. Names are the same everywhere:
 * --listen, TACHO_LISTEN, `listen = …`.
 *
 * To add one: a member, and a row in the table of config.c.
 */
#ifndef TACHO_SERVER_CONFIG_H
#define TACHO_SERVER_CONFIG_H

#include "base/err.h"
#include "base/fs.h"

#include <stdint.h>

struct server_config {
	char *listen; /* HOST:PORT; 127.0.0.1:5000 */
	char *data;   /* the data directory: $XDG_DATA_HOME/tacho */
	char *tls_cert, *tls_key;
	strvec allow_hosts;
	bool insecure;        /* listen beyond loopback without TLS: has to be said twice */
	bool no_token;        /* needs `insecure`, too */
	uint64_t quota_bytes; /* of the data directory; 0: none */
	uint64_t keep_days, keep_bytes;                  /* older runs go; 0: never */
	uint64_t upload_bytes, body_bytes, output_bytes; /* limits of one */
	unsigned connections, connections_per_address;
	unsigned queue_max;       /* runs that may wait */
	unsigned running_max;     /* at the same time, shared ones */
	uint64_t cache_bytes;     /* memory for answers */
	strvec default_modifiers; /* "PATTERN MODIFIERS", see events.conf */
};

struct config_source {
	char *name; /* "option --listen", "environment TACHO_LISTEN", "FILE:3", "default" */
};

#endif
