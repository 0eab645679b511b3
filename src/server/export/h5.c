/*
 * HDF5: the tables of a run below /runs/UUID, for one run or all runs of a session. Samples refer
 * to the other tables by number, so that a data frame of ten million samples contains only numbers:
 *
 *	counters   time_s, interval_s, and a column for each counter (in its unit; NaN: not read)
 *	samples    time_s, event, pid, tid, cpu, weight, address, stack, function (the sampled one)
 *	stacks     stack, parent (0: none), frame, address
 *	frames     frame, function, file, line, inlined: outermost first, several rows if inlined
 *	functions, threads, events, counter_names: what the numbers mean
 *	tables/X   a table of the run's own, as the hits of a tracepoint: time_s, pid, tid, cpu, weight,
 *	           its fields, function, stack; attributes tell its name, meaning, and its columns'
 *
 * In the file of one run the tables have short names, too: /samples, /counters.
 */
#include "base/clock.h"
#include "server/export/formats.h"
#include "server/export/h5_file.h"
#include "server/export/h5_tables.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifndef TACHO_VERSION
#define TACHO_VERSION "unknown"
#endif

#define WIDE_COUNTERS_MAX 256u /* the description of a row has to fit into a header of 64 KiB */

#define COLUMN(type, member, kind)                                                                 \
	{                                                                                          \
#member, kind, offsetof(type, member), 0                                           \
	}
#define PATH_MAX_BYTES 128

struct h5_export {
	struct export_run *run;
	struct h5_file *file;
	char group[PATH_MAX_BYTES];
	struct h5_table *table;
	size_t columns;
};

static struct h5_table *begin(struct h5_export *x, const char *name, const char *title,
			      const struct h5_column *columns, size_t count, size_t row_bytes)
{
	char path[PATH_MAX_BYTES * 2];

	snprintf(path, sizeof(path), "%s/%s", x->group, name);
	return h5_table_begin(x->file, path, title, columns, count, row_bytes);
}

/* A table whose last columns are texts, each as wide as its longest value. */
struct text_table {
	struct h5_table *table;
	size_t at[4], bytes[4], row_bytes;
};

static void widen(size_t *width, const char *text)
{
	size_t len = strlen(text);

	len = len < H5_TEXT_BYTES_MAX ? len : H5_TEXT_BYTES_MAX;
	*width = len > *width ? len : *width;
}

/*
 * @columns describes @count columns in the first @fixed_bytes of a row. The text columns @texts
 * (ended by NULL) follow, with the widths in @t->bytes.
 */
static void begin_texts(struct text_table *t, struct h5_export *x, const char *name,
			const char *title, const struct h5_column *columns, size_t count,
			size_t fixed_bytes, const char *const *texts)
{
	struct h5_column all[12];

	t->row_bytes = fixed_bytes;
	memcpy(all, columns, count * sizeof(*columns));
	for (size_t i = 0; texts[i]; i++) {
		t->bytes[i] = t->bytes[i] ? t->bytes[i] : 1;
		t->at[i] = t->row_bytes;
		all[count++] = (struct h5_column){texts[i], H5_TEXT, t->at[i], t->bytes[i]};
		t->row_bytes += t->bytes[i];
	}
	t->table = begin(x, name, title, all, count, t->row_bytes);
}

static void put(const struct text_table *t, char *row, size_t text, const char *value)
{
	h5_put_text(row + t->at[text], t->bytes[text], value);
}

/* ---- what the numbers mean ---- */

static void write_functions(struct h5_export *x)
{
	static const char *const kinds[] = {"unknown", "user", "kernel", "jit", "vdso"};
	static const char *const texts[] = {"kind", "module", "name", NULL};
	static const struct h5_column columns[] = {{"function", H5_UINT32, 0, 0}};
	const struct profile *p = &x->run->profile;
	struct text_table t = {.bytes = {8}};

	vec_each(&p->functions, f) {
		widen(&t.bytes[1], profile_text(p, p->modules.items[f->module.n].name));
		widen(&t.bytes[2], profile_text(p, f->name));
	}
	begin_texts(&t, x, "functions", "functions of the stacks", columns, 1, sizeof(uint32_t),
		    texts);
	for (uint32_t i = 1; i < p->functions.len; i++) {
		const struct profile_function *f = &p->functions.items[i];
		char *row = h5_table_row(t.table);

		if (!row)
			break;
		memcpy(row, &i, sizeof(i));
		put(&t, row, 0, f->kind < ARRAY_LEN(kinds) ? kinds[f->kind] : "unknown");
		put(&t, row, 1, profile_text(p, p->modules.items[f->module.n].name));
		put(&t, row, 2, profile_text(p, f->name));
	}
	h5_table_end(t.table);
}

