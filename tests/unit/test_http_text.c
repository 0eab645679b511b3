/* What clients write into requests: targets, headers, forms, and which route a path leads to. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/http_text.h"
#include "net/multipart.h"

#include <errno.h>
#include <string.h>

static void check_target(const char *target, const char *path, const char *name, const char *value)
{
	CLEANUP(free_ptr) char *got = NULL;
	http_pairs query = {};

	assert_int_equal(target_parse(target, &got, &query, NULL), 0);
	assert_string_equal(got, path);
	if (name) {
		bool found = false;

		vec_each(&query, pair)
			if (!strcmp(pair->name, name)) {
				assert_string_equal(pair->value, value);
				found = true;
			}
		assert_true(found);
	}
	http_pairs_release(&query);
}

static void test_targets(void **state)
{
	static const char *const bad[] = {
		"",          "x",      "*",      "http://x/", "/..",     "/a/../b", "/a/./b",
		"/%2e%2e/x", "/a%2fb", "/a%00b", "/%",        "/%4",     "/%zz",    "/a\nb",
		"/a%0ab",    "/a%7fb", "/?a=%",  "/?%=a",     "/?a=%00", "/%2e",
	};

	(void)state;
	check_target("/", "/", NULL, NULL);
	check_target("//", "//", NULL, NULL);
	check_target("/a/b", "/a/b", NULL, NULL);
	check_target("/a/", "/a/", NULL, NULL);
	check_target("/%41%c3%a4?x=%26+y&z", "/A\xc3\xa4", "x", "& y");
	check_target("/a+b?z", "/a+b", "z", "");
	check_target("/a?&&b=1==2&", "/a", "b", "1==2");
	check_target("/a?b=%2F..%2F", "/a", "b", "/../");
	check_target("/a...b/..c", "/a...b/..c", NULL, NULL);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(free_ptr) char *path = NULL;
		http_pairs query = {};
		struct err e = {};

		if (target_parse(bad[i], &path, &query, &e) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_true(e.text[0]);
		http_pairs_release(&query);
	}
}

static void test_too_many_parameters(void **state)
{
	CLEANUP(buf_release) struct buf target = {};
	CLEANUP(free_ptr) char *path = NULL;
	http_pairs query = {};

	(void)state;
	buf_add(&target, "/?");
	for (int i = 0; i < HTTP_QUERY_MAX + 1; i++)
		buf_add(&target, "a=1&");
	assert_int_equal(target_parse(target.s, &path, &query, NULL), -EINVAL);
	assert_int_equal(query.len, HTTP_QUERY_MAX);
	http_pairs_release(&query);
}

static void check_without(const char *target, const char *expected)
{
	CLEANUP(free_ptr) char *got = target_without(target, "token");

	assert_string_equal(got, expected);
}

static void test_without(void **state)
{
	(void)state;
	check_without("/?token=x", "/");
	check_without("/a?b=1&token=x&c=%20", "/a?b=1&c=%20");
	check_without("/a?%74oken=x&tokens=1", "/a?tokens=1");
	check_without("/a", "/a");
	check_without("/a?token", "/a");
}

static void test_tokens(void **state)
{
	char t[TOKEN_BYTES];
	char long_one[] = "Bearer aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"; /* 44 */

	(void)state;
	assert_true(bearer_token("Bearer abc-_9", t));
	assert_string_equal(t, "abc-_9");
	assert_true(bearer_token("bearer   abc  ", t));
	assert_string_equal(t, "abc");
	assert_false(bearer_token("Bearer", t));
	assert_false(bearer_token("Bearer ", t));
	assert_false(bearer_token("Bearer a b", t));
	assert_false(bearer_token("Bearer a;b", t));
	assert_false(bearer_token("Basic abc", t));
	assert_false(bearer_token(long_one, t));
	long_one[sizeof(long_one) - 2] = '\0';
	assert_true(bearer_token(long_one, t));

	assert_true(cookie_token("tacho_1=abc", "tacho_1", t));
	assert_true(cookie_token("x=y; tacho_1=abc; z=", "tacho_1", t));
	assert_string_equal(t, "abc");
	/* Another server on the same host. */
	assert_true(cookie_token("tacho_2=other;tacho_1=abc", "tacho_1", t));
	assert_string_equal(t, "abc");
	assert_false(cookie_token("tacho_12=abc; xtacho_1=abc", "tacho_1", t));
	assert_false(cookie_token("tacho_1=", "tacho_1", t));
	assert_false(cookie_token("tacho_1", "tacho_1", t));
	assert_false(cookie_token("tacho_1=a\"b", "tacho_1", t));
	assert_false(cookie_token("", "tacho_1", t));
}

