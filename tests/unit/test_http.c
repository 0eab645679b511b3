/* The HTTP server, asked through real sockets on the loopback address. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/http.h"
#include "http_fixture.h"

static void test_routes(void **state)
{
	(void)state;
	expect("GET /healthz", HOST, NULL, 200, "{\"user\":\"\"}");
	expect("GET /healthz", HOST LOOK, NULL, 200, "{\"user\":\"looker\"}");
	expect("GET /echo/a%20b?q=%2Fx", HOST LOOK, NULL, 200, "looker|a b|/x|/echo/a b|");
	expect("POST /echo/z", HOST RUN, "body", 200, "runner|z|-|/echo/z|body");
	expect("POST /echo/z", HOST RUN, "", 200, "runner|z|-|/echo/z|");
	expect("GET /echo/a", HOST LOOK, NULL, 200, "X-Odd: a  Set-Cookie: b\r\n");
	expect("GET /nothing", HOST LOOK, NULL, 404, "\"code\":\"not_found\"");
	expect("PUT /echo/a", HOST RUN, "x", 405, "PUT cannot be done");
	expect("GET /fail", HOST LOOK, NULL, 404, "\"message\":\"There is no \\\"thing\\\".\"");
	expect("GET /echo/..%2f", HOST LOOK, NULL, 400, "\"code\":\"bad_request\"");
	expect("GET /../etc/passwd", HOST LOOK, NULL, 400, "\"code\":\"bad_request\"");
}

static void test_head(void **state)
{
	CLEANUP(buf_release) struct buf reply = {};
	const char *end;

	(void)state;
	ask(&reply, "HEAD /healthz", HOST, NULL, 0);
	end = strstr(buf_str(&reply), "\r\n\r\n");
	assert_non_null(end);
	assert_string_equal(end, "\r\n\r\n");
	assert_non_null(strstr(reply.s, "Content-Length: 11"));
}

static void test_tokens(void **state)
{
	(void)state;
	expect("GET /echo/a", HOST, NULL, 401, "\"code\":\"unauthorized\"");
	expect("GET /nothing", HOST, NULL, 401, "WWW-Authenticate: Bearer");
	expect("GET /echo/a", HOST "Authorization: Bearer wrong\r\n", NULL, 401, "not known");
	expect("POST /echo/a", HOST "Authorization: Bearer wrong\r\n", "x", 401, "not known");
	expect("GET /echo/a?token=look-token", HOST, NULL, 200, "looker");
	expect("GET /echo/a", HOST "Cookie: x=1; tacho_1=cookie-of-1\r\n", NULL, 200, "runner");
	expect("GET /echo/a", HOST "Cookie: tacho_2=look-token\r\n", NULL, 401, "");
	expect("GET /echo/a", HOST "Accept: text/html\r\n", NULL, 401, "tacho serve");
	expect("POST /echo/a", HOST LOOK, "x", 403, "needs the role 'run'");
	expect("DELETE /echo/a", HOST RUN, NULL, 403, "needs the role 'administer'");
	revoked = true;
	expect("GET /echo/a", HOST LOOK, NULL, 401, "not known");
	revoked = false;
	expect("GET /echo/a", HOST LOOK, NULL, 200, "looker");
}

/* A token that cannot be looked up is not a wrong one: clients are to come again, not to throw it away. */
static void test_nobody_can_be_looked_up(void **state)
{
	(void)state;
	failing = true;
	expect("GET /echo/a", HOST LOOK, NULL, 503, "cannot be read now");
	expect("POST /echo/a", HOST RUN, "x", 503, "\"code\":\"unavailable\"");
	expect("GET /echo/a", HOST "Cookie: tacho_1=cookie-of-1\r\n", NULL, 503, "");
	expect("GET /echo/a?token=look-token", HOST "Accept: text/html\r\n", NULL, 503, "");
	expect("GET /healthz", HOST LOOK, NULL, 200, "{\"user\":\"\"}");
	failing = false;
	expect("GET /echo/a", HOST LOOK, NULL, 200, "looker");
}

