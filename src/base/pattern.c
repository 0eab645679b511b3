#include "base/pattern.h"
#include "base/vec.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#define STEPS_MAX   (4 * PATTERN_PARTS_MAX)
#define REPEATS_MAX 255u /* as POSIX has it */
#define ENDLESS     UINT32_MAX

enum assertion {
	AT_BEGIN,
	AT_END,
	AT_WORD_EDGE,
	AT_NO_WORD_EDGE,
	AT_WORD_BEGIN,
	AT_WORD_END,
};

struct bytes {
	uint64_t bits[4];
};

/* What the expression says, as a tree of numbered nodes. */
enum node_kind { NODE_NOTHING, NODE_BYTES, NODE_ASSERT, NODE_BOTH, NODE_EITHER, NODE_REPEAT };

struct node {
	enum node_kind kind;
	enum assertion assertion;
	uint32_t left, right; /* of both and either; left of what is repeated */
	uint32_t low, high;
	struct bytes set;
};

/* What is done: steps one after the other, but for the two kinds that lead elsewhere. */
enum step_kind { STEP_BYTES, STEP_ASSERT, STEP_GO, STEP_EITHER, STEP_FOUND };

struct step {
	enum step_kind kind;
	enum assertion assertion;
	uint32_t other;
	struct bytes set;
};

/* Steps that wait for the next byte, each once. */
struct places {
	uint32_t *items, len;
};

struct pattern {
	VEC(struct step) steps;
	struct places now, next;
	uint32_t *waiting; /* of the walk through steps that take no byte */
	uint32_t *seen;    /* by step: the round in which it was met last */
	uint32_t round;
};

/* ---- reading an expression ---- */

struct reading {
	const char *at;
	const char *problem;
	unsigned depth;
	VEC(struct node) nodes;
};

static void wrong(struct reading *r, const char *problem)
{
	if (!r->problem)
		r->problem = problem;
}

static uint32_t add_node(struct reading *r, struct node node)
{
	vec_push(&r->nodes, node);
	return (uint32_t)r->nodes.len - 1;
}

static void set_add(struct bytes *set, unsigned char c)
{
	set->bits[c >> 6] |= 1ull << (c & 63);
}

static bool set_has(const struct bytes *set, unsigned char c)
{
	return set->bits[c >> 6] >> (c & 63) & 1;
}

static void set_turn(struct bytes *set)
{
	for (size_t i = 0; i < ARRAY_LEN(set->bits); i++)
		set->bits[i] = ~set->bits[i];
}

static int is_word(int c)
{
	return isalnum(c) || c == '_';
}

static void set_add_class(struct bytes *set, int (*in)(int))
{
	for (int c = 0; c <= UCHAR_MAX; c++)
		if (in(c))
			set_add(set, (unsigned char)c);
}

/* "[:alpha:]" at @at, which is behind "[:". */
static void read_class(struct reading *r, struct bytes *set)
{
	static const struct {
		const char *name;
		int (*in)(int);
	} classes[] = {{"alpha", isalpha}, {"digit", isdigit}, {"alnum", isalnum},
		       {"upper", isupper}, {"lower", islower}, {"space", isspace},
		       {"blank", isblank}, {"punct", ispunct}, {"print", isprint},
		       {"graph", isgraph}, {"cntrl", iscntrl}, {"xdigit", isxdigit}};
	const char *end = strstr(r->at, ":]");

	for (size_t i = 0; end && i < ARRAY_LEN(classes); i++)
		if (strlen(classes[i].name) == (size_t)(end - r->at) &&
		    !strncmp(classes[i].name, r->at, (size_t)(end - r->at))) {
			set_add_class(set, classes[i].in);
			r->at = end + 2;
			return;
		}
	wrong(r, "there is no such class of letters ([:alpha:], [:digit:], [:space:] …)");
}

/* A letter of a set, or "[.x.]", "[=x=]"; not at the end of the text. */
static unsigned char read_member(struct reading *r)
{
	char kind = r->at[0] == '[' ? r->at[1] : '\0';
	unsigned char c;

	if (kind != '.' && kind != '=')
		return (unsigned char)*r->at++;
	c = (unsigned char)r->at[2];
	if (!c || r->at[3] != kind || r->at[4] != ']') {
		wrong(r, "what stands in [. .] and [= =] is one letter");
		return 0;
	}
	r->at += 5;
	return c;
}