static void test_lists(void **state)
{
	(void)state;
	assert_true(list_accepts("gzip", "gzip"));
	assert_true(list_accepts("br, GZIP;q=0.5", "gzip"));
	assert_true(list_accepts("gzip;q=1.0, br", "gzip"));
	assert_false(list_accepts("gzip;q=0", "gzip"));
	assert_false(list_accepts("gzip;q=0.000, br", "gzip"));
	assert_false(list_accepts("xgzip, gzipx", "gzip"));
	assert_false(list_accepts("", "gzip"));
	assert_false(list_accepts(NULL, "gzip"));
	assert_true(etag_listed("\"a\"", "\"a\""));
	assert_true(etag_listed("\"b\", W/\"a\"", "\"a\""));
	assert_true(etag_listed("*", "\"a\""));
	assert_false(etag_listed("\"ab\"", "\"a\""));
	assert_false(etag_listed(NULL, "\"a\""));
}

static void test_boundaries(void **state)
{
	char b[71];

	(void)state;
	assert_true(multipart_boundary("multipart/form-data; boundary=xyz", b, sizeof(b)));
	assert_string_equal(b, "xyz");
	assert_true(multipart_boundary("Multipart/Form-Data;charset=x; Boundary=\"x y\"", b,
				       sizeof(b)));
	assert_string_equal(b, "x y");
	assert_false(multipart_boundary("multipart/form-data", b, sizeof(b)));
	assert_false(multipart_boundary("multipart/form-data; boundary=", b, sizeof(b)));
	assert_false(multipart_boundary("multipart/mixed; boundary=a", b, sizeof(b)));
	assert_false(multipart_boundary("application/json", b, sizeof(b)));
}

static void test_disposition(void **state)
{
	CLEANUP(buf_release) struct buf b = {};

	(void)state;
	disposition_add(&b, "a\"b\r\n;\xc3\xa4.csv");
	assert_string_equal(b.s, "attachment; filename=\"a_b_____.csv\"; "
				 "filename*=UTF-8''a%22b%0D%0A%3B%C3%A4.csv");
}

static void test_routes(void **state)
{
	struct path_args args;
	unsigned plain, suffix, exact;

	(void)state;
	exact = path_match("/run/queue", "/run/queue", &args);
	assert_int_equal(args.count, 0);
	suffix = path_match("/run/{id}.json", "/run/a.b.json", &args);
	assert_int_equal(args.count, 1);
	assert_memory_equal(args.items[0].s, "a.b", 3);
	assert_int_equal(args.items[0].len, 3);
	plain = path_match("/run/{id}", "/run/a.b.json", &args);
	assert_int_equal(args.items[0].len, 8);
	assert_true(plain > 0 && suffix > plain);
	assert_true(exact > path_match("/run/{id}", "/run/queue", &args));
	assert_true(path_match("/", "/", &args) > 0);
	assert_true(path_match("/a/{x}/b/{y}", "/a/1/b/2", &args) > 0);
	assert_int_equal(args.count, 2);
	assert_int_equal(path_match("/run/{id}", "/run/", &args), 0);
	assert_int_equal(path_match("/run/{id}", "/run", &args), 0);
	assert_int_equal(path_match("/run/{id}", "/run/a/b", &args), 0);
	assert_int_equal(path_match("/run/{id}.json", "/run/.json", &args), 0);
	assert_int_equal(path_match("/run", "/run/", &args), 0);
	assert_int_equal(path_match("/run", "/runs", &args), 0);
	assert_int_equal(path_match("/a/{x}", "", &args), 0);
}

