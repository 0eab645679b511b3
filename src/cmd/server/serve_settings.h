/* Turns the options of a tacho-server command into settings; see config.c. */
#ifndef TACHO_CMD_SERVER_SERVE_SETTINGS_H
#define TACHO_CMD_SERVER_SERVE_SETTINGS_H

#include "cmd/server/serve_options.h"
#include "server/config.h"

/* Calls config_load() with the options of @o; the same contract. */
int serve_settings(const struct serve_options *o, struct server_config *ret,
		   config_shown_list *ret_shown, struct err *e);

#endif
