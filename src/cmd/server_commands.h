/* What the commands of tacho-server do; src/cmd/server_NAME.c has each. */
#ifndef TACHO_CMD_SERVER_COMMANDS_H
#define TACHO_CMD_SERVER_COMMANDS_H

#include "cmd/command.h"

int server_serve(const struct command *self, int argc, char **argv);
int server_config_show(const struct command *self, int argc, char **argv);

#endif
