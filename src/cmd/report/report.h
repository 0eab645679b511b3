/*
 * Shared by the files of `tacho report`. The flow:
 *
 *	options.c	options → columns, keys, how chains are shown, filters
 *	fields.c	columns of fields of tracepoints
 *	profile_input.c		file → profile
 *	analyze/report.c	profile → entries and chains
 *	columns.c	an entry's cells as text
 *	text.c, chain.c, json.c, tui.c	→ output
 */
#ifndef TACHO_CMD_REPORT_REPORT_H
#define TACHO_CMD_REPORT_REPORT_H

#include "analyze/report/report.h"
#include "base/option.h"
#include "base/term.h"
#include "cmd/input/profile_input.h"

struct report_cmd_options {
	struct profile_options profile;
	const char *sort, *fields, *call_graph, *dsos, *symbols, *symbol_filter, *percent_limit;
	const char *percentage, *separator, *time_quantum;
	bool stdio, tui, json, children, no_children, inverted, group, nr_samples, total_period;
	bool header, header_only, quiet, raw_trace;
};

enum column_kind {
	COLUMN_CHILDREN,
	COLUMN_SELF,
	COLUMN_SAMPLES,
	COLUMN_PERIOD,
	COLUMN_KEY,
};

struct column {
	enum column_kind kind;
	enum report_key key; /* only for COLUMN_KEY */
	const char *title;
	size_t width;
	uint32_t cell; /* of REPORT_FIELDS: number of the cell in the key of a row */
	/* The column was made for trace_fields: its cell is the one with this name, from @cell on. */
	bool by_name;
	bool number; /* of REPORT_FIELDS: aligned to the right */
};

enum chain_mode { CHAINS_NONE, CHAINS_GRAPH, CHAINS_FRACTAL, CHAINS_FLAT, CHAINS_FOLDED };

/* The number shown at each step of a chain: a share, a sum of periods, or a sample count. */
enum chain_value { CHAIN_PERCENT, CHAIN_PERIOD, CHAIN_COUNT };

/* report_flush() writes the buffered text once it has this many bytes. */
#define REPORT_FLUSH_BYTES (1u << 20)

struct report_view {
	struct report_cmd_options o;
	struct resolve_options resolve;
	struct profile_input in;
	struct report report;
	struct report_options ro;
	VEC(struct column) columns;     /* of the section that is shown, chosen from */
	VEC(struct column) all_columns; /* those of all sections */
	strvec field_names;             /* of all tracepoints of the recording, for trace_fields */
	bool loaded; /* the recording has been read: no more fields can be asked for */
	enum chain_mode mode;
	bool has_callers; /* stacks were recorded */
	bool caller;      /* chains go from callers down */
	bool order_given; /* the user chose caller or callee */
	enum chain_value chain_value;
	size_t chain_limit;   /* branches below a step, or listed chains; 0: no limit */
	double chain_min_pct; /* chains below this share of 100 % are left out */
	double min_pct;       /* entries below this share are left out */
	strvec comms, dsos, symbols;
	int *pids, *tids;
	size_t pid_count, tid_count;
	struct term term;
	struct buf out;
	int fd; /* where the text goes */
	bool write_failed;
};

/* options.c */
int report_view_options(struct report_view *v, struct err *e);
/* Call this after loading the recording: the defaults depend on whether it has callers. */
void report_view_defaults(struct report_view *v, bool has_callers);
/* Call this after comms, dsos or symbol_filter have changed. */
void report_view_filters(struct report_view *v);
int report_view_sort(struct report_view *v, const char *keys, struct err *e);
void report_view_release(struct report_view *v);
/* Joins -g with its value if the next word is one: "-g caller", but not "-g --stdio". */
void report_join_words(int argc, char **argv, strvec *ret_words);

/* fields.c */
/*
 * Adds a field of tracepoints. Whether there is one of this name can only be told with the recording;
 * once that was read, returns false for fields that were not asked for before.
 */
bool report_view_add_field(struct report_view *v, const char *name, const char *option);
/* Puts a column for each field of the recording in place of trace_fields. */
void report_view_expand_fields(struct report_view *v);
/* Makes the columns those that report_view_choose() chooses from. */
void report_view_keep(struct report_view *v);
/* Fills v->columns for a section: without columns of trace_fields that its event has not. NULL: all. */
void report_view_choose(struct report_view *v, const struct report_section *s);
/*
 * Whether the columns have all the fields of tracepoints that were read, or none: rows are split by all
 * of them together.
 */
bool report_view_fields_loaded(const struct report_view *v);

/* columns.c */
/* Returns the entry's cell of a column of REPORT_FIELDS; false: its event has no such field. */
bool column_field(const struct report_view *v, const struct column *c, const struct report_entry *e,
		  struct trace_cell *ret);
void column_text(const struct report_view *v, const struct column *c, const struct report_entry *e,
		 struct buf *out);
/* Adds a name from the recording; control characters and invalid UTF-8 become '?'. */
void report_add_name(struct buf *out, const char *name);
void report_add_function(const struct report_view *v, function_id f, bool inlined, struct buf *out);
/* Adds a chain step: the function, and its line if steps are merged by line or address. */
void report_add_step(const struct report_view *v, const struct chain_node *node, struct buf *out);
double report_share(uint64_t part, uint64_t whole);
bool column_is_number(const struct column *c);
/* Sets the column widths for the entries shown; names get at most @limit columns (0: all). */
void columns_measure(struct report_view *v, const struct report_section *s, size_t limit);
/* Returns how many entries of @s are not below min_pct. */
size_t report_shown(const struct report_view *v, const struct report_section *s);
struct chain_options report_chain_options(const struct report_view *v,
					  const struct report_entry *e);

/* text.c, chain.c, json.c, tui.c */
void report_show_text(struct report_view *v);
void report_chain_text(struct report_view *v, const struct report_entry *e);
const char *report_heat(const struct report_view *v, double percent);
void report_show_json(struct report_view *v);
int report_show_tui(struct report_view *v, struct err *e);
/* Writes the buffered text if there are REPORT_FLUSH_BYTES of it, or if @all. */
void report_flush(struct report_view *v, bool all);

#endif
