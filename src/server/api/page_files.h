/*
 * The files of the page, which tools/build-page makes from web/. They are part of the program, so
 * that the page works offline and always has the version of the program.
 */
#ifndef TACHO_SERVER_API_PAGE_FILES_H
#define TACHO_SERVER_API_PAGE_FILES_H

#include <stddef.h>

struct page_file {
	const char *path; /* as in a URL: "/assets/NAME", "/index.html" */
	const char *type;
	const char *tag;  /* ETag of the content */
	const char *gzip; /* the content, compressed */
	size_t gzip_bytes, bytes;
};

extern const struct page_file page_files[]; /* ended by an entry without path */

#endif
