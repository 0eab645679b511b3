/* Sums of a column by call path, for flame graphs. */
#include "query/table_scan.h"

#include <errno.h>

struct flame_thread {
	uint64_t *self, *samples; /* by node */
	unsigned __int128 total;
	uint64_t rows, left_out;
};

struct weighing {
	const struct call_paths *paths;
	bool is_signed;
	struct flame_thread threads[TABLE_THREADS_MAX];
};

static void weigh_block(void *ctx, unsigned thread, const struct table_block *b)
{
	struct weighing *w = ctx;
	struct flame_thread *t = &w->threads[thread];
	size_t nodes = w->paths->nodes.len;

	if (!t->self) {
		t->self = table_alloc(nodes, sizeof(*t->self));
		t->samples = table_alloc(nodes, sizeof(*t->samples));
	}
	for (size_t i = 0; i < b->count; i++) {
		uint64_t value = b->values[0][i];
		uint32_t node = call_path_known(w->paths, b->values[1][i]);

		if (w->is_signed && (int64_t)value < 0) {
			t->left_out++;
			continue;
		}
		t->self[node] += value;
		t->samples[node]++;
		t->total += value;
		t->rows++;
	}
}

/* Adds up the results of all threads. Returns false if the sum exceeds INT64_MAX. */
static bool join_threads(struct weighing *w, struct table_weights *ret)
{
	struct node_weights *n = &ret->nodes;
	unsigned __int128 total = 0;

	n->len = w->paths->nodes.len;
	n->self = table_alloc(n->len, sizeof(*n->self));
	n->samples = table_alloc(n->len, sizeof(*n->samples));
	for (size_t i = 0; i < TABLE_THREADS_MAX; i++) {
		const struct flame_thread *t = &w->threads[i];

		total += t->total;
		n->total_samples += t->rows;
		ret->left_out += t->left_out;
		for (size_t node = 0; t->self && node < n->len; node++) {
			n->self[node] += t->self[node];
			n->samples[node] += t->samples[node];
		}
	}
	n->total = (uint64_t)total;
	return total <= INT64_MAX;
}

static int find_stack(const struct table_query *q, size_t *ret, struct err *e)
{
	for (size_t i = 0; i < q->columns.len; i++)
		if (q->columns.items[i].schema.tag == TAG_STACK && !q->columns.items[i].derived) {
			*ret = i;
			return 0;
		}
	return err_set(e, EINVAL,
		       "The table '%.100s' has no stacks, which a flame graph is made of.",
		       q->table.name);
}

static int check_column(const struct column_schema *c, struct err *e)
{
	if (!value_type_is_number(c->type))
		return err_set(e, EINVAL,
			       "The column '%.100s' has no numbers that can be added up.", c->name);
	if (c->type == VALUE_FLOAT)
		return err_set(e, EINVAL,
			       "The column '%.100s' has floating point numbers. Weights of a flame "
			       "graph are whole numbers.",
			       c->name);
	return 0;
}

int table_weigh(const struct table_query *q, size_t column, struct table_weights *ret,
		struct err *e)
{
	const struct column_schema *c = &q->columns.items[column].schema;
	struct weighing *w = xcalloc(1, sizeof(*w));
	struct table_scan scan = {
		.wants = {{column, false}},
		.count = 2,
		.threads = table_threads(),
		.visit = weigh_block,
		.ctx = w,
	};
	int r = check_column(c, e);

	*ret = (struct table_weights){};
	w->paths = &q->d->paths;
	w->is_signed = c->type == VALUE_SIGNED;
	if (r == 0)
		r = find_stack(q, &scan.wants[1].column, e);
	if (r == 0)
		r = table_scan(q, &scan, e);
	if (r == 0 && !join_threads(w, ret))
		r = err_set(e, EINVAL,
			    "The sum of the column '%.100s' is larger than 2^63. Choose a "
			    "condition that leaves out values that are not sizes.",
			    c->name);
	if (r < 0)
		node_weights_release(&ret->nodes);
	for (size_t i = 0; i < TABLE_THREADS_MAX; i++) {
		table_free(w->threads[i].self, w->paths->nodes.len, sizeof(uint64_t));
		table_free(w->threads[i].samples, w->paths->nodes.len, sizeof(uint64_t));
	}
	free(w);
	return r;
}