static void write_threads(struct h5_export *x)
{
	static const char *const texts[] = {"comm", NULL};
	static const struct h5_column columns[] = {
		{"thread", H5_UINT32, 0, 0}, {"pid", H5_UINT32, 4, 0}, {"tid", H5_UINT32, 8, 0}};
	const struct profile *p = &x->run->profile;
	struct text_table t = {};

	vec_each(&p->threads, thread)
		widen(&t.bytes[0], profile_text(p, thread->comm));
	begin_texts(&t, x, "threads", "threads by their names", columns, 3, 12, texts);
	for (uint32_t i = 1; i < p->threads.len; i++) {
		const struct profile_thread *thread = &p->threads.items[i];
		uint32_t numbers[] = {i, thread->pid, thread->tid};
		char *row = h5_table_row(t.table);

		if (!row)
			break;
		memcpy(row, numbers, sizeof(numbers));
		put(&t, row, 0, profile_text(p, thread->comm));
	}
	h5_table_end(t.table);
}

static void write_events(struct h5_export *x)
{
	static const char *const texts[] = {"name", "unit", NULL};
	static const struct h5_column columns[] = {{"event", H5_UINT32, 0, 0}};
	const struct profile *p = &x->run->profile;
	struct text_table t = {};

	vec_each(&p->events, event) {
		widen(&t.bytes[0], profile_text(p, event->name));
		widen(&t.bytes[1], profile_text(p, event->unit));
	}
	begin_texts(&t, x, "events", "sampled events", columns, 1, sizeof(uint32_t), texts);
	for (uint32_t i = 0; i < p->events.len; i++) {
		char *row = h5_table_row(t.table);

		if (!row)
			break;
		memcpy(row, &i, sizeof(i));
		put(&t, row, 0, profile_text(p, p->events.items[i].name));
		put(&t, row, 1, profile_text(p, p->events.items[i].unit));
	}
	h5_table_end(t.table);
}

struct frame_row {
	uint32_t frame, function, line;
	uint8_t inlined;
};

static void write_frames(struct h5_export *x)
{
	static const char *const texts[] = {"file", NULL};
	static const struct h5_column columns[] = {
		COLUMN(struct frame_row, frame, H5_UINT32),
		COLUMN(struct frame_row, function, H5_UINT32),
		COLUMN(struct frame_row, line, H5_UINT32),
		COLUMN(struct frame_row, inlined, H5_UINT8),
	};
	const struct profile *p = &x->run->profile;
	struct text_table t = {};

	vec_each(&p->names, name)
		widen(&t.bytes[0], profile_text(p, name->file));
	begin_texts(&t, x, "frames", "places in code", columns, ARRAY_LEN(columns),
		    sizeof(struct frame_row), texts);
	for (uint32_t i = 1; i < p->frames.len; i++) {
		const struct profile_frame *f = &p->frames.items[i];

		for (uint32_t n = 0; n < f->name_count; n++) {
			const struct frame_name *name = &p->names.items[f->names + n];
			char *row = h5_table_row(t.table);

			if (!row)
				break;
			memcpy(row,
			       &(struct frame_row){i, name->function.n, name->line, name->inlined},
			       sizeof(struct frame_row));
			put(&t, row, 0, profile_text(p, name->file));
		}
	}
	h5_table_end(t.table);
}

struct stack_row {
	uint32_t stack, parent, frame;
	uint64_t address; /* ELF virtual address of the frame */
};

