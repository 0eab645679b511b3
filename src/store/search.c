#include "store/search.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

int search_pattern(const char *search, struct buf *out, struct err *e)
{
	if (search && strlen(search) > SEARCH_BYTES_MAX)
		return err_set(e, EINVAL, "What is searched for is longer than %d bytes.",
			       SEARCH_BYTES_MAX);
	buf_add_char(out, '%');
	for (const char *c = search; c && *c; c++) {
		if (strchr("%_\\", *c))
			buf_add_char(out, '\\');
		buf_add_char(out, (char)tolower((unsigned char)*c));
	}
	if (search && *search)
		buf_add_char(out, '%');
	return 0;
}
