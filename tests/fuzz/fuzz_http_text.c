/* What stands in requests: a target, a Host, an Origin and other headers, one a line. */
#include "net/http_text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void try_target(const char *text)
{
	char *path = NULL, *rest;
	http_pairs query = {};
	struct path_args args;

	if (target_parse(text, &path, &query, NULL) == 0) {
		/* Nobody gets out of it, or ends it early. */
		if (path[0] != '/' || strstr(path, "/../") || strstr(path, "/./") ||
		    (strlen(path) >= 3 && !strcmp(path + strlen(path) - 3, "/..")))
			abort();
		if (path_match("/api/v1/{kind}/{id}.json", path, &args) && args.count != 2)
			abort();
		path_match("/{a}/{b}/{c}/{d}/{e}", path, &args);
		path_match(text, path, &args);
	}
	rest = target_without(text, "token");
	if (strlen(rest) > strlen(text))
		abort();
	free(rest);
	free(path);
	http_pairs_release(&query);
}

static void try_header(const char *text, const char *other)
{
	char token[TOKEN_BYTES], boundary[71];
	char *items[] = {(char *)other};
	strvec allowed = {.items = items, .len = 1};
	struct buf name = {};

	if ((bearer_token(text, token) && !token_valid(token)) ||
	    (cookie_token(text, "tacho_1", token) && !token_valid(token)))
		abort();
	list_accepts(text, "gzip");
	etag_listed(text, "\"tag\"");
	multipart_boundary(text, boundary, sizeof(boundary));
	/* A page that is let in has the Host's name in its origin. */
	if (origin_allowed(text, other) && strlen(text) < strlen("http://") + 1)
		abort();
	host_allowed(text, &allowed);
	disposition_add(&name, text);
	if (strpbrk(buf_str(&name), "\r\n"))
		abort();
	buf_release(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = xstrndup((const char *)data, size), *next = text, *line, *before = text;

	while ((line = strsep(&next, "\n"))) {
		try_target(line);
		try_header(line, before);
		before = line;
	}
	free(text);
	return 0;
}
