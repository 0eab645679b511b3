/* Executes tacho-server, which is installed beside tacho, for the commands that it has. */
#include "cmd/command.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

int command_exec_server(const struct command *self, int argc, char **argv)
{
	CLEANUP(buf_release) struct buf path = {};
	char own[4096];
	ssize_t len = readlink("/proc/self/exe", own, sizeof(own) - 1);
	char **words = xcalloc((size_t)argc + 3, sizeof(*words));

	buf_add_mem(&path, own, len > 0 ? (size_t)len : 0);
	while (path.len && path.s[path.len - 1] != '/')
		path.len--;
	buf_add(&path, "tacho-server");
	words[0] = path.s;
	words[1] = (char *)self->name;
	for (int i = 0; i < argc; i++)
		words[i + 2] = argv[i];
	execv(path.s, words);
	free(words);
	return command_fail(EXIT_FAILED, "cannot run '%s': %s; it is installed together with tacho",
			    path.s, strerror(errno));
}
