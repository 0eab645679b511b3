#include "analyze/tree/shown_names.h"

#include <string.h>

#define ANONYMOUS "(anonymous namespace)"

/* "net/http.(*Client).Do": a method of Go, whose parentheses belong to the name. */
static bool is_go_method(const char *name)
{
	const char *open = strstr(name, ".("), *close;

	if (!open)
		return false;
	close = strrchr(open, ')');
	while (close && close > open && close[1] != '.')
		close = memrchr(open, ')', (size_t)(close - open));
	return close && close > open;
}

static size_t length_without_parameters(const char *name)
{
	const char *at = name;

	if (is_go_method(name))
		return strlen(name);
	while ((at = strchr(at, '('))) {
		if (strncmp(at, ANONYMOUS, strlen(ANONYMOUS)))
			return (size_t)(at - name);
		at++;
	}
	return strlen(name);
}

/* Replaces control characters: names may be printed on a terminal and must not control it. */
static char printable(char c)
{
	return c == '\n' ? ' ' : (unsigned char)c < ' ' || c == 0x7f ? '?' : c;
}

/* Appends one function of "a->b->c", which means a with b and c inlined. */
static void add_tidy(struct buf *out, const char *name, bool jit)
{
	size_t len = length_without_parameters(name);

	/* Skip the L of "Ljava/lang/String;::length". */
	if (jit && name[0] == 'L' && memchr(name, '/', len)) {
		name++;
		len--;
	}
	for (size_t i = 0; i < len; i++)
		if (name[i] == ';')
			buf_add_char(out, ':');
		else if (name[i] != '"' && name[i] != '\'')
			buf_add_char(out, printable(name[i]));
}

void add_folded_name(struct buf *out, const char *name, bool jit)
{
	CLEANUP(free_ptr) char *copy = NULL;
	bool first = true;
	char *at, *arrow;

	if (!jit || !strstr(name, "->")) {
		add_tidy(out, name, jit);
		return;
	}
	copy = xstrdup(name);
	for (at = copy; at; at = arrow ? arrow + 2 : NULL) {
		arrow = strstr(at, "->");
		if (arrow)
			*arrow = '\0';
		if (!first)
			buf_add_char(out, ';');
		add_tidy(out, at, jit);
		if (!first)
			buf_add(out, "_[i]");
		first = false;
	}
}

static void add_unnamed(struct buf *out, const struct profile *p, const struct profile_function *f,
			enum name_style style)
{
	const char *module = profile_text(p, p->modules.items[f->module.n].name);

	if (!*module || !strcmp(module, "[unknown]"))
		buf_add(out, "[unknown]");
	else if (style == NAMES_PLAIN && *module == '[')
		buf_add(out, module);
	else
		buf_addf(out, "[%s]", module);
}

static void add_name(struct buf *out, const struct profile *p, const struct profile_function *f,
		     enum name_style style)
{
	const char *name = profile_text(p, f->name);

	if (!f->named)
		add_unnamed(out, p, f, style);
	else if (style != NAMES_PLAIN)
		add_folded_name(out, name, f->kind == CODE_JIT);
	else
		buf_add(out, name);
}

static bool is_same(const struct shown_names *n, enum name_style style, uint32_t a, uint32_t b)
{
	const struct profile_function *x = function_of(n->profile, (function_id){a});
	const struct profile_function *y = function_of(n->profile, (function_id){b});

	if (style != NAMES_FOLDED && x->kind != y->kind)
		return false;
	if (style == NAMES_PLAIN && x->module.n != y->module.n)
		return false;
	return !strcmp(shown_name(n, (function_id){a}), shown_name(n, (function_id){b}));
}

/* Keeps the name of a function only if the profile does not have it. */
static void make_name(struct shown_names *n, uint32_t f, enum name_style style)
{
	const struct profile_function *function = function_of(n->profile, (function_id){f});
	size_t start = n->text.len;

	if (function->named && style == NAMES_PLAIN)
		return;
	add_name(&n->text, n->profile, function, style);
	if (!strcmp(buf_str(&n->text) + start, profile_text(n->profile, function->name))) {
		n->text.len = start;
		return;
	}
	buf_add_char(&n->text, '\0');
	if (!n->starts)
		n->starts = xcalloc(n->count, sizeof(*n->starts));
	n->starts[f] = (uint32_t)start;
}

/* From now on function @f is shown as the same one as @known. */
static void merge(struct shown_names *n, uint32_t f, uint32_t known)
{
	if (!n->as) {
		n->as = xcalloc(n->count, sizeof(*n->as));
		for (uint32_t i = 0; i < n->count; i++)
			n->as[i].n = i;
	}
	n->as[f].n = known;
	if (n->starts && n->starts[f]) {
		n->text.len = n->starts[f];
		n->starts[f] = 0;
	}
}

void shown_names_make(struct shown_names *n, const struct profile *p, enum name_style style)
{
	struct slots slots = {};

	*n = (struct shown_names){.profile = p, .count = p->functions.len};
	buf_add_char(&n->text, '\0');
	for (uint32_t i = 1; i < n->count; i++) {
		const char *name;
		uint32_t known;
		uint64_t hash;
		size_t at;

		make_name(n, i, style);
		name = shown_name(n, (function_id){i});
		hash = hash_bytes(name, strlen(name), p->seed);
		if (style != NAMES_FOLDED)
			hash = hash_mix(hash, p->functions.items[i].kind);
		at = slots_begin(&slots, hash);
		while ((known = slots_next(&slots, hash, &at)))
			if (is_same(n, style, known, i))
				break;
		if (known)
			merge(n, i, known);
		else
			slots_add(&slots, hash, i);
	}
	slots_release(&slots);
}

void shown_names_release(struct shown_names *n)
{
	buf_release(&n->text);
	free(n->starts);
	free(n->as);
	*n = (struct shown_names){};
}
