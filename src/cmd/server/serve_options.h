/* Options of `tacho serve`, `tacho config` and `tacho users`, known to both programs. */
#ifndef TACHO_CMD_SERVER_SERVE_OPTIONS_H
#define TACHO_CMD_SERVER_SERVE_OPTIONS_H

#include "cmd/command.h"

/* Settings in the order in which they were given; server/config.h knows what they mean. */
struct serve_options {
	option_items settings;
	bool json; /* of config and users */
	bool routes;
	bool private; /* the server of `tacho view`, which nobody else uses: no notices */
	const char *role;
};

static inline void serve_options_release(struct serve_options *o)
{
	vec_release(&o->settings);
}

#endif