static int keep(void *ctx, const void *bytes, size_t size, struct err *e)
{
	(void)e;
	buf_add_mem(ctx, bytes, size);
	return 0;
}

/* In pieces of @step bytes. */
static int parts_read(const char *text, size_t len, size_t step, struct buf *file, char **name)
{
	struct multipart m;
	int err = 0;

	buf_clear(file);
	multipart_begin(&m, "XX", keep, file);
	for (size_t at = 0; at < len && !err; at += step)
		err = multipart_feed(&m, text + at, len - at < step ? len - at : step, NULL);
	if (!err)
		err = multipart_finish(&m, NULL);
	*name = m.file_name;
	m.file_name = NULL;
	multipart_release(&m);
	return err;
}

#define FORM                                                                                       \
	"before\r\n--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nvalue\r\n--XX\r\n"    \
	"Content-Type: x/y\r\ncontent-disposition: form-data; name=\"f\"; "                        \
	"filename=\"../d/perf.data\"\r\n\r\n"

static void test_parts(void **state)
{
	/* What nearly is a delimiter belongs to the file. */
	static const char content[] = "\0\1\r\n--X\r\n-\r\r\n--X\xff\r\n";
	CLEANUP(buf_release) struct buf text = {}, file = {};

	(void)state;
	buf_add(&text, FORM);
	buf_add_mem(&text, content, sizeof(content) - 1);
	buf_add(&text, "\r\n--XX--\r\nafter");
	for (size_t step = 1; step < text.len + 2; step++) {
		char *name;

		assert_int_equal(parts_read(text.s, text.len, step, &file, &name), 0);
		assert_int_equal(file.len, sizeof(content) - 1);
		assert_memory_equal(file.s, content, file.len);
		assert_string_equal(name, "perf.data");
		free(name);
	}
}

static void test_bad_parts(void **state)
{
	static const char *const bad[] = {
		"",
		"--XX--\r\n",
		"--XX\r\n\r\nno file\r\n--XX--",
		FORM "cut",
		FORM "x\r\n--XX",
		FORM "x\r\n--XXY",
		FORM
		"x\r\n--XX\r\nContent-Disposition: form-data; filename=\"b\"\r\n\r\ny\r\n--XX--",
	};
	CLEANUP(buf_release) struct buf file = {}, head = {};
	char *name;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (parts_read(bad[i], strlen(bad[i]), 5, &file, &name) != -EINVAL)
			fail_msg("form %zu was taken", i);
		free(name);
	}
	buf_add(&head, "--XX\r\n");
	buf_pad(&head, 100000, 'x');
	assert_int_equal(parts_read(head.s, head.len, 1000, &file, &name), -EINVAL);
	free(name);
}

/* Time grows with the bytes, not with parts times bytes: that would be most of an hour. */
static void test_many_parts(void **state)
{
	CLEANUP(buf_release) struct buf form = {}, file = {};
	char *name;

	(void)state;
	for (int i = 0; i < 500000; i++)
		buf_add(&form, "--XX\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n\r\n");
	buf_add(&form, "--XX\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a\"\r\n\r\n"
		       "bytes\r\n--XX--\r\n");
	assert_int_equal(parts_read(form.s, form.len, form.len, &file, &name), 0);
	assert_string_equal(buf_str(&file), "bytes");
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_targets),     cmocka_unit_test(test_too_many_parameters),
		cmocka_unit_test(test_without),     cmocka_unit_test(test_tokens),
		cmocka_unit_test(test_lists),       cmocka_unit_test(test_boundaries),
		cmocka_unit_test(test_disposition), cmocka_unit_test(test_routes),
		cmocka_unit_test(test_parts),       cmocka_unit_test(test_bad_parts),
		cmocka_unit_test(test_many_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
