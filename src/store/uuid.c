#include "store/store.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* Random ones, version 4 of RFC 9562. */
void uuid_make(char ret[UUID_BYTES])
{
	unsigned char r[16];
	char *out = ret;

	/* So few bytes come whole, or never (a system call filter): then there is nothing to go on with. */
	if (getrandom(r, sizeof(r), 0) != (ssize_t)sizeof(r))
		abort();
	r[6] = (unsigned char)((r[6] & 0x0f) | 0x40);
	r[8] = (unsigned char)((r[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(r); i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*out++ = '-';
		out += snprintf(out, 3, "%02x", r[i]);
	}
}

bool uuid_valid(const char *text)
{
	if (!text || strlen(text) != UUID_BYTES - 1)
		return false;
	for (int i = 0; i < UUID_BYTES - 1; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		/* Lower case only: that is how they are written, and there is one name for one thing. */
		if (dash ? text[i] != '-'
			 : !isxdigit((unsigned char)text[i]) || isupper((unsigned char)text[i]))
			return false;
	}
	return true;
}
