/*
 * Shared by the files of `tacho top`: top.c has the main loop, feed.c reads the samples, screen.c
 * draws, keys.c handles the keys, text.c writes the table as text.
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

/* The figures in the header, as of the last top_look(). */
struct top_figures {
	double samples_per_s, own_cpu_pct;
	uint64_t samples, samples_ns; /* number of samples at samples_ns */
	uint64_t own_cpu_ns, own_cpu_at_ns;
	uint64_t lost;
	double window_s; /* time that is shown: the window, or since the start */
};

/* Determines what the next key does. */
enum top_mode { TOP_NORMAL, TOP_HELP, TOP_FILTERING, TOP_ZOOMING, TOP_SAVING };

enum top_zoom { ZOOM_PROCESS = 1, ZOOM_LIBRARY = 2 };

/* A line below the titles: a row, or one of its callers. */
struct top_line {
	uint32_t row;
	uint32_t depth, function; /* function 0: the row itself */
	bool callers_end;         /* says that the row has no callers */
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
	unsigned generation; /* of the table when the view was built */
	struct top_figures figures;
	uint64_t delay_ns, window_ns, start_ns, next_ns;
	double least_pct;
	unsigned updates; /* shown so far */
	bool recording;   /* the collector runs */
	bool feeding;     /* the feed was started */
	bool has_data;    /* the feed has delivered some */
	bool fed;         /* the feed has ended */
	bool quit, screen;
	sigset_t signals_before;
	bool event_chosen;
	int result; /* of the recording */
	struct err error;
	/* State of the screen. */
	enum top_mode mode;
	VEC(struct top_line) lines;
	size_t selected, first_line; /* indexes in lines */
	char *selected_text;         /* of its row, to follow it when rows move; NULL: the top */
	size_t selected_below;       /* lines from its row down to the selected caller, or 0 */
	strvec expanded;             /* rows whose callers are shown */
	struct buf filter_text;
	regex_t filter;
	bool has_filter;
	char *zoom_comm, *zoom_dso;
	enum top_zoom zooms[2]; /* oldest first, for going back */
	unsigned zoom_count;
	char message[256];
};

/* ---- top.c ---- */

/* Rebuilds the view and the figures from the table. Locks the feed itself. */
void top_look(struct top_session *s);

/* ---- text.c ---- */

/* Adds "cpu-clock, 999 Hz, whole system". */
void top_describe(const struct top_session *s, struct buf *out);
/* Adds "1,998 samples/s, last 10 s, …". */
void top_status(const struct top_session *s, struct buf *out);
void top_row_process(const struct top_table *t, const struct top_row *row, struct buf *out);
double top_share_pct(const struct top_session *s, uint64_t weight);
const char *top_sort_name(enum top_sort sort);
/* Prints at most @max rows; 0: all that reach least_pct. The caller must hold the feed's lock. */
void top_print(const struct top_session *s, size_t max, struct buf *out);
void top_print_folded(const struct top_session *s, struct buf *out);

/* ---- screen.c ---- */

void top_draw(struct top_session *s);
/* Call this after the view has changed, with the feed locked: rebuilds the lines and keeps the
 * selection on its row. */
void top_make_lines(struct top_session *s);
size_t top_page(void);
void top_screen_release(struct top_session *s);

/* ---- keys.c ---- */

/* Handles all keys that have been pressed, and redraws. */
void top_handle_keys(struct top_session *s);
void top_say(struct top_session *s, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
