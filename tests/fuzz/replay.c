/*
 * Feeds a fuzz target with the files of its corpus and with simple changes of each, so that what
 * fuzzing once found is checked by every build, without a fuzzer.
 */
#include "base/fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_BYTES_MAX (1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t inputs;

/* From memory of exactly that size, so that a read past the end is seen by a sanitizer. */
static void feed(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (!copy)
		abort();
	if (size)
		memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	inputs++;
}

static void feed_changed(uint8_t *data, size_t size)
{
	static const uint8_t flips[] = {0x01, 0x20, 0x80, 0xff};
	size_t step = size / 64 + 1;

	for (size_t i = 1; i < 16 && size; i++)
		feed(data, size * i / 16);
	for (size_t at = 0; at < size; at += step) {
		uint8_t kept = data[at];

		data[at] ^= flips[at / step % sizeof(flips)];
		feed(data, size);
		data[at] = kept;
	}
}

static int replay_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = xcalloc(FILE_BYTES_MAX, 1);
	size_t size;

	if (!f) {
		perror(path);
		free(data);
		return 1;
	}
	size = fread(data, 1, FILE_BYTES_MAX, f);
	fclose(f);
	feed(data, size);
	feed_changed(data, size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int status = argc < 2;

	for (int i = 1; i < argc; i++) {
		CLEANUP(strvec_release) strvec names = {};

		if (fs_list(argv[i], &names) < 0 || !names.len) {
			fprintf(stderr, "%s: no corpus\n", argv[i]);
			status = 1;
		}
		vec_each(&names, name) {
			CLEANUP(free_ptr) char *path = xasprintf("%s/%s", argv[i], *name);

			status |= replay_file(path);
		}
	}
	printf("%zu inputs\n", inputs);
	return status;
}