static void test_log_in(void **state)
{
	(void)state;
	expect("GET /echo/a?x=1&token=look-token&y=2", HOST "Accept: text/html,*/*\r\n", NULL, 303,
	       "Location: /echo/a?x=1&y=2\r\n");
	expect("GET /echo/a?token=look-token", HOST "Accept: text/html\r\n", NULL, 303,
	       "Set-Cookie: tacho_1=cookie-of-2; Path=/; HttpOnly; SameSite=Strict; ");
	expect("GET /echo/a?token=wrong", HOST "Accept: text/html\r\n", NULL, 401, "tacho serve");
	/* Neither is good where the other one belongs. */
	expect("GET /echo/a", HOST "Cookie: tacho_1=cookie-of-1\r\n", NULL, 200, "runner");
	expect("GET /echo/a", HOST "Cookie: tacho_1=run-token\r\n", NULL, 401, "not known");
	expect("GET /echo/a", HOST "Authorization: Bearer cookie-of-1\r\n", NULL, 401, "not known");
}

static void test_hosts(void **state)
{
	static const char *const good[] = {"127.0.0.1", "localhost:8080", "[::1]:9", "127.1.2.3:1"};
	char headers[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		snprintf(headers, sizeof(headers), "Host: %s\r\n" LOOK, good[i]);
		expect("GET /echo/a", headers, NULL, 200, "looker");
	}
	expect("GET /echo/a", "Host: evil.example\r\n" LOOK, NULL, 403, "--allow-host");
	expect("GET /healthz", "Host: evil.example:5000\r\n", NULL, 403, "--allow-host");
	expect("GET /echo/a", "Host: 192.0.2.1\r\n" LOOK, NULL, 403, "--allow-host");
}

#define COOKIE "Cookie: tacho_1=cookie-of-1\r\n"

static void test_origins(void **state)
{
	(void)state;
	expect("POST /echo/a", HOST COOKIE "Origin: http://127.0.0.1:5000\r\n", "x", 200, "runner");
	expect("POST /echo/a", HOST COOKIE "Sec-Fetch-Site: same-origin\r\n", "x", 200, "runner");
	expect("POST /echo/a", HOST COOKIE "Origin: http://evil.example\r\n", "x", 403,
	       "another site");
	expect("POST /echo/a", HOST COOKIE "Origin: http://127.0.0.1:3000\r\n", "x", 403,
	       "another site");
	expect("POST /echo/a", HOST COOKIE "Origin: null\r\n", "x", 403, "another site");
	expect("POST /echo/a", HOST COOKIE "Sec-Fetch-Site: cross-site\r\n", "x", 403,
	       "another site");
	expect("POST /echo/a", HOST COOKIE "Sec-Fetch-Site: same-site\r\n", "x", 403,
	       "another site");
	expect("POST /echo/a", HOST COOKIE, "x", 403, "Origin");
	expect("POST /echo/a", HOST RUN "Origin: http://evil.example\r\n", "x", 403,
	       "another site");
	expect("GET /echo/a", HOST LOOK "Origin: http://evil.example\r\n", NULL, 403,
	       "another site");
	expect("GET /echo/a",
	       HOST COOKIE "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\n", NULL, 403,
	       "another site");
	/* A link is followed. */
	expect("GET /echo/a",
	       HOST LOOK "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n", NULL, 200,
	       "looker");
}