static void write_stacks(struct h5_export *x)
{
	static const struct h5_column columns[] = {
		COLUMN(struct stack_row, stack, H5_UINT32),
		COLUMN(struct stack_row, parent, H5_UINT32),
		COLUMN(struct stack_row, frame, H5_UINT32),
		COLUMN(struct stack_row, address, H5_UINT64),
	};
	const struct profile *p = &x->run->profile;
	struct h5_table *t = begin(x, "stacks", "stacks: the caller's and a frame", columns,
				   ARRAY_LEN(columns), sizeof(struct stack_row));

	for (uint32_t i = 1; i < p->stacks.len; i++) {
		const struct profile_stack *s = &p->stacks.items[i];
		struct stack_row *row = h5_table_row(t);

		if (!row)
			break;
		*row = (struct stack_row){i, s->parent.n, s->frame.n,
					  p->frames.items[s->frame.n].address};
	}
	h5_table_end(t);
}

/* ---- samples ---- */

/* Data frames have their columns in the order of the members. */
struct sample_line {
	double time_s;
	uint32_t event, pid, tid, cpu;
	uint64_t weight, address;
	uint32_t stack, function;
};

static int write_sample(void *ctx, const struct sample_row *s)
{
	struct h5_export *x = ctx;
	const struct profile *p = &x->run->profile;
	const struct profile_frame *f = &p->frames.items[p->stacks.items[s->stack].frame.n];
	struct sample_line *row = h5_table_row(x->table);

	if (!row)
		return -EIO;
	*row = (struct sample_line){
		.time_s = ((double)s->time_ns - (double)x->run->run.start_ns) / (double)NS_PER_SEC,
		.weight = s->weight,
		.address = s->address,
		.event = s->event,
		.pid = p->threads.items[s->thread].pid,
		.tid = p->threads.items[s->thread].tid,
		.cpu = s->cpu,
		.stack = s->stack,
		.function =
			f->name_count ? p->names.items[f->names + f->name_count - 1].function.n : 0,
	};
	return 0;
}

static int write_samples(struct h5_export *x, struct err *e)
{
	static const struct h5_column columns[] = {
		COLUMN(struct sample_line, time_s, H5_DOUBLE),
		COLUMN(struct sample_line, event, H5_UINT32),
		COLUMN(struct sample_line, pid, H5_UINT32),
		COLUMN(struct sample_line, tid, H5_UINT32),
		COLUMN(struct sample_line, cpu, H5_UINT32),
		COLUMN(struct sample_line, weight, H5_UINT64),
		COLUMN(struct sample_line, address, H5_UINT64),
		COLUMN(struct sample_line, stack, H5_UINT32),
		COLUMN(struct sample_line, function, H5_UINT32),
	};
	int rc;

	x->table = begin(x, "samples", "samples by time", columns, ARRAY_LEN(columns),
			 sizeof(struct sample_line));
	rc = export_samples_each(x->run, write_sample, x, e);
	h5_table_end(x->table);
	return rc == -EIO ? 0 : rc; /* h5_file_close() returns the error */
}

/* ---- counters ---- */

/* Adds the counter's name without slashes, which PyTables does not accept. */
static void column_name(const struct h5_export *x, uint32_t counter, struct buf *out)
{
	export_counter_name(x->run, counter, out);
	for (char *c = out->s; c && *c; c++)
		if (*c == '/')
			*c = '|';
}

static void make_columns(const struct h5_export *x, struct h5_column *columns, strvec *ret_names)
{
	const struct profile *p = &x->run->profile;

	columns[0] = (struct h5_column){"time_s", H5_DOUBLE, 0, 0};
	columns[1] = (struct h5_column){"interval_s", H5_DOUBLE, sizeof(double), 0};
	for (uint32_t i = 1; i < p->counters.len; i++) {
		CLEANUP(buf_release) struct buf name = {};
		bool twice = false;

		column_name(x, i, &name);
		vec_each(ret_names, other)
			twice |= !strcmp(*other, buf_str(&name));
		if (twice || !name.len)
			buf_addf(&name, "#%u", i);
		vec_push(ret_names, xstrdup(buf_str(&name)));
		columns[i + 1] = (struct h5_column){ret_names->items[i - 1], H5_DOUBLE,
						    (i + 1) * sizeof(double), 0};
	}
}

static int write_tick(void *ctx, const struct export_count *counts, size_t count)
{
	struct h5_export *x = ctx;
	const struct profile *p = &x->run->profile;
	double *row = h5_table_row(x->table);

	if (!row)
		return -EIO;
	row[0] =
		((double)counts[0].row.time_ns - (double)x->run->run.start_ns) / (double)NS_PER_SEC;
	row[1] = (double)counts[0].row.duration_ns / (double)NS_PER_SEC;
	for (size_t i = 2; i < x->columns; i++)
		row[i] = NAN;
	for (size_t i = 0; i < count; i++)
		row[counts[i].counter + 1] =
			(double)counts[i].row.value * p->counters.items[counts[i].counter].scale;
	return 0;
}

