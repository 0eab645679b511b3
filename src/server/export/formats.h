/*
 * The formats that a run can be downloaded in. Every export is written to an unnamed file in the
 * data directory, whatever its size, and sent from there.
 *
 * To add one: write src/server/export/NAME.c with `const struct export_format format_NAME`, declare
 * it below, add it to meson.build and to both tables of server/api/exports.c, and describe it in
 * openapi/exports.json.
 */
#ifndef TACHO_SERVER_EXPORT_FORMATS_H
#define TACHO_SERVER_EXPORT_FORMATS_H

#include "export/exporter.h"
#include "server/export/run.h"

/* The destination of an export: written through `out`, or to `fd` directly. */
struct export_target {
	struct export_out out;
	int fd;
	int code;         /* errno of a write that failed */
	struct buf lacks; /* sentences: what a file made from the store lacks */
};

struct export_format {
	const char *extension, *type;
	const char *const
		*parameters; /* query parameters besides SELECTION_PARAMS; ended by NULL */
	const char *policy;  /* Content-Security-Policy; NULL: the server's */
	bool whole;          /* takes no selection */
	bool light;          /* fast: the limit of concurrent exports does not apply */
	bool shown;          /* in the browser instead of being saved */
	/* If it returns -ESTALE, it is called again with an empty file. */
	int (*write)(struct export_run *x, const struct http_request *r, struct export_target *t,
		     struct err *e);
};

extern const struct export_format format_csv, format_data, format_folded, format_h5, format_html,
	format_jsonl, format_log, format_svg;

/* Writes the runs of a session into one HDF5 file. */
int export_h5_session(struct api *api, const stored_runs *runs, struct export_target *t,
		      struct err *e);

int export_target_open(struct export_target *t, struct api *api, struct err *e);
/* Empties the target. */
int export_target_rewind(struct export_target *t, struct err *e);
/* Writes the buffered bytes. Returns the error (-ENOSPC, …) of this or any earlier write. */
int export_target_flush(struct export_target *t, struct err *e);
void export_target_close(struct export_target *t);

/* Exports the selection of the request. Without samples, folded stacks are empty, and a picture
 * returns -EBUSY. */
int export_flame(struct export_run *x, const struct http_request *r,
		 const struct exporter *exporter, struct export_out *out, struct err *e);

#endif
