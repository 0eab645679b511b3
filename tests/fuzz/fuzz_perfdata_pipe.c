/* Records in pipe form; the header is put in front. The first byte says how they are read. */
#include "perfdata_run.h"

#define FOREIGN 8 /* the other byte order, besides the bits of run_perfdata() */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_pipe_header h = {PERFDATA_MAGIC, sizeof(h)};
	unsigned char *file;

	if (!size)
		return 0;
	if (data[0] & FOREIGN) {
		h.magic = PERFDATA_MAGIC_SWAPPED;
		h.size = __builtin_bswap64(h.size);
	}
	file = malloc(sizeof(h) + size);
	if (!file)
		abort();
	memcpy(file, &h, sizeof(h));
	memcpy(file + sizeof(h), data + 1, size - 1);
	run_perfdata(file, sizeof(h) + size - 1, data[0]);
	free(file);
	return 0;
}
