/* Ranges of IP addresses: which clients a server lets in. Pure functions. */
#ifndef TACHO_NET_CIDR_H
#define TACHO_NET_CIDR_H

#include "base/err.h"
#include "base/vec.h"

#include <stdbool.h>
#include <sys/socket.h>

/* Addresses of version 4 are kept, and compared, as the ones of version 6 that stand for them
 * (::ffff:192.0.2.1), so that a client is the same one on a socket of either kind. */
struct cidr {
	unsigned char bytes[16];
	unsigned bits;
};

typedef VEC(struct cidr) cidr_list;

/* Parses "192.0.2.0/24", "2001:db8::/32", or one address. Bits beyond the prefix are ignored. */
int cidr_parse(const char *text, struct cidr *ret, struct err *e);
/* Whether the address is in one of the ranges. ::/0 is every address of version 6, and none of 4. */
bool cidr_match(const cidr_list *list, const struct sockaddr *a);

#endif