static void test_large_bodies(void **state)
{
	CLEANUP(buf_release) struct buf body = {}, reply = {}, chunks = {};
	int fd;

	(void)state;
	buf_pad(&body, 1 << 20, 'x');
	ask(&reply, "POST /echo/a", HOST RUN, body.s, body.len);
	assert_non_null(strstr(reply.s, "HTTP/1.1 200"));
	buf_add_char(&body, 'x');
	ask(&reply, "POST /echo/a", HOST RUN, body.s, body.len);
	assert_non_null(strstr(reply.s, "HTTP/1.1 413"));
	assert_non_null(strstr(reply.s, "larger than 1.0 MB"));
	/* Announced, but nobody would wait for it. */
	fd = dial(server);
	buf_clear(&reply);
	buf_addf(&chunks,
		 "POST /echo/a HTTP/1.1\r\n" HOST RUN "Content-Length: 99999999999\r\n\r\n");
	say(fd, chunks.s, chunks.len);
	hear(fd, &reply, "}}");
	assert_non_null(strstr(reply.s, "HTTP/1.1 413"));
	close(fd);
	/* Of unknown length. */
	fd = dial(server);
	buf_clear(&chunks);
	buf_clear(&reply);
	buf_add(&chunks, "POST /echo/a HTTP/1.1\r\n" HOST RUN "Transfer-Encoding: chunked\r\n\r\n");
	for (int i = 0; i < 3; i++) {
		buf_add(&chunks, "80000\r\n");
		buf_pad(&chunks, 0x80000, 'y');
		buf_add(&chunks, "\r\n");
	}
	buf_add(&chunks, "0\r\n\r\n");
	say(fd, chunks.s, chunks.len);
	hear(fd, &reply, "}}");
	assert_non_null(strstr(reply.s, "HTTP/1.1 413"));
	close(fd);
}

static void expect_upload(const struct buf *body, const char *type, bool chunked, const char *has)
{
	CLEANUP(buf_release) struct buf request = {}, reply = {};
	int fd = dial(server);

	buf_addf(&request, "POST /upload HTTP/1.1\r\nConnection: close\r\n" HOST RUN "%s", type);
	if (!chunked) {
		buf_addf(&request, "Content-Length: %zu\r\n\r\n", body->len);
		buf_add_mem(&request, buf_str(body), body->len);
	} else {
		buf_add(&request, "Transfer-Encoding: chunked\r\n\r\n");
		for (size_t at = 0; at < body->len; at += 70001) {
			size_t n = body->len - at < 70001 ? body->len - at : 70001;

			buf_addf(&request, "%zx\r\n", n);
			buf_add_mem(&request, body->s + at, n);
			buf_add(&request, "\r\n");
		}
		buf_add(&request, "0\r\n\r\n");
	}
	say(fd, request.s, request.len);
	hear(fd, &reply, NULL);
	close(fd);
	if (!strstr(buf_str(&reply), has))
		fail_msg("expected '%s', got: %s", has, buf_str(&reply));
}

static void test_uploads(void **state)
{
	CLEANUP(buf_release) struct buf body = {}, form = {}, large = {};
	char expected[64], as_form[64];
	uint64_t sum = 0;

	(void)state;
	for (unsigned i = 0; i < 5000000; i++) {
		unsigned char c = (unsigned char)(i * 2654435761u >> 24);

		sum += c;
		buf_add_char(&body, (char)c);
	}
	buf_add(&form, "--XX\r\nContent-Disposition: form-data; filename=\"p.data\"\r\n\r\n");
	buf_add_mem(&form, body.s, body.len);
	buf_add(&form, "\r\n--XX--\r\n");
	snprintf(expected, sizeof(expected), "5000000 %lu -", (unsigned long)sum);
	snprintf(as_form, sizeof(as_form), "5000000 %lu p.data", (unsigned long)sum);
	for (int chunked = 0; chunked < 2; chunked++) {
		expect_upload(&body, "", chunked, expected);
		expect_upload(&form, "Content-Type: multipart/form-data; boundary=XX\r\n", chunked,
			      as_form);
	}
	form.len -= 10;
	expect_upload(&form, "Content-Type: multipart/form-data; boundary=XX\r\n", false,
		      "ends too early");
	expect_upload(&form, "Content-Type: multipart/form-data\r\n", false, "HTTP/1.1 400");
	buf_pad(&large, (8 << 20) + 100000, 'x');
	expect_upload(&large, "", false, "HTTP/1.1 413");
	expect_upload(&large, "", true, "HTTP/1.1 413");
	large.len = 0;
	expect_upload(&large, "", false, "0 0 -");
	/* Nothing is left behind. */
	CLEANUP(strvec_release) strvec names = {};

	assert_int_equal(fs_list(support_dir, &names), 0);
	assert_int_equal(names.len, 0);
}

