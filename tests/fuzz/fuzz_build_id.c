/* The build id of an ELF file and a line of /proc/PID/maps: found inside of the bytes, or not. */
#include "perf/build_id.h"
#include "perf/synth_read.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_mapping(const uint8_t *data, size_t size)
{
	char *line = malloc(size + 1);
	struct mapping m;

	if (!line)
		abort();
	if (size)
		memcpy(line, data, size);
	line[size] = '\0';
	if (mapping_parse(line, &m) && (m.end <= m.start || !m.name || !*m.name))
		abort();
	free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct build_id id = {};

	if (build_id_of_memory(data, size, &id)) {
		if (!id.size || id.size > BUILD_ID_BYTES_MAX ||
		    !memmem(data, size, id.bytes, id.size))
			abort();
	} else if (id.size) {
		abort();
	}
	check_mapping(data, size);
	return 0;
}
