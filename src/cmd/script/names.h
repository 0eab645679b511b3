/*
 * Names for `tacho script`: function, module and source line of an address. The text of each frame
 * is made once and then only copied, because frames are most of what script prints.
 */
#ifndef TACHO_CMD_SCRIPT_NAMES_H
#define TACHO_CMD_SCRIPT_NAMES_H

#include "base/buf.h"
#include "base/json.h"
#include "resolve/analysis.h"

/* One function of a frame. A frame with inlined functions has several, the innermost first. */
struct frame_text {
	uint32_t symbol, symbol_len; /* offset in script_names.bytes: "name" */
	uint32_t module, module_len; /* "path", or none if it is inlined */
	uint32_t line, line_len;     /* "file.c:12", or none */
	uint64_t start;              /* of the function, for offsets; 0: no offset is shown */
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

/* @file must be open. The filter made from @options is `analysis.shared.filter`. */
int script_names_init(struct script_names *n, struct perfdata *file,
		      const struct resolve_options *options, struct err *e);
void script_names_release(struct script_names *n);

/* Stores the call chain of a sample, leaf first, in n->analysis.resolver.steps. */
void script_names_chain(struct script_names *n, const struct record *r,
			const struct stream_event *event, uint64_t time_ns);

/* Returns the texts of a step, innermost first. */
const struct frame_text *script_names_of(struct script_names *n, const struct chain_step *step,
					 frame_id *ret_frame, uint32_t *ret_count);

/* Makes a step for a single address of @pid at @time_ns; its value tells user from kernel. */
struct chain_step script_names_step(struct script_names *n, uint64_t address, uint32_t pid,
				    uint64_t time_ns);

/* Adds "stack": the sample's functions, innermost first; with @leaf_only only the first step. */
void script_names_json(struct script_names *n, struct json *j, const struct record *r,
		       const struct stream_event *event, bool leaf_only);

/* Returns the kernel function at @address, for the text of tracepoints; NULL if unknown. */
const char *script_names_kernel(struct script_names *n, uint64_t address, uint64_t *ret_offset);

/* Returns the offset of the step from the start of its function. */
static inline uint64_t frame_text_offset(const struct script_names *n, const struct frame_text *t,
					 frame_id frame, const struct chain_step *step)
{
	return n->profile.frames.items[frame.n].address + step->back - t->start;
}

#endif
