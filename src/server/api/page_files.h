/*
 * The files of the page, as tools/build-page has made them of web/: part of the program, so that it
 * works offline and cannot be of another version.
 */
#ifndef TACHO_SERVER_API_PAGE_FILES_H
#define TACHO_SERVER_API_PAGE_FILES_H

#include <stddef.h>

struct page_file {
	const char *path; /* as in an address: "/assets/NAME", "/index.html" */
	const char *type;
	const char *tag;  /* of the content */
	const char *gzip; /* the content, compressed */
	size_t gzip_bytes, bytes;
};

extern const struct page_file page_files[]; /* ended by one without path */

#endif
