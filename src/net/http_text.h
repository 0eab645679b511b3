/*
 * What clients write into requests, taken apart: pure functions on text that is not trusted, each
 * with a limit.
 */
#ifndef TACHO_NET_HTTP_TEXT_H
#define TACHO_NET_HTTP_TEXT_H

#include "net/http.h"

#define HTTP_QUERY_MAX 256 /* parameters */

void http_pairs_release(http_pairs *pairs);

/* Adds @text with every %XX decoded, and with '+' as a blank if @plus. False: malformed, or a NUL. */
bool percent_decode(struct buf *out, const char *text, size_t len, bool plus);

/* "/path?name=value&…": the decoded path, which begins with a slash and has no '.' or '..', no
 * encoded slash and no control characters in it, and the decoded parameters. */
int target_parse(const char *target, char **ret_path, http_pairs *ret_query, struct err *e);
/* The same target without one parameter. The caller frees it. */
char *target_without(const char *target, const char *name);

/* "Bearer TOKEN". */
bool bearer_token(const char *header, char ret[TOKEN_BYTES]);
/* The cookie of this name, if it can be a token. */
bool cookie_token(const char *header, const char *name, char ret[TOKEN_BYTES]);
/* Whether it has the form of one: at most TOKEN_BYTES - 1 letters of base64url. */
bool token_valid(const char *token);

/* Whether a list such as "gzip;q=0.5, br" has this word, and not with q=0. */
bool list_accepts(const char *list, const char *word);
/* If-None-Match: "*", or a list of tags, weak or not. */
bool etag_listed(const char *list, const char *etag);
/* The boundary of "multipart/form-data; boundary=…"; false: it is something else. */
bool multipart_boundary(const char *content_type, char *ret, size_t size);

/* A name for Content-Disposition, in both of its forms. */
void disposition_add(struct buf *out, const char *name);

/*
 * Routes. A part of @pattern in braces stands for at least one character of one part of the path:
 * "/run/{id}.json". Gives how specific the match is, larger is more; 0: it does not match. What
 * stood for the braces is added to @args, cut out of @path.
 */
struct path_args {
	unsigned count;
	struct {
		const char *s;
		size_t len;
	} items[HTTP_ARGS_MAX];
};

unsigned path_match(const char *pattern, const char *path, struct path_args *ret);

#endif