static void test_unchanged(void **state)
{
	CLEANUP(buf_release) struct buf reply = {}, headers = {};
	const char *tag;

	(void)state;
	ask(&reply, "GET /same", HOST LOOK, NULL, 0);
	tag = strstr(buf_str(&reply), "ETag: \"");
	assert_non_null(tag);
	assert_non_null(strstr(reply.s, "Cache-Control: private, no-cache"));
	assert_true(reply.len > 160000);
	buf_addf(&headers, HOST LOOK "If-None-Match: %.*s\r\n", (int)strcspn(tag + 6, "\r"),
		 tag + 6);
	ask(&reply, "GET /same", headers.s, NULL, 0);
	assert_non_null(strstr(reply.s, "HTTP/1.1 304"));
	assert_true(reply.len < 2000);
	ask(&reply, "GET /same", HOST LOOK "If-None-Match: \"other\"\r\n", NULL, 0);
	assert_non_null(strstr(reply.s, "HTTP/1.1 200"));
}

static void test_gzip(void **state)
{
	CLEANUP(buf_release) struct buf reply = {};
	static unsigned char plain[200000];
	z_stream z = {.next_out = plain, .avail_out = sizeof(plain)};
	char *body;

	(void)state;
	ask(&reply, "GET /same", HOST LOOK "Accept-Encoding: br, gzip\r\n", NULL, 0);
	assert_non_null(strstr(reply.s, "Content-Encoding: gzip"));
	assert_non_null(strstr(reply.s, "Vary: Accept-Encoding"));
	assert_true(reply.len < 10000);
	body = strstr(reply.s, "\r\n\r\n") + 4;
	z.next_in = (unsigned char *)body;
	z.avail_in = (unsigned)(reply.len - (size_t)(body - reply.s));
	assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.total_out, 160000);
	assert_memory_equal(plain, "[1,2,3]\n[1", 10);
	inflateEnd(&z);
}

static void test_files(void **state)
{
	CLEANUP(buf_release) struct buf reply = {};

	(void)state;
	write_text("given", "<svg/>");
	ask(&reply, "GET /file", HOST LOOK, NULL, 0);
	assert_non_null(strstr(buf_str(&reply), "\r\n\r\n<svg/>"));
	assert_non_null(strstr(reply.s, "Content-Disposition: attachment; filename=\"x.svg\""));
	assert_non_null(strstr(reply.s, "sandbox allow-scripts"));
	unlink(in_dir("given"));
}

static void test_keep_alive(void **state)
{
	CLEANUP(buf_release) struct buf reply = {};
	static const char two[] =
		"GET /echo/one HTTP/1.1\r\n" HOST LOOK "\r\n"
		"POST /echo/two HTTP/1.1\r\n" HOST RUN "Content-Length: 2\r\n\r\nhi"
		"GET /echo/three HTTP/1.1\r\nConnection: close\r\n" HOST LOOK "\r\n";
	const char *one, *second;
	int fd = dial(server);

	(void)state;
	say(fd, two, sizeof(two) - 1);
	hear(fd, &reply, NULL);
	one = strstr(buf_str(&reply), "looker|one|");
	assert_non_null(one);
	second = strstr(one, "runner|two|-|/echo/two|hi");
	assert_non_null(second);
	assert_non_null(strstr(second, "looker|three|"));
	close(fd);
}

