/*
 * The formats that a run can be downloaded in. Each is written into a file without a name in the data
 * directory, whatever its size, and sent from there.
 *
 * To add one: write src/server/export_NAME.c with `const struct export_format format_NAME`, declare it
 * below, add it to the table of server/api/exports.c, and describe it in openapi/exports.json.
 */
#ifndef TACHO_SERVER_EXPORT_FORMATS_H
#define TACHO_SERVER_EXPORT_FORMATS_H

#include "export/exporter.h"
#include "server/export/run.h"

/* Where an export goes: bytes through `out`, or to the descriptor itself. */
struct export_target {
	struct export_out out;
	int fd;
	int code;         /* errno of a write that failed */
	struct buf lacks; /* what a file made from the store does not have: a sentence */
};

struct export_format {
	const char *extension, *type;
	const char *const
		*parameters; /* of the query, besides those of a selection; ended by NULL */
	const char *policy;  /* Content-Security-Policy; NULL: the server's */
	bool whole;          /* takes no selection */
	bool light;          /* takes no time worth mentioning */
	bool shown;          /* in the browser, rather than saved */
	/* -ESTALE: called again, with an empty file. */
	int (*write)(struct export_run *x, const struct http_request *r, struct export_target *t,
		     struct err *e);
};

extern const struct export_format format_csv, format_data, format_folded, format_h5, format_html,
	format_log, format_svg;

/* Runs of a session into one HDF5 file. */
int export_h5_session(struct api *api, const stored_runs *runs, struct export_target *t,
		      struct err *e);

int export_target_open(struct export_target *t, struct api *api, struct err *e);
/* Empty again. */
int export_target_rewind(struct export_target *t, struct err *e);
/* Writes what has gathered; -ENOSPC … with a sentence if that failed at any time. */
int export_target_flush(struct export_target *t, struct err *e);
void export_target_close(struct export_target *t);

/* Of the selection. -EBUSY: a picture of nothing was asked for. */
int export_flame(struct export_run *x, const struct exporter *exporter, struct export_out *out,
		 struct err *e);

#endif