struct count_line {
	double time_s, interval_s;
	uint32_t counter, running_ppm;
	double value;
};

static int write_count_lines(void *ctx, const struct export_count *counts, size_t count)
{
	struct h5_export *x = ctx;
	const struct profile *p = &x->run->profile;

	for (size_t i = 0; i < count; i++) {
		const struct count_row *c = &counts[i].row;
		struct count_line *row = h5_table_row(x->table);

		if (!row)
			return -EIO;
		*row = (struct count_line){
			.time_s = ((double)c->time_ns - (double)x->run->run.start_ns) /
				  (double)NS_PER_SEC,
			.interval_s = (double)c->duration_ns / (double)NS_PER_SEC,
			.value = (double)c->value * p->counters.items[counts[i].counter].scale,
			.counter = counts[i].counter,
			.running_ppm = c->running_ppm,
		};
	}
	return 0;
}

static int write_counters(struct h5_export *x, struct err *e)
{
	static const struct h5_column lines[] = {
		COLUMN(struct count_line, time_s, H5_DOUBLE),
		COLUMN(struct count_line, interval_s, H5_DOUBLE),
		COLUMN(struct count_line, counter, H5_UINT32),
		COLUMN(struct count_line, value, H5_DOUBLE),
		COLUMN(struct count_line, running_ppm, H5_UINT32),
	};
	size_t count = x->run->profile.counters.len;
	CLEANUP(strvec_release) strvec names = {};
	struct h5_column *columns;
	int rc;

	if (count > WIDE_COUNTERS_MAX) {
		x->table = begin(x, "counters", "values of counters, a row each", lines,
				 ARRAY_LEN(lines), sizeof(struct count_line));
		rc = export_counts_each(x->run, write_count_lines, x, e);
	} else {
		columns = xcalloc(count + 1, sizeof(*columns));
		make_columns(x, columns, &names);
		x->columns = count + 1;
		x->table = begin(x, "counters", "counters over time", columns, x->columns,
				 x->columns * sizeof(double));
		free(columns);
		rc = export_counts_each(x->run, write_tick, x, e);
	}
	h5_table_end(x->table);
	return rc == -EIO ? 0 : rc;
}

struct counter_line {
	uint32_t counter;
	int32_t cpu;
	uint32_t tid;
	double scale;
};

static void write_counter_names(struct h5_export *x)
{
	static const char *const texts[] = {"column", "name", "unit", NULL};
	static const struct h5_column columns[] = {
		COLUMN(struct counter_line, counter, H5_UINT32),
		COLUMN(struct counter_line, cpu, H5_INT32),
		COLUMN(struct counter_line, tid, H5_UINT32),
		COLUMN(struct counter_line, scale, H5_DOUBLE),
	};
	const struct profile *p = &x->run->profile;
	struct text_table t = {};

	for (uint32_t i = 1; i < p->counters.len; i++) {
		CLEANUP(buf_release) struct buf name = {};

		column_name(x, i, &name);
		widen(&t.bytes[0], buf_str(&name));
		widen(&t.bytes[1], profile_text(p, p->counters.items[i].name));
		widen(&t.bytes[2], profile_text(p, p->counters.items[i].unit));
	}
	begin_texts(&t, x, "counter_names", "what the columns of counters are", columns,
		    ARRAY_LEN(columns), sizeof(struct counter_line), texts);
	for (uint32_t i = 1; i < p->counters.len; i++) {
		CLEANUP(buf_release) struct buf name = {};
		const struct profile_counter *c = &p->counters.items[i];
		char *row = h5_table_row(t.table);

		if (!row)
			break;
		memcpy(row,
		       &(struct counter_line){i, c->cpu, p->threads.items[c->thread.n].tid,
					      c->scale},
		       sizeof(struct counter_line));
		column_name(x, i, &name);
		put(&t, row, 0, buf_str(&name));
		put(&t, row, 1, profile_text(p, c->name));
		put(&t, row, 2, profile_text(p, c->unit));
	}
	h5_table_end(t.table);
}

