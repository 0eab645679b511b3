/* The commands of tacho-server, each in the file of its name. */
#ifndef TACHO_CMD_SERVER_COMMANDS_H
#define TACHO_CMD_SERVER_COMMANDS_H

#include "cmd/command.h"

int server_serve(const struct command *self, int argc, char **argv);
int server_config_show(const struct command *self, int argc, char **argv);
int server_users(const struct command *self, int argc, char **argv);
int server_run(const struct command *self, int argc, char **argv);
int server_ls(const struct command *self, int argc, char **argv);
int server_show(const struct command *self, int argc, char **argv);
int server_rm(const struct command *self, int argc, char **argv);
int server_export(const struct command *self, int argc, char **argv);
int server_view(const struct command *self, int argc, char **argv);

#endif