/* Behind the "[". */
static struct bytes read_set(struct reading *r)
{
	struct bytes set = {};
	bool turned = *r->at == '^', first = true;

	for (r->at += turned; !r->problem && (*r->at != ']' || first); first = false) {
		unsigned from, to;

		if (!*r->at) {
			wrong(r, "a [ has no ]");
			break;
		}
		if (r->at[0] == '[' && r->at[1] == ':') {
			r->at += 2;
			read_class(r, &set);
			continue;
		}
		from = to = read_member(r);
		if (r->at[0] == '-' && r->at[1] && r->at[1] != ']') {
			r->at++;
			to = read_member(r);
			if (to < from)
				wrong(r, "a range ends before it begins");
		}
		for (unsigned c = from; c <= to; c++)
			set_add(&set, (unsigned char)c);
	}
	r->at += *r->at == ']';
	if (turned)
		set_turn(&set);
	return set;
}

static uint32_t add_assertion(struct reading *r, enum assertion assertion)
{
	return add_node(r, (struct node){.kind = NODE_ASSERT, .assertion = assertion});
}

/* Behind the backslash. */
static uint32_t read_escape(struct reading *r)
{
	static const struct {
		char letter;
		enum assertion assertion;
	} edges[] = {{'b', AT_WORD_EDGE}, {'B', AT_NO_WORD_EDGE}, {'<', AT_WORD_BEGIN},
		     {'>', AT_WORD_END},  {'`', AT_BEGIN},        {'\'', AT_END}};
	struct bytes set = {};
	char c = *r->at;

	if (!c) {
		wrong(r, "there is nothing behind its last backslash");
		return 0;
	}
	r->at++;
	for (size_t i = 0; i < ARRAY_LEN(edges); i++)
		if (edges[i].letter == c)
			return add_assertion(r, edges[i].assertion);
	if (c >= '1' && c <= '9')
		wrong(r, "back references (\\1) are not taken");
	if (c == 'w' || c == 'W')
		set_add_class(&set, is_word);
	else if (c == 's' || c == 'S')
		set_add_class(&set, isspace);
	else
		set_add(&set, (unsigned char)c);
	if (c == 'W' || c == 'S')
		set_turn(&set);
	return add_node(r, (struct node){.kind = NODE_BYTES, .set = set});
}

static uint32_t read_choices(struct reading *r);

static uint32_t read_group(struct reading *r)
{
	uint32_t inner;

	r->depth++;
	inner = read_choices(r);
	r->depth--;
	if (*r->at == ')')
		r->at++;
	else
		wrong(r, "a ( has no )");
	return inner;
}

static uint32_t read_atom(struct reading *r)
{
	struct bytes set = {};
	char c = *r->at++;

	switch (c) {
	case '(':
		return read_group(r);
	case '[':
		set = read_set(r);
		break;
	case '\\':
		return read_escape(r);
	case '^':
		return add_assertion(r, AT_BEGIN);
	case '$':
		return add_assertion(r, AT_END);
	case '*':
	case '+':
	case '?':
	case '{':
		wrong(r, "there is nothing before a repetition");
		return 0;
	case '.':
		set_turn(&set);
		break;
	default:
		set_add(&set, (unsigned char)c);
	}
	return add_node(r, (struct node){.kind = NODE_BYTES, .set = set});
}

static uint32_t read_number(struct reading *r)
{
	uint32_t n = 0;

	while (isdigit((unsigned char)*r->at) && n <= REPEATS_MAX)
		n = 10 * n + (uint32_t)(*r->at++ - '0');
	return n;
}

