/* What questions about a table share: opening it, and values of its columns as JSON. */
#ifndef TACHO_SERVER_API_TABLE_H
#define TACHO_SERVER_API_TABLE_H

#include "query/table.h"
#include "server/api/question.h"

struct table_question {
	struct question *q;
	struct table_query t;
	struct json *j;
};

/* Opens the table that the path names, with the condition `where`, for @answer. */
int table_question_ask(struct question *q, int (*answer)(struct table_question *a, struct err *e),
		       struct err *e);
void table_question_value(struct table_question *a, const struct table_column *c, uint64_t value);
/* Writes [pid, tid, comm]. */
void table_question_thread(struct table_question *a, uint64_t thread);

#endif