/* ---- a run ---- */

static void write_facts(struct h5_export *x)
{
	const struct stored_run *r = &x->run->run;

	h5_attribute_text(x->file, x->group, "uuid", r->uuid);
	h5_attribute_text(x->file, x->group, "session", r->session_uuid);
	h5_attribute_text(x->file, x->group, "state", run_state_name(r->state));
	h5_attribute_text(x->file, x->group, "user", r->user);
	h5_attribute_text(x->file, x->group, "description", r->description);
	h5_attribute_text(x->file, x->group, "command", r->command);
	h5_attribute_text(x->file, x->group, "note", r->note);
	h5_attribute_text(x->file, x->group, "tags", r->tags);
	h5_attribute_text(x->file, x->group, "plan", r->plan);
	h5_attribute_text(x->file, x->group, "opened", r->opened);
	h5_attribute_text(x->file, x->group, "ledger", r->ledger);
	h5_attribute_text(x->file, x->group, "ended", r->ended);
	h5_attribute_text(x->file, x->group, "error", r->error);
	h5_attribute_number(x->file, x->group, "created_s", (double)r->created_ms / 1e3);
	h5_attribute_number(x->file, x->group, "started_s", (double)r->started_ms / 1e3);
	h5_attribute_number(x->file, x->group, "ended_s", (double)r->ended_ms / 1e3);
}

static int write_run(struct h5_export *x, struct err *e)
{
	int rc;

	snprintf(x->group, sizeof(x->group), "/runs/%s", x->run->run.uuid);
	h5_group(x->file, x->group);
	write_facts(x);
	write_functions(x);
	write_threads(x);
	write_events(x);
	write_frames(x);
	write_stacks(x);
	write_counter_names(x);
	rc = write_counters(x, e);
	if (rc == 0)
		rc = write_samples(x, e);
	return rc == 0 ? h5_tables_write(x->file, x->group, x->run, e) : rc;
}

static int begin_file(struct h5_export *x, struct api *api, struct export_target *t, struct err *e)
{
	int fd = -1, rc = h5_file_create(&x->file, api->server->config.data, &fd, e);

	if (rc < 0)
		return rc;
	if (fd >= 0) {
		close(t->fd);
		t->fd = fd;
	}
	h5_attribute_text(x->file, "/", "producer", "tacho " TACHO_VERSION);
	h5_group(x->file, "/runs");
	return 0;
}

static int write_h5(struct export_run *run, const struct http_request *r, struct export_target *t,
		    struct err *e)
{
	static const char *const tables[] = {"counters", "samples", "stacks", "functions",
					     "frames",   "threads", "events", "counter_names"};
	struct h5_export x = {.run = run};
	int rc = begin_file(&x, run->api, t, e), closed;

	(void)r;
	if (rc < 0)
		return rc;
	rc = write_run(&x, e);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tables); i++) {
		char path[PATH_MAX_BYTES * 2];

		snprintf(path, sizeof(path), "%s/%s", x.group, tables[i]);
		h5_link(x.file, path, tables[i]);
	}
	if (rc == 0 && run->profile.schemas.len) {
		char path[PATH_MAX_BYTES * 2];

		snprintf(path, sizeof(path), "%s/tables", x.group);
		h5_link(x.file, path, "tables");
	}
	closed = h5_file_close(x.file, rc ? NULL : e);
	return rc ? rc : closed;
}

int export_h5_session(struct api *api, const stored_runs *runs, struct export_target *t,
		      struct err *e)
{
	struct h5_export x = {};
	int rc = export_target_rewind(t, e), closed;

	if (rc == 0)
		rc = begin_file(&x, api, t, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < runs->len && rc == 0; i++) {
		struct export_run run;

		rc = export_run_open(&run, api, runs->items[i].uuid, NULL, e);
		/* Leave out a run that was deleted meanwhile. */
		if (rc == -ENOENT) {
			rc = 0;
			continue;
		}
		if (rc < 0)
			break;
		x.run = &run;
		rc = write_run(&x, e);
		export_run_close(&run);
	}
	closed = h5_file_close(x.file, rc ? NULL : e);
	return rc ? rc : closed;
}

const struct export_format format_h5 = {
	.extension = "h5",
	.type = "application/x-hdf5",
	.write = write_h5,
};
