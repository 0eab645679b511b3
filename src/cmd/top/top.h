/*
 * Shared by the files of `tacho top`: top.c runs it, feed.c brings the data, screen.c draws,
 * keys.c does what keys say, text.c writes the table as text.
 */
#ifndef TACHO_CMD_TOP_TOP_H
#define TACHO_CMD_TOP_TOP_H

#include "analyze/report/top_view.h"
#include "cmd/record/record.h"
#include "cmd/top/feed.h"
#include "collect/live.h"

#include <signal.h>

struct top_options {
	struct record_options record;
	const char *delay, *sort, *window, *percent_limit;
	bool no_kernel, no_user, idle, stdio;
	unsigned entries, updates;
};

/* What stands in the header, as of the last look. */
struct top_figures {
	double samples_per_s, own_cpu_pct;
	uint64_t samples, samples_ns; /* so many were there at that time */
	uint64_t own_cpu_ns, own_cpu_at_ns;
	uint64_t lost;
	double window_s; /* what is shown: of the window, or of all */
};

/* What the keys are for at the moment. */
enum top_mode { TOP_NORMAL, TOP_HELP, TOP_FILTERING, TOP_ZOOMING, TOP_SAVING };

enum top_zoom { ZOOM_PROCESS = 1, ZOOM_LIBRARY = 2 };

/* A line below the titles: a row, or one of its callers. */
struct top_line {
	uint32_t row;
	uint32_t depth, function; /* function 0: the row itself */
	bool callers_end;         /* instead of callers: there are none */
	uint64_t weight;
};

struct top_session {
	struct top_options o;
	struct record_session record;
	struct record_summary summary;
	struct live live;
	struct top_feed feed;
	struct top_question question;
	struct top_view view;
	unsigned generation; /* of the table, that the view was made from */
	struct top_figures figures;
	uint64_t delay_ns, window_ns, start_ns, next_ns;
	double least_pct;
	unsigned updates; /* shown so far */
	bool recording;   /* the collector runs */
	bool feeding;     /* the feed was started */
	bool has_data;    /* from the feed */
	bool fed;         /* nothing more comes from the feed */
	bool quit, screen;
	sigset_t signals_before;
	bool event_chosen;
	int result; /* of the recording */
	struct err error;
	/* Of the screen. */
	enum top_mode mode;
	VEC(struct top_line) lines;
	size_t selected, first_line; /* of the lines */
	char *selected_text;         /* its row, followed wherever it goes; NULL: the top */
	size_t selected_below;       /* so many lines below its row: one of its callers */
	strvec expanded;             /* rows whose callers are shown */
	struct buf filter_text;
	regex_t filter;
	bool has_filter;
	char *zoom_comm, *zoom_dso;
	enum top_zoom zooms[2]; /* in the order of time, to go back */
	unsigned zoom_count;
	char message[256];
};

/* ---- top.c ---- */

/* Looks at the table: the view and the figures are of now. The feed is locked inside. */
void top_look(struct top_session *s);

/* ---- text.c ---- */

/* "cpu-clock at 999 Hz, whole system" */
void top_describe(const struct top_session *s, struct buf *out);
/* "1,998 samples/s, last 10 s, …" */
void top_status(const struct top_session *s, struct buf *out);
void top_row_process(const struct top_table *t, const struct top_row *row, struct buf *out);
double top_share_pct(const struct top_session *s, uint64_t weight);
const char *top_sort_name(enum top_sort sort);
/* At most @max rows, 0: all that are large enough. The feed is locked by the caller. */
void top_print(const struct top_session *s, size_t max, struct buf *out);
void top_print_folded(const struct top_session *s, struct buf *out);

/* ---- screen.c ---- */

void top_draw(struct top_session *s);
/* After the view has changed: lines anew, the selection stays on its row. */
void top_make_lines(struct top_session *s);
size_t top_page(void);
void top_screen_release(struct top_session *s);

/* ---- keys.c ---- */

/* Takes all keys that have been pressed. */
void top_handle_keys(struct top_session *s);
void top_say(struct top_session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
