/* text/event-stream: events come out the same, however the bytes are cut. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/event_parser.h"

#include <errno.h>
#include <string.h>

struct seen {
	struct buf text; /* "name=data|" of each */
	int left;        /* after so many it is enough; < 0: never */
};

static bool note(void *ctx, const char *name, const char *data, size_t len)
{
	struct seen *s = ctx;

	assert_int_equal(strlen(data), len);
	buf_addf(&s->text, "%s=%s|", name, data);
	return s->left < 0 || --s->left > 0;
}

static const char stream[] = ": hello\n"
			     "id: 7\nevent: state\ndata: {\"a\": 1}\n\n"
			     "data:one\r\ndata: two\r\ndata\r\n\r\n"
			     "event: nothing\nid: 9\n\n"
			     "event: x\rdata:  y\r\r"
			     "id: 10\ndata: not complete\n";
static const char events[] = "state={\"a\": 1}|message=one\ntwo\n|x= y|";

static void test_any_cut(void **state)
{
	(void)state;
	for (size_t step = 1; step <= sizeof(stream); step++) {
		struct seen s = {.left = -1};
		struct event_parser p;

		event_parser_init(&p, 1000);
		for (size_t at = 0; at < strlen(stream); at += step) {
			size_t rest = strlen(stream) - at;

			assert_int_equal(event_parser_feed(&p, stream + at,
							   rest < step ? rest : step, note, &s),
					 0);
		}
		assert_string_equal(buf_str(&s.text), events);
		assert_string_equal(buf_str(&p.last_id), "9");
		event_parser_release(&p);
		buf_release(&s.text);
	}
}

static void test_restart(void **state)
{
	static const char cut[] = "id: 3\ndata: a\n\nevent: lost\ndata: half";
	struct seen s = {.left = -1};
	struct event_parser p;

	(void)state;
	event_parser_init(&p, 1000);
	event_parser_feed(&p, cut, strlen(cut), note, &s);
	event_parser_restart(&p);
	event_parser_feed(&p, "data: b\n\n", 9, note, &s);
	assert_string_equal(buf_str(&s.text), "message=a|message=b|");
	assert_string_equal(buf_str(&p.last_id), "3");
	event_parser_release(&p);
	buf_release(&s.text);
}

static void test_enough(void **state)
{
	struct seen s = {.left = 1};
	struct event_parser p;

	(void)state;
	event_parser_init(&p, 1000);
	event_parser_feed(&p, "data: a\n\ndata: b\n\n", 18, note, &s);
	assert_string_equal(buf_str(&s.text), "message=a|");
	event_parser_release(&p);
	buf_release(&s.text);
}

static void test_limit(void **state)
{
	struct seen s = {.left = -1};
	struct event_parser p;
	int rc = 0;

	(void)state;
	event_parser_init(&p, 100);
	for (int i = 0; i < 20 && rc == 0; i++)
		rc = event_parser_feed(&p, "data: 0123456789\n", 17, note, &s);
	assert_int_equal(rc, -EMSGSIZE);
	event_parser_release(&p);
	buf_release(&s.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_cut),
		cmocka_unit_test(test_restart),
		cmocka_unit_test(test_enough),
		cmocka_unit_test(test_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
