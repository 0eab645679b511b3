/*
 * Names for `tacho script`: what stands behind an address. Each frame's text is made once, and then
 * only copied; most of what script prints is this.
 */
#ifndef TACHO_CMD_SCRIPT_NAMES_H
#define TACHO_CMD_SCRIPT_NAMES_H

#include "base/buf.h"
#include "base/json.h"
#include "resolve/analysis.h"

/* One function of a frame: several if some were inlined, the innermost first. */
struct frame_text {
	uint32_t symbol, symbol_len; /* in bytes: "name" */
	uint32_t module, module_len; /* "path", or none if it is inlined */
	uint32_t line, line_len;     /* "file.c:12", or none */
	uint64_t start;              /* that offsets are counted from; 0: none is shown */
	bool inlined;
};

struct script_names {
	struct profile profile;
	struct modules *modules;
	struct analysis analysis;
	VEC(struct frame_text) levels;
	VEC(struct frame_levels {
		uint32_t first, count; /* count 0: not made yet */
	})
	frames;
	struct buf bytes;
	bool ready;
};

/* @file is open. Its filter is `analysis.shared.filter`. */
int script_names_init(struct script_names *n, struct perfdata *file,
		      const struct resolve_options *options, struct err *e);
void script_names_release(struct script_names *n);

/* The chain of a sample, leaf first: steps of n->analysis.resolver. */
void script_names_chain(struct script_names *n, const struct record *r,
			const struct stream_event *event, uint64_t time_ns);

/* The texts of a step, innermost first. */
const struct frame_text *script_names_of(struct script_names *n, const struct chain_step *step,
					 frame_id *ret_frame, uint32_t *ret_count);

/* A lone address, user or kernel as it looks, of a task at a time. */
struct chain_step script_names_step(struct script_names *n, uint64_t address, uint32_t pid,
				    uint64_t time_ns);

/* "stack": the sample's functions, innermost first; only the first with @leaf_only. */
void script_names_json(struct script_names *n, struct json *j, const struct record *r,
		       const struct stream_event *event, bool leaf_only);

/* The kernel's function at an address, for the text of tracepoints; NULL if there is none. */
const char *script_names_kernel(struct script_names *n, uint64_t address, uint64_t *ret_offset);

/* How far the step lies behind the start of its function. */
static inline uint64_t frame_text_offset(const struct script_names *n, const struct frame_text *t,
					 frame_id frame, const struct chain_step *step)
{
	return n->profile.frames.items[frame.n].address + step->back - t->start;
}

#endif
