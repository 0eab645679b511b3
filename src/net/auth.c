#include "net/auth.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>

static const struct {
	enum user_role role;
	const char *name;
} roles[] = {{ROLE_LOOK, "look"}, {ROLE_RUN, "run"}, {ROLE_ADMIN, "administer"}};

const char *role_name(enum user_role role)
{
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (roles[i].role == role)
			return roles[i].name;
	return "nothing";
}

bool role_parse(const char *text, enum user_role *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(roles); i++)
		if (!strcmp(roles[i].name, text)) {
			*ret = roles[i].role;
			return true;
		}
	return false;
}

void token_make(char ret[TOKEN_BYTES])
{
	unsigned char random[32];

	if (sodium_init() < 0)
		abort(); /* no source of random numbers: there is no safe way to go on */
	randombytes_buf(random, sizeof(random));
	sodium_bin2base64(ret, TOKEN_BYTES, random, sizeof(random),
			  sodium_base64_VARIANT_URLSAFE_NO_PADDING);
	sodium_memzero(random, sizeof(random));
}

void token_hash(const char *token, char ret[TOKEN_HASH_BYTES])
{
	unsigned char hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, (const unsigned char *)token, strlen(token));
	sodium_bin2hex(ret, TOKEN_HASH_BYTES, hash, sizeof(hash));
}

/* HOST or HOST:PORT or [ADDRESS]:PORT, without copying. */
struct authority {
	const char *host; /* without brackets */
	size_t host_len;
	const char *port; /* digits, or NULL */
	bool bracketed;
};

static bool port_valid(const char *s)
{
	size_t len = strlen(s);

	return len >= 1 && len <= 5 && strspn(s, "0123456789") == len;
}

static bool authority_parse(const char *text, struct authority *ret)
{
	const char *end;

	*ret = (struct authority){.host = text};
	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end)
			return false;
		ret->host = text + 1;
		ret->host_len = (size_t)(end - ret->host);
		ret->bracketed = true;
		end++;
	} else {
		end = text + strcspn(text, ":");
		ret->host_len = (size_t)(end - text);
	}
	if (!ret->host_len || ret->host_len > 255)
		return false;
	for (size_t i = 0; i < ret->host_len; i++)
		if (!isgraph((unsigned char)ret->host[i]) || strchr("/?#@\\", ret->host[i]))
			return false;
	if (*end == '\0')
		return true;
	ret->port = end + 1;
	return *end == ':' && port_valid(ret->port);
}

static bool host_is(const struct authority *a, const char *name)
{
	return strlen(name) == a->host_len && !strncasecmp(a->host, name, a->host_len);
}

static bool is_loopback(const struct authority *a)
{
	CLEANUP(free_ptr) char *host = xstrndup(a->host, a->host_len);
	struct in6_addr six;
	struct in_addr four;

	if (a->bracketed)
		return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	return !strcasecmp(host, "localhost");
}

/* An allowed name without a port stands for all ports. */
static bool allows(const char *allowed, const struct authority *host)
{
	struct authority a;

	/* An address of version 6, written without brackets. */
	if (allowed[0] != '[' && strchr(allowed, ':') != strrchr(allowed, ':'))
		return host->bracketed && host_is(host, allowed);
	if (!authority_parse(allowed, &a) || a.bracketed != host->bracketed ||
	    a.host_len != host->host_len || strncasecmp(a.host, host->host, a.host_len))
		return false;
	return !a.port || (host->port && !strcmp(a.port, host->port));
}

bool host_allowed(const char *host, const strvec *allowed)
{
	struct authority a;

	if (!host || !authority_parse(host, &a))
		return false;
	if (is_loopback(&a))
		return true;
	for (size_t i = 0; allowed && i < allowed->len; i++)
		if (allows(allowed->items[i], &a))
			return true;
	return false;
}

bool origin_allowed(const char *origin, const char *host)
{
	struct authority from, to;
	const char *usual;

	if (!origin)
		return true;
	if (!host)
		return false;
	if (!strncasecmp(origin, "http://", 7)) {
		usual = "80";
		origin += 7;
	} else if (!strncasecmp(origin, "https://", 8)) {
		usual = "443";
		origin += 8;
	} else {
		return false; /* "null" among them: a page that nobody knows */
	}
	if (!authority_parse(origin, &from) || !authority_parse(host, &to))
		return false;
	return from.bracketed == to.bracketed && from.host_len == to.host_len &&
	       !strncasecmp(from.host, to.host, from.host_len) &&
	       !strcmp(from.port ? from.port : usual, to.port ? to.port : usual);
}