static void test_stream(void **state)
{
	CLEANUP(buf_release) struct buf reply = {};
	struct http_counts counts;
	const char *id;
	char again[300];
	int fd = dial(server);

	(void)state;
	say(fd, "GET /live HTTP/1.1\r\n" HOST LOOK "\r\n",
	    strlen("GET /live HTTP/1.1\r\n" HOST LOOK "\r\n"));
	hear(fd, &reply, "event: first\ndata: {}\n\n");
	assert_non_null(strstr(reply.s, "Content-Type: text/event-stream"));
	assert_non_null(strstr(reply.s, "retry: "));
	bus_publish(bus, "run/1", "state", "{\"n\":1}", 7);
	bus_publish(bus, "run/2", "state", "{\"n\":2}", 7);
	bus_publish(bus, "run/1", "state", "{\"n\":3}", 7);
	hear(fd, &reply, "{\"n\":3}\n\n");
	assert_non_null(strstr(reply.s, "event: state\ndata: {\"n\":1}\n\n"));
	assert_null(strstr(reply.s, "{\"n\":2}"));
	http_server_counts(server, &counts);
	assert_int_equal(counts.streams, 1);
	close(fd);

	/* Back again, with the number of the first. */
	bus_publish(bus, "run/1", "state", "{\"n\":4}", 7);
	id = strstr(reply.s, "id: ");
	snprintf(again, sizeof(again),
		 "GET /live HTTP/1.1\r\n" HOST LOOK "Last-Event-ID: %.*s\r\n\r\n",
		 (int)strcspn(id + 4, "\n"), id + 4);
	buf_clear(&reply);
	fd = dial(server);
	say(fd, again, strlen(again));
	hear(fd, &reply, "{\"n\":4}\n\n");
	assert_null(strstr(reply.s, "{\"n\":1}"));
	assert_non_null(strstr(reply.s, "{\"n\":3}"));
	close(fd);
	for (int i = 0; i < PATIENCE_MS / 10 && counts.streams; i++) {
		usleep(10000);
		http_server_counts(server, &counts);
	}
	assert_int_equal(counts.streams, 0);
}

/* An end while clients wait, send and watch. */
static void test_stop_in_use(void **state)
{
	struct http_options o = options();
	struct http_server *other = NULL;
	int fds[30];

	(void)state;
	assert_int_equal(http_server_start(&other, &o, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		static const char *const requests[] = {
			"GET /live HTTP/1.1\r\n" HOST LOOK "\r\n",
			"POST /upload HTTP/1.1\r\n" HOST RUN "Content-Length: 100000\r\n\r\nabc",
			"GET /sa",
			"GET /same HTTP/1.1\r\n" HOST LOOK "\r\n",
		};
		const char *r = requests[i % ARRAY_LEN(requests)];

		fds[i] = dial(other);
		say(fds[i], r, strlen(r));
	}
	http_server_stop(other);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		close(fds[i]);
}

static void start_fails(struct http_options *o, const char *why)
{
	struct http_server *other = NULL;
	struct err e = {};

	assert_true(http_server_start(&other, o, &e) < 0);
	if (!strstr(e.text, why))
		fail_msg("expected '%s', got: %s", why, e.text);
}

static void test_bad_starts(void **state)
{
	struct http_options o = options();

	(void)state;
	o.port = http_server_port(server);
	start_fails(&o, "in use");
	o.port = 0;
	o.host = "192.0.2.77";
	start_fails(&o, "not an address of this machine");
	o.host = "no such name";
	start_fails(&o, "cannot listen on 'no such name'");
	o = options();
	o.cert_path = in_dir("cert");
	start_fails(&o, "both a certificate and its key");
	o.key_path = in_dir("key");
	start_fails(&o, "cannot read the certificate");
	write_text("cert", "not one\n");
	write_text("key", "not one\n");
	start_fails(&o, "is no certificate in PEM form");
	unlink(in_dir("cert"));
	unlink(in_dir("key"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_routes),      cmocka_unit_test(test_head),
		cmocka_unit_test(test_tokens),      cmocka_unit_test(test_nobody_can_be_looked_up),
		cmocka_unit_test(test_log_in),      cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_origins),     cmocka_unit_test(test_large_bodies),
		cmocka_unit_test(test_uploads),     cmocka_unit_test(test_unchanged),
		cmocka_unit_test(test_gzip),        cmocka_unit_test(test_files),
		cmocka_unit_test(test_keep_alive),  cmocka_unit_test(test_stream),
		cmocka_unit_test(test_stop_in_use), cmocka_unit_test(test_bad_starts),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
