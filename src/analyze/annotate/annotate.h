/*
 * One function, instruction by instruction and line by line, with the samples of each: the data
 * that every form of annotate shows. It reads no files: the caller adds instructions, rows of a
 * line table and weights of addresses, and finishes it once with a source of lines.
 *
 *	annotation_init(&a);
 *	annotation_add_instruction(&a, …);   // ascending addresses
 *	annotation_add_row(&a, …);           // ascending addresses
 *	annotation_add_weight(&a, …);        // in any order
 *	annotation_finish(&a, source, ctx);
 *
 * Strings are copied into one pool; annotation_text() reads them. Strings beyond the limit are left
 * out and counted in `refused`. One thread builds; any number may read afterwards.
 */
#ifndef TACHO_ANALYZE_ANNOTATE_ANNOTATE_H
#define TACHO_ANALYZE_ANNOTATE_ANNOTATE_H

#include "profile/profile.h"

#include <stdarg.h>

#define ANNOTATION_TEXT_MAX      (256u << 20)
#define ANNOTATION_LINES_MAX     (1u << 20)
#define ANNOTATION_LINE_TEXT_MAX 4096 /* of one line of source */

typedef struct {
	uint32_t at; /* in the pool; 0: none, the empty string */
} pool_text;

enum annotated_flow { ANNOTATED_NEXT, ANNOTATED_JUMP, ANNOTATED_CALL, ANNOTATED_RETURN };

struct annotated_instruction {
	uint64_t address, target; /* target 0: the instruction names none */
	uint64_t weight, samples;
	pool_text text, comment; /* comment: the name of what it calls or refers to */
	pool_text scope;         /* the function that was inlined here, or none */
	uint32_t size;
	uint32_t line;     /* number + 1 in lines; 0: unknown */
	uint32_t jumps_to; /* number + 1 of the target instruction; 0: not in this function */
	uint32_t jumpers;  /* number of jumps of this function that lead here */
	enum annotated_flow flow;
	bool bad;
};

/* A line with code, or near one. Sorted by file and number. */
struct annotated_line {
	uint32_t file, number;
	pool_text text; /* none: no source available, or an empty line */
	bool has_code, has_text;
	uint64_t weight, samples;
};

/* The first file is the function's own. */
struct annotated_file {
	pool_text path;
	uint32_t first, count; /* in lines */
	uint64_t weight, samples;
};

struct annotated_row {
	uint64_t address;
	uint32_t file, line; /* line 0: code without a source line */
	pool_text scope;
};

struct address_weight {
	uint64_t address, weight, samples;
};

struct annotation {
	VEC(char) pool;
	pool_text function, module, build_id, event;
	pool_text problem; /* why there are no instructions, or none */
	VEC(pool_text) notes;
	uint64_t start, end;              /* ELF virtual addresses of the function */
	uint64_t weight, samples;         /* of the function */
	uint64_t all_weight, all_samples; /* of the event, in all functions */
	uint64_t lost_weight;             /* of the function, outside all instructions */
	uint64_t refused;
	uint32_t hottest; /* instruction number + 1; 0: no sample */
	VEC(struct annotated_instruction) instructions;
	VEC(struct annotated_line) lines;
	VEC(struct annotated_file) files;
	struct slots file_slots;
	VEC(struct annotated_row) rows;
	VEC(struct address_weight) weights;
};

void annotation_init(struct annotation *a);
void annotation_release(struct annotation *a);

pool_text annotation_string(struct annotation *a, const char *text, size_t len);
pool_text annotation_stringf(struct annotation *a, const char *fmt, ...) PRINTF_LIKE(2, 3);

static inline const char *annotation_text(const struct annotation *a, pool_text t)
{
	return a->pool.items + t.at;
}

void annotation_add_instruction(struct annotation *a, const struct annotated_instruction *i);
/* @file NULL or @line 0: the code from @address on has no line. */
void annotation_add_row(struct annotation *a, uint64_t address, const char *file, uint32_t line,
			pool_text scope);
void annotation_add_weight(struct annotation *a, uint64_t address, uint64_t weight,
			   uint64_t samples);

/* Returns a line of source, or NULL if it is not available. */
typedef const char *(*annotation_source)(void *ctx, const char *file, uint32_t line);
void annotation_finish(struct annotation *a, annotation_source source, void *ctx);
/* Last step of annotation_finish(): assigns instructions to lines and adds lines around them. */
void annotation_place_lines(struct annotation *a, annotation_source source, void *ctx);

/* Returns the number + 1 of the instruction that contains @address, or 0. */
uint32_t annotation_find(const struct annotation *a, uint64_t address);

/* What 100 % is, as perf's --percent-type: local means the function, global the event; hits are
 * samples, period is weight. */
enum percent_type { LOCAL_PERIOD, LOCAL_HITS, GLOBAL_PERIOD, GLOBAL_HITS };
double annotation_share(const struct annotation *a, enum percent_type type, uint64_t weight,
			uint64_t samples); /* in percent; 0 if there is nothing to share */

/* How hot a share is, with perf's bounds: 5 % and 0.5 %. */
enum annotation_heat { HEAT_NONE, HEAT_LITTLE, HEAT_WARM, HEAT_HOT };
enum annotation_heat annotation_heat(double share_pct);

/* Stores the numbers of up to @max lines, the largest weight first; returns how many. */
size_t annotation_hot_lines(const struct annotation *a, uint32_t *ret, size_t max);

/* Arrows of jumps inside the function, each in a lane; lane 0 is next to the instructions. Jumps
 * longer than ARROW_LENGTH and arrows without a free lane are left out. */
#define ARROW_LANES  6
#define ARROW_LENGTH 400 /* instructions */

struct arrow {
	uint32_t from, to,
		target; /* instructions; from is the first, to the last that it touches */
	uint32_t lane;
};

typedef VEC(struct arrow) arrow_list;
/* Fills @ret, sorted by the first instruction. Returns how many lanes are in use. */
unsigned annotation_arrows(const struct annotation *a, arrow_list *ret);

/* A function with the samples that hit it, without those of its callees. */
struct hot_function {
	function_id function;
	uint64_t weight, samples;
};

typedef VEC(struct hot_function) hot_list;
/* Lists the functions of an event's leaf frames, the hottest first. */
void hot_functions(const struct profile *p, event_id event, hot_list *ret);
/* Adds the sampled addresses of one function and the totals to an annotation. */
void hot_addresses(const struct profile *p, event_id event, function_id function,
		   struct annotation *ret);

#endif
