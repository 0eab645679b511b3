/*
 * For tests of the store: a new one for each test, with sessions and runs to fill. Include it after
 * cmocka.h.
 */
#ifndef TACHO_TESTS_STORE_FIXTURE_H
#define TACHO_TESTS_STORE_FIXTURE_H

#include "store/store.h"
#include "store_support.h"

static struct store *store;
static unsigned directories;
static char directory[300];

static inline int open_new(void **state)
{
	(void)state;
	snprintf(directory, sizeof(directory), "%s/a/%u", support_dir, directories++);
	if (store_open(&store, &(struct store_options){.directory = directory}, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return -1;
	}
	return 0;
}

static inline int close_it(void **state)
{
	(void)state;
	store_close(store);
	store = NULL;
	return 0;
}

static inline void reopen(void)
{
	store_close(store);
	store = NULL;
	OK(store_open(&store, &(struct store_options){.directory = directory}, &error));
}

static inline int64_t add_session(const char *title)
{
	struct stored_session s = {};
	int64_t id;

	OK(store_session_add(store, title, &s, &error));
	id = s.id;
	stored_session_release(&s);
	return id;
}

static inline struct stored_run plain_run(int64_t session, const char *command)
{
	return (struct stored_run){.session_id = session,
				   .user = (char *)"ann",
				   .command = (char *)command,
				   .plan = (char *)"{}",
				   .tags = (char *)"[]"};
}

static inline int64_t add_run(int64_t session, const char *command)
{
	struct stored_run r = plain_run(session, command);

	OK(store_run_add(store, &r, &error));
	return r.id;
}

static inline int64_t new_run(void)
{
	return add_run(add_session("s"), "true");
}

#define STORE_TEST(name) cmocka_unit_test_setup_teardown(name, open_new, close_it)

#endif
