/* Roles, tokens, and which Host and Origin are let in. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/text.h"
#include "net/auth.h"
#include "net/cidr.h"
#include "net/client.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

static void test_roles(void **state)
{
	enum user_role role;

	(void)state;
	for (int r = ROLE_LOOK; r <= ROLE_ADMIN; r++) {
		assert_true(role_parse(role_name((enum user_role)r), &role));
		assert_int_equal(role, r);
	}
	assert_false(role_parse("root", &role));
	assert_false(role_parse("", &role));
}

static void test_tokens(void **state)
{
	char a[TOKEN_BYTES], b[TOKEN_BYTES], hash[TOKEN_HASH_BYTES];

	(void)state;
	token_make(a);
	token_make(b);
	assert_int_equal(strlen(a), TOKEN_BYTES - 1);
	assert_int_equal(
		strspn(a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"),
		TOKEN_BYTES - 1);
	assert_string_not_equal(a, b);
	/* printf %s abc | sha256sum */
	token_hash("abc", hash);
	assert_string_equal(hash,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

static void test_hosts(void **state)
{
	char *items[] = {(char *)"perf.example.org", (char *)"one:8443", (char *)"fd00::7"};
	strvec allowed = {.items = items, .len = 3};
	static const char *const good[] = {
		"localhost",           "LOCALHOST:8080", "127.0.0.1",      "127.0.0.1:1",
		"127.9.8.7:65535",     "[::1]",          "[::1]:5000",     "perf.example.org",
		"Perf.Example.Org:99", "one:8443",       "[fd00::7]:5000",
	};
	static const char *const bad[] = {
		"",
		"example.org",
		"127.0.0.1.example.org",
		"localhost.example.org",
		"localhost@example.org",
		"localhost:",
		"localhost:123456",
		"localhost:80a",
		"127.0.0.1:80:80",
		"0x7f000001",
		"2130706433",
		"[::2]",
		"[::1",
		"[::1]x",
		"[]",
		"::1",
		"one",
		"one:8444",
		"perf.example.org.",
		"local host",
		"localhost/",
		"[127.0.0.1]",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		if (!host_allowed(good[i], &allowed))
			fail_msg("'%s' was refused", good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (host_allowed(bad[i], &allowed))
			fail_msg("'%s' was let in", bad[i]);
	assert_false(host_allowed(NULL, &allowed));
	assert_false(host_allowed("perf.example.org", NULL));
}

static void test_origins(void **state)
{
	(void)state;
	assert_true(origin_allowed(NULL, "localhost:5000"));
	assert_true(origin_allowed("http://localhost:5000", "localhost:5000"));
	assert_true(origin_allowed("http://LOCALHOST:5000", "localhost:5000"));
	assert_true(origin_allowed("https://perf.example.org", "perf.example.org"));
	assert_true(origin_allowed("https://perf.example.org", "perf.example.org:443"));
	assert_true(origin_allowed("http://[::1]:8080", "[::1]:8080"));
	assert_false(origin_allowed("http://localhost:3000", "localhost:5000"));
	assert_false(origin_allowed("http://127.0.0.1:5000", "localhost:5000"));
	assert_false(origin_allowed("http://localhost", "localhost:5000"));
	assert_false(origin_allowed("http://evil.example", "localhost:5000"));
	assert_false(origin_allowed("null", "localhost:5000"));
	assert_false(origin_allowed("", "localhost:5000"));
	assert_false(origin_allowed("file://", "localhost:5000"));
	assert_false(origin_allowed("http://localhost:5000@evil.example", "localhost:5000"));
	assert_false(origin_allowed("http://localhost:5000/", "localhost:5000"));
	assert_false(origin_allowed("http://localhost:5000", NULL));
}

/* Whose server an address is of decides what a client sends there. */
static void test_local_addresses(void **state)
{
	static const char *const local[] = {
		"http://127.0.0.1:5000", "http://127.1.2.3",    "http://localhost:1/",
		"https://LOCALHOST",     "http://[::1]:5000/x", "http://user@127.0.0.1:5000",
	};
	static const char *const foreign[] = {
		"http://127.evil.com",
		"http://127.0.0.1.evil.com:5000",
		"http://localhost.evil.com",
		"http://127.0.0.1@evil.com",
		"http://localhost:5000@evil.com",
		"http://evil.com/127.0.0.1",
		"http://[::2]:5000",
		"http://[::1].evil.com",
		"http://0.0.0.0:5000",
		"http://128.0.0.1",
		"http://",
		"127.0.0.1",
		"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(local); i++)
		if (!client_url_is_local(local[i]))
			fail_msg("'%s' is on this machine", local[i]);
	for (size_t i = 0; i < ARRAY_LEN(foreign); i++)
		if (client_url_is_local(foreign[i]))
			fail_msg("'%s' may be another machine", foreign[i]);
	assert_true(client_url_same_server("http://127.0.0.1:5000", "http://localhost:5000/"));
	assert_true(client_url_same_server("http://Build7", "http://build7:80"));
	assert_false(client_url_same_server("http://127.0.0.1:5000", "http://127.0.0.1:5001"));
	assert_false(client_url_same_server("http://127.0.0.1:5000", "https://127.0.0.1:5000"));
	assert_false(client_url_same_server("http://127.0.0.1:5000", "http://127.evil.com:5000"));
	assert_false(client_url_same_server("http://127.0.0.1:5000", ""));
}

static bool lets_in(const char *ranges, const char *address)
{
	CLEANUP(strvec_release) strvec texts = {};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	struct sockaddr_in four = {.sin_family = AF_INET};
	cidr_list list = {};
	bool found;

	text_split(ranges, ",", &texts);
	vec_each(&texts, text) {
		struct cidr range;

		assert_int_equal(cidr_parse(*text, &range, NULL), 0);
		vec_push(&list, range);
	}
	if (inet_pton(AF_INET, address, &four.sin_addr) == 1) {
		found = cidr_match(&list, (struct sockaddr *)&four);
	} else {
		assert_int_equal(inet_pton(AF_INET6, address, &six.sin6_addr), 1);
		found = cidr_match(&list, (struct sockaddr *)&six);
	}
	vec_release(&list);
	return found;
}

static void test_address_ranges(void **state)
{
	static const char *const bad[] = {"",          "x",          "10.0.0.0/33", "10.0.0/8",
					  "10.0.0.0/", "::1/129",    "::1/-1",      "10.0.0.0/8/8",
					  "localhost", "fe80::1%lo", "[::1]/128",   "10.0.0.0/ 8"};
	struct cidr range;

	(void)state;
	assert_true(lets_in("192.0.2.0/24", "192.0.2.255"));
	assert_false(lets_in("192.0.2.0/24", "192.0.3.0"));
	assert_true(lets_in("192.0.2.7", "192.0.2.7"));
	assert_false(lets_in("192.0.2.7", "192.0.2.6"));
	assert_true(lets_in("10.0.0.0/9,2001:db8::/33", "10.127.255.255"));
	assert_false(lets_in("10.0.0.0/9,2001:db8::/33", "10.128.0.0"));
	assert_true(lets_in("10.0.0.0/9,2001:db8::/33", "2001:db8:7fff::1"));
	assert_false(lets_in("10.0.0.0/9,2001:db8::/33", "2001:db8:8000::1"));
	assert_true(lets_in("0.0.0.0/0", "203.0.113.1"));
	assert_false(lets_in("0.0.0.0/0", "::1"));
	assert_true(lets_in("::/0", "::1"));
	assert_false(lets_in("::/0", "203.0.113.1"));
	/* The same client on a socket of version 6, and the same range written as one. */
	assert_true(lets_in("192.0.2.0/24", "::ffff:192.0.2.9"));
	assert_false(lets_in("192.0.2.0/24", "::ffff:192.0.3.9"));
	assert_false(lets_in("::/0", "::ffff:192.0.2.9"));
	assert_true(lets_in("::ffff:192.0.2.0/120", "192.0.2.9"));
	/* Not the deprecated form without ffff. */
	assert_false(lets_in("192.0.2.0/24", "::192.0.2.9"));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (cidr_parse(bad[i], &range, NULL) != -EINVAL)
			fail_msg("'%s' is no range", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roles),           cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_hosts),           cmocka_unit_test(test_origins),
		cmocka_unit_test(test_local_addresses), cmocka_unit_test(test_address_ranges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
