#include "net/cidr.h"
#include "base/fs.h"
#include "base/number.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define MAPPED_BITS 96 /* ::ffff:0:0/96 */

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

static void from_four(const struct in_addr *four, unsigned char ret[16])
{
	memcpy(ret, mapped, sizeof(mapped));
	memcpy(ret + sizeof(mapped), &four->s_addr, 4);
}

int cidr_parse(const char *text, struct cidr *ret, struct err *e)
{
	const char *slash = strchr(text, '/');
	CLEANUP(free_ptr)
	char *address = xstrndup(text, slash ? (size_t)(slash - text) : strlen(text));
	uint64_t bits = UINT64_MAX;
	struct in_addr four;
	bool is_four = inet_pton(AF_INET, address, &four) == 1;

	if (is_four)
		from_four(&four, ret->bytes);
	if ((is_four || inet_pton(AF_INET6, address, ret->bytes) == 1) &&
	    (!slash || parse_u64(slash + 1, &bits))) {
		unsigned most = is_four ? 32 : 128;

		if (!slash)
			bits = most;
		if (bits <= most) {
			ret->bits = (unsigned)bits + (is_four ? MAPPED_BITS : 0);
			return 0;
		}
	}
	return err_set(e, EINVAL,
		       "'%.80s' is no range of addresses, such as 192.0.2.0/24 or 2001:db8::/32",
		       text);
}

static bool in_range(const struct cidr *c, const unsigned char bytes[16])
{
	unsigned whole = c->bits / 8, rest = c->bits % 8;

	if (c->bits < MAPPED_BITS && !memcmp(bytes, mapped, sizeof(mapped)))
		return false;
	return !memcmp(c->bytes, bytes, whole) &&
	       (!rest || (c->bytes[whole] ^ bytes[whole]) >> (8 - rest) == 0);
}

bool cidr_match(const cidr_list *list, const struct sockaddr *a)
{
	unsigned char bytes[16];

	if (a->sa_family == AF_INET)
		from_four(&((const struct sockaddr_in *)a)->sin_addr, bytes);
	else if (a->sa_family == AF_INET6)
		memcpy(bytes, &((const struct sockaddr_in6 *)a)->sin6_addr, sizeof(bytes));
	else
		return false;
	vec_each(list, c)
		if (in_range(c, bytes))
			return true;
	return false;
}
