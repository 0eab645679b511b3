/*
 * The one file of a multipart/form-data body, piece by piece: what a form of a page sends. Fields that
 * are no files are passed over. Memory is bounded, whatever the pieces are cut like. One thread.
 */
#ifndef TACHO_NET_MULTIPART_H
#define TACHO_NET_MULTIPART_H

#include "base/buf.h"
#include "base/err.h"

#define MULTIPART_HEAD_BYTES_MAX 8192 /* of the lines above a part */

enum multipart_state {
	MULTIPART_BEFORE, /* the first delimiter */
	MULTIPART_DELIMITER,
	MULTIPART_HEAD,
	MULTIPART_BODY,
	MULTIPART_END,
};

struct multipart {
	char delimiter[80]; /* "\r\n--BOUNDARY" */
	size_t delimiter_len;
	enum multipart_state state;
	struct buf held; /* not decided yet; at most a head or a delimiter, and one piece */
	size_t at;       /* of it, all before is done with */
	char *file_name; /* as the client gave it, the last part; NULL: none came yet */
	bool in_file;    /* the part at hand is the file */
	unsigned files;
	int (*write)(void *ctx, const void *bytes, size_t size, struct err *e);
	void *ctx;
};

/* @boundary as multipart_boundary() gives it. */
void multipart_begin(struct multipart *m, const char *boundary,
		     int (*write)(void *ctx, const void *bytes, size_t size, struct err *e),
		     void *ctx);
/* -EINVAL: not well-formed; or what write() gives. */
int multipart_feed(struct multipart *m, const void *bytes, size_t size, struct err *e);
/* Whether it was whole and had a file. */
int multipart_finish(struct multipart *m, struct err *e);
void multipart_release(struct multipart *m);

#endif
