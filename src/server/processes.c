#include "server/processes.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/text.h"
#include "collect/run/plan.h"
#include "perf/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMMAND_BYTES_MAX 4096
#define STAT_BYTES_MAX    4096
#define PIDS_MAX          4194304

/* Cache of user names: each uid is looked up only once. */
struct user_names {
	VEC(struct {
		uint32_t uid;
		char *name;
	})
	rows;
};

static const char *user_name(struct user_names *names, uint32_t uid)
{
	struct passwd entry, *found = NULL;
	char buffer[4096];

	vec_each(&names->rows, row)
		if (row->uid == uid)
			return row->name;
	getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found);
	vec_reserve(&names->rows, names->rows.len + 1);
	names->rows.items[names->rows.len].uid = uid;
	names->rows.items[names->rows.len].name =
		found ? xstrdup(found->pw_name) : xasprintf("%u", uid);
	return names->rows.items[names->rows.len++].name;
}

static int descending(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return x < y ? 1 : x > y ? -1 : 0;
}

typedef VEC(int) pids;

static void list_pids(int before, pids *ret)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		long long pid;

		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
		    parse_i64(entry->d_name, &pid) && pid <= PIDS_MAX && (!before || pid < before))
			vec_push(ret, (int)pid);
	}
	if (dir)
		closedir(dir);
	if (ret->len)
		qsort(ret->items, ret->len, sizeof(*ret->items), descending);
}

/* Adds the command line, quoted as for a shell; adds nothing for a kernel thread. */
static void read_command(int pid, struct buf *out)
{
	char path[64], text[COMMAND_BYTES_MAX + 1];
	CLEANUP(strvec_release) strvec words = {};
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	len = read(fd, text, COMMAND_BYTES_MAX);
	close(fd);
	if (len <= 0)
		return;
	text[len] = '\0';
	/* A process that overwrites its arguments leaves trailing blanks and NULs. */
	while (len && (text[len - 1] == '\0' || text[len - 1] == ' '))
		text[--len] = '\0';
	for (char *word = text; word <= text + len && len; word += strlen(word) + 1)
		vec_push(&words, xstrdup(word));
	words_join(words.items, words.len, out);
}

/*
 * Parses CPU time, threads and name from /proc/PID/stat. The name, in parentheses, may contain any
 * character, so it ends at the last ')'.
 */
static bool parse_stat(const char *text, struct process_row *row)
{
	const char *open = strchr(text, '('), *close = strrchr(text, ')');
	unsigned long long user = 0, system = 0;
	unsigned threads = 0;

	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d %*d %*d %*d %u",
		   &user, &system, &threads) != 3)
		return false;
	row->comm = xstrndup(open + 1, (size_t)(close - open - 1));
	row->threads = threads;
	row->cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
	return true;
}

/* All but the user's name. */
static bool read_row(int pid, struct process_row *ret, uint32_t *ret_uid)
{
	CLEANUP(free_ptr) char *stat = NULL;
	CLEANUP(buf_release) struct buf command = {};
	struct process_facts facts;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (fs_read(path, STAT_BYTES_MAX, &stat) < 0 || !process_read((uint32_t)pid, &facts))
		return false;
	*ret = (struct process_row){.pid = pid};
	if (!parse_stat(stat, ret))
		return false;
	read_command(pid, &command);
	if (!command.len)
		buf_addf(&command, "[%s]", ret->comm);
	ret->command = buf_steal(&command);
	ret->started_ms = (int64_t)(facts.start_ns / 1000000);
	*ret_uid = facts.uid;
	return true;
}

/* /proc may be mounted so that users see their own processes only (hidepid). */
static bool read_row_as(const struct user_ids *viewer, int pid, struct process_row *ret,
			uint32_t *ret_uid)
{
	struct own_rights own;
	bool found;

	if (!viewer)
		return read_row(pid, ret, ret_uid);
	if (!as_user_begin(viewer, false, &own))
		return false;
	found = read_row(pid, ret, ret_uid);
	as_user_end(&own);
	return found;
}

static void release_row(struct process_row *row)
{
	free(row->command);
	free(row->comm);
	free(row->user);
}

static bool matches(const struct process_row *row, const char *search)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", row->pid);
	return !search || text_contains(row->command, search) || text_contains(row->comm, search) ||
	       text_contains(row->user, search) || !strcmp(pid, search);
}

void processes_read(const struct process_query *q, process_rows *ret, bool *ret_more)
{
	struct user_names names = {};
	pids all = {};

	*ret_more = false;
	list_pids(q->before, &all);
	vec_each(&all, pid) {
		struct process_row row;
		uint32_t uid;

		if (!read_row_as(q->viewer, *pid, &row, &uid))
			continue;
		row.user = xstrdup(user_name(&names, uid));
		row.mine = uid == q->mine;
		if (matches(&row, q->search) && ret->len == q->limit) {
			*ret_more = true;
			release_row(&row);
			break;
		}
		if (matches(&row, q->search))
			vec_push(ret, row);
		else
			release_row(&row);
	}
	vec_each(&names.rows, row)
		free(row->name);
	vec_release(&names.rows);
	vec_release(&all);
}

void processes_release(process_rows *rows)
{
	vec_each(rows, row)
		release_row(row);
	vec_release(rows);
}
