/*
 * SDT markers (DTRACE_PROBE, STAP_PROBE) compiled into a binary, from its .note.stapsdt section.
 * The file is not trusted: every offset is checked against the mapped size.
 */
#ifndef TACHO_EVENT_SDT_H
#define TACHO_EVENT_SDT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sdt_marker {
	const char *provider, *name, *arguments;
	uint64_t address; /* ELF virtual address of the marker */
};

typedef bool (*sdt_visitor)(void *ctx, const struct sdt_marker *marker);

/* Visits the markers of the ELF image at @data. Stops when @visit returns false. */
int sdt_parse(const void *data, size_t size, sdt_visitor visit, void *ctx, struct err *e);

int sdt_visit_file(const char *path, sdt_visitor visit, void *ctx, struct err *e);

#endif
