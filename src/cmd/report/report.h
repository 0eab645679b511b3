/*
 * Shared by the files of `tacho report`. The flow:
 *
 *	options.c	options → columns, keys, how chains are shown, filters
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
	bool header, header_only, quiet;
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
	enum report_key key; /* of COLUMN_KEY */
	const char *title;
	size_t width;
};

enum chain_mode { CHAINS_NONE, CHAINS_GRAPH, CHAINS_FRACTAL, CHAINS_FLAT, CHAINS_FOLDED };

/* What chains show: shares, sums of periods, or numbers of samples. */
enum chain_value { CHAIN_PERCENT, CHAIN_PERIOD, CHAIN_COUNT };

/* Text of this many bytes goes out before more is made. */
#define REPORT_FLUSH_BYTES (1u << 20)

struct report_view {
	struct report_cmd_options o;
	struct resolve_options resolve;
	struct profile_input in;
	struct report report;
	struct report_options ro;
	VEC(struct column) columns;
	enum chain_mode mode;
	bool has_callers; /* stacks were recorded */
	bool caller;      /* chains go from callers down */
	bool order_given; /* by the user */
	enum chain_value chain_value;
	size_t chain_limit;   /* of branches below a step, or of listed chains; 0: none */
	double chain_min_pct; /* of 100 %: chains below are left out */
	double min_pct;       /* entries below are left out */
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
/* Once it is known whether there are callers in the recording. */
void report_view_defaults(struct report_view *v, bool has_callers);
/* After comms, dsos or symbol_filter have changed. */
void report_view_filters(struct report_view *v);
int report_view_sort(struct report_view *v, const char *keys, struct err *e);
void report_view_release(struct report_view *v);
/* "-g caller" has its value in the next word, but "-g --stdio" has none: joins them. */
void report_join_words(int argc, char **argv, strvec *ret_words);

/* columns.c */
void column_text(const struct report_view *v, const struct column *c, const struct report_entry *e,
		 struct buf *out);
/* A name that came from outside, as far as it can be printed. */
void report_add_name(struct buf *out, const char *name);
void report_add_function(const struct report_view *v, function_id f, bool inlined, struct buf *out);
/* A step of a chain: the function, and its line where steps are told apart by lines or addresses. */
void report_add_step(const struct report_view *v, const struct chain_node *node, struct buf *out);
double report_share(uint64_t part, uint64_t whole);
bool column_is_number(const struct column *c);
/* Widths for entries that are shown; long names may be cut to @limit columns (0: not). */
void columns_measure(struct report_view *v, const struct report_section *s, size_t limit);
/* As many entries as are not below the limit. */
size_t report_shown(const struct report_view *v, const struct report_section *s);
struct chain_options report_chain_options(const struct report_view *v,
					  const struct report_entry *e);

/* text.c, chain.c, json.c, tui.c */
void report_show_text(struct report_view *v);
void report_chain_text(struct report_view *v, const struct report_entry *e);
const char *report_heat(const struct report_view *v, double percent);
void report_show_json(struct report_view *v);
int report_show_tui(struct report_view *v, struct err *e);
/* Writes what there is, if it is enough or @all. */
void report_flush(struct report_view *v, bool all);

#endif
