/* From the options of a command of tacho-server to settings; config.c has it. */
#ifndef TACHO_CMD_SERVER_SERVE_SETTINGS_H
#define TACHO_CMD_SERVER_SERVE_SETTINGS_H

#include "cmd/server/serve_options.h"
#include "server/config.h"

/* As config_load(). */
int serve_settings(const struct serve_options *o, struct server_config *ret,
		   config_shown_list *ret_shown, struct err *e);

#endif
