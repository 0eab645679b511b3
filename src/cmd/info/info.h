/* `tacho info`: what a recording holds; gathered once, shown as text or JSON. */
#ifndef TACHO_CMD_INFO_INFO_H
#define TACHO_CMD_INFO_INFO_H

#include "base/buf.h"
#include "base/term.h"
#include "perfdata/summary.h"

struct info_options {
	const char *input;
	bool json, verbose;
};

struct info {
	struct info_options o;
	struct perfdata *file;
	struct summary summary;
	struct term term;
	struct buf out;
};

/* Appends a sentence for each unusual property, even if nothing is broken. */
void info_oddities(const struct info *info, strvec *ret_sentences);

void info_text(struct info *info);
void info_json(struct info *info);

/* Appends the names of the bits set in sample_type: "IP|TID|TIME". */
void info_sample_type(uint64_t sample_type, struct buf *out);

#endif