/* "*", "+", "?", "{3}", "{3,}", "{,5}", "{3,5}" behind @inner. */
static uint32_t read_repetition(struct reading *r, uint32_t inner)
{
	char c = *r->at++;
	struct node node = {.kind = NODE_REPEAT,
			    .left = inner,
			    .low = c == '+',
			    .high = c == '?' ? 1 : ENDLESS};
	bool number;

	if (c != '{')
		return add_node(r, node);
	number = isdigit((unsigned char)*r->at);
	node.low = node.high = read_number(r);
	if (*r->at == ',') {
		r->at++;
		node.high = isdigit((unsigned char)*r->at) ? read_number(r) : ENDLESS;
		number |= node.high != ENDLESS;
	}
	if (*r->at != '}' || !number || node.low > REPEATS_MAX || node.high < node.low ||
	    (node.high != ENDLESS && node.high > REPEATS_MAX))
		wrong(r, "what stands in { } is a number up to 255, or two");
	r->at += *r->at == '}';
	return add_node(r, node);
}

static uint32_t read_row(struct reading *r)
{
	uint32_t all = add_node(r, (struct node){.kind = NODE_NOTHING});

	/* Without a ( before it a ) means itself. */
	while (!r->problem && *r->at && *r->at != '|' && (*r->at != ')' || !r->depth)) {
		uint32_t one = read_atom(r);

		while (!r->problem && *r->at && strchr("*+?{", *r->at))
			one = read_repetition(r, one);
		all = add_node(r, (struct node){.kind = NODE_BOTH, .left = all, .right = one});
	}
	return all;
}

static uint32_t read_choices(struct reading *r)
{
	uint32_t all = read_row(r);

	while (!r->problem && *r->at == '|') {
		uint32_t other;

		r->at++;
		other = read_row(r);
		all = add_node(r, (struct node){.kind = NODE_EITHER, .left = all, .right = other});
	}
	return all;
}

/* ---- steps ---- */

struct writing {
	struct pattern *p;
	const struct node *nodes;
	unsigned parts, nodes_done;
	bool too_large;
};

static uint32_t add_step(struct writing *w, enum step_kind kind, uint32_t other)
{
	if (w->p->steps.len >= STEPS_MAX)
		w->too_large = true;
	else
		vec_push(&w->p->steps, (struct step){.kind = kind, .other = other});
	return (uint32_t)w->p->steps.len - 1;
}

static void leads_here(struct writing *w, uint32_t step)
{
	w->p->steps.items[step].other = (uint32_t)w->p->steps.len;
}

static void write_node(struct writing *w, uint32_t number);

static void write_repeat(struct writing *w, const struct node *node)
{
	uint32_t leaving[REPEATS_MAX], count = 0;

	for (uint32_t i = 0; i < node->low && !w->too_large; i++)
		write_node(w, node->left);
	if (node->high == ENDLESS) {
		uint32_t again = add_step(w, STEP_EITHER, 0);

		write_node(w, node->left);
		add_step(w, STEP_GO, again);
		leads_here(w, again);
		return;
	}
	for (uint32_t i = node->low; i < node->high && !w->too_large; i++) {
		leaving[count++] = add_step(w, STEP_EITHER, 0);
		write_node(w, node->left);
	}
	while (count)
		leads_here(w, leaving[--count]);
}

static void write_either(struct writing *w, const struct node *node)
{
	uint32_t choice = add_step(w, STEP_EITHER, 0), over;

	write_node(w, node->left);
	over = add_step(w, STEP_GO, 0);
	leads_here(w, choice);
	write_node(w, node->right);
	leads_here(w, over);
}

static void write_node(struct writing *w, uint32_t number)
{
	const struct node *node = &w->nodes[number];
	uint32_t step;

	/* Nothing, too, can be repeated very often. */
	if (++w->nodes_done > 8 * STEPS_MAX)
		w->too_large = true;
	if (w->too_large)
		return;
	switch (node->kind) {
	case NODE_NOTHING:
		break;
	case NODE_BYTES:
		w->too_large |= ++w->parts > PATTERN_PARTS_MAX;
		step = add_step(w, STEP_BYTES, 0);
		w->p->steps.items[step].set = node->set;
		break;
	case NODE_ASSERT:
		step = add_step(w, STEP_ASSERT, 0);
		w->p->steps.items[step].assertion = node->assertion;
		break;
	case NODE_BOTH:
		write_node(w, node->left);
		write_node(w, node->right);
		break;
	case NODE_EITHER:
		write_either(w, node);
		break;
	case NODE_REPEAT:
		write_repeat(w, node);
		break;
	}
}

