#include "event/usage.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define USAGE_ROWS_MAX  200
#define USAGE_BYTES_MAX (64 << 10)

static char *usage_path(bool for_writing)
{
	CLEANUP(free_ptr) char *dir = fs_xdg_dir("XDG_DATA_HOME", ".local/share");

	if (!dir || (for_writing && fs_mkdir_p(dir) < 0))
		return NULL;
	return xasprintf("%s/events-used", dir);
}

static int by_count(const void *a, const void *b)
{
	const struct usage_row *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* The file has lines "COUNT NAME". */
void usage_load(struct usage *u)
{
	CLEANUP(free_ptr) char *path = usage_path(false);
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(strvec_release) strvec lines = {};

	if (!path || fs_read(path, USAGE_BYTES_MAX, &text) < 0)
		return;
	text_split(text, "\n", &lines);
	vec_each(&lines, line) {
		char *space = strchr(*line, ' ');
		long long count;

		if (!space || u->rows.len >= USAGE_ROWS_MAX)
			continue;
		*space = '\0';
		if (parse_i64(*line, &count) && count > 0 && count < 1000000000)
			vec_push(&u->rows, (struct usage_row){xstrdup(space + 1), (unsigned)count});
	}
	if (u->rows.len)
		qsort(u->rows.items, u->rows.len, sizeof(*u->rows.items), by_count);
}

unsigned usage_of(const struct usage *u, const char *name)
{
	vec_each(&u->rows, row)
		if (!strcmp(row->name, name))
			return row->count;
	return 0;
}

void usage_note(const struct event_list *list)
{
	struct usage u = {};
	CLEANUP(buf_release) struct buf text = {};
	CLEANUP(free_ptr) char *path = usage_path(true);

	if (!path)
		return;
	usage_load(&u);
	vec_each(&list->events, event) {
		bool found = false;

		/* Ignore long lists: a glob for hundreds of tracepoints says nothing about each. */
		if (list->events.len > 50 || strchr(event->name, '\n'))
			break;
		vec_each(&u.rows, row)
			if (!strcmp(row->name, event->name)) {
				row->count++;
				found = true;
			}
		if (!found)
			vec_push(&u.rows, (struct usage_row){xstrdup(event->name), 1});
	}
	if (u.rows.len)
		qsort(u.rows.items, u.rows.len, sizeof(*u.rows.items), by_count);
	for (size_t i = 0; i < u.rows.len && i < USAGE_ROWS_MAX; i++)
		buf_addf(&text, "%u %s\n", u.rows.items[i].count, u.rows.items[i].name);
	fs_write_atomic(path, buf_str(&text), text.len);
	usage_release(&u);
}

void usage_release(struct usage *u)
{
	vec_each(&u->rows, row)
		free(row->name);
	vec_release(&u->rows);
}
