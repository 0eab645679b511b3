/* tacho.conf: any bytes give settings, or a sentence. */
#include "server/config.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("tacho.conf", MFD_CLOEXEC);
	char path[64];
	struct config_option named = {"config", path}, where = {"data", "/nowhere"};
	config_options options = {};
	config_shown_list shown = {};
	struct server_config c = {};
	struct err e = {};

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	vec_push(&options, named);
	vec_push(&options, where);
	if (config_load(&c, &options, &shown, &e) < 0) {
		if (!e.code || !e.text[0])
			abort();
	} else if (!c.listen || (config_check_safety(&c, &e) < 0 && !e.text[0])) {
		abort();
	}
	vec_release(&options);
	config_shown_release(&shown);
	config_release(&c);
	close(fd);
	return 0;
}