static int build(struct pattern *p, const struct reading *r, uint32_t root, const char *expression,
		 struct err *e)
{
	struct writing w = {.p = p, .nodes = r->nodes.items};

	if (!r->problem)
		write_node(&w, root);
	add_step(&w, STEP_FOUND, 0);
	if (r->problem)
		return err_set(e, EINVAL, "'%.200s' is no regular expression: %s.", expression,
			       r->problem);
	if (w.too_large)
		return err_set(e, EINVAL,
			       "The regular expression repeats too much: written out it has more "
			       "than %u parts.",
			       PATTERN_PARTS_MAX);
	return 0;
}

int pattern_new(struct pattern **ret, const char *expression, struct err *e)
{
	struct reading r = {.at = expression};
	size_t len = strlen(expression);
	struct pattern *p;
	int rc;

	if (len > PATTERN_BYTES_MAX)
		return err_set(e, EINVAL,
			       "The regular expression has %zu characters; at most %u are taken.",
			       len, PATTERN_BYTES_MAX);
	p = xcalloc(1, sizeof(*p));
	rc = build(p, &r, read_choices(&r), expression, e);
	vec_release(&r.nodes);
	if (rc < 0) {
		pattern_free(p);
		return rc;
	}
	p->now.items = xcalloc(p->steps.len, sizeof(uint32_t));
	p->next.items = xcalloc(p->steps.len, sizeof(uint32_t));
	p->waiting = xcalloc(2 * p->steps.len, sizeof(uint32_t));
	p->seen = xcalloc(p->steps.len, sizeof(uint32_t));
	*ret = p;
	return 0;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	vec_release(&p->steps);
	free(p->now.items);
	free(p->next.items);
	free(p->waiting);
	free(p->seen);
	free(p);
}

/* ---- looking ---- */

/* Between two bytes; -1 is none. */
static bool holds(enum assertion assertion, int before, int behind)
{
	bool left = before >= 0 && is_word(before), right = behind >= 0 && is_word(behind);

	switch (assertion) {
	case AT_BEGIN:
		return before < 0;
	case AT_END:
		return behind < 0;
	case AT_WORD_EDGE:
		return left != right;
	case AT_NO_WORD_EDGE:
		return left == right;
	case AT_WORD_BEGIN:
		return !left && right;
	case AT_WORD_END:
		return left && !right;
	}
	return false;
}

/* All steps that take a byte and can be reached from @step without one; true: the end can be. */
static bool reach(struct pattern *p, struct places *to, uint32_t step, int before, int behind)
{
	uint32_t count = 0;

	p->waiting[count++] = step;
	while (count) {
		const struct step *s = &p->steps.items[step = p->waiting[--count]];

		if (p->seen[step] == p->round)
			continue;
		p->seen[step] = p->round;
		if (s->kind == STEP_FOUND)
			return true;
		if (s->kind == STEP_BYTES)
			to->items[to->len++] = step;
		if (s->kind == STEP_GO || s->kind == STEP_EITHER)
			p->waiting[count++] = s->other;
		if (s->kind == STEP_EITHER ||
		    (s->kind == STEP_ASSERT && holds(s->assertion, before, behind)))
			p->waiting[count++] = step + 1;
	}
	return false;
}

/* Steps are marked by the number of the round; when those are used up all marks are removed. */
static void next_round(struct pattern *p)
{
	if (!++p->round) {
		memset(p->seen, 0, p->steps.len * sizeof(*p->seen));
		p->round = 1;
	}
}

bool pattern_found(struct pattern *p, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	next_round(p);
	p->now.len = 0;
	if (reach(p, &p->now, 0, -1, *at ? *at : -1))
		return true;
	for (; *at; at++) {
		int behind = at[1] ? at[1] : -1;
		struct places swap = p->now;

		next_round(p);
		p->next.len = 0;
		for (uint32_t i = 0; i < p->now.len; i++) {
			uint32_t step = p->now.items[i];

			if (set_has(&p->steps.items[step].set, *at) &&
			    reach(p, &p->next, step + 1, *at, behind))
				return true;
		}
		/* It may begin anywhere. */
		if (reach(p, &p->next, 0, *at, behind))
			return true;
		p->now = p->next;
		p->next = swap;
	}
	return false;
}
