#include "symbol/demangle.h"

#include <setjmp.h>
#include <string.h>

/*
 * libiberty's demanglers. Its header cannot be included because it has an xrealloc() of its own.
 * The demanglers for C++ and Rust pass their output to a callback piece by piece.
 */
typedef void piece_fn(const char *piece, size_t len, void *ctx);
int cplus_demangle_v3_callback(const char *mangled, int options, piece_fn *piece, void *ctx);
int rust_demangle_callback(const char *mangled, int options, piece_fn *piece, void *ctx);
char *dlang_demangle(const char *mangled, int options);

#define NO_PARAMETERS 0

struct pieces {
	struct buf *out;
	size_t start;
	bool too_long;
	jmp_buf give_up;
};

static bool take(struct pieces *p, const char *piece, size_t len)
{
	if (p->too_long || len > DEMANGLE_OUTPUT_MAX - (p->out->len - p->start))
		p->too_long = true;
	else
		buf_add_mem(p->out, piece, len);
	return !p->too_long;
}

/*
 * A mangled name of a few hundred characters can expand to more text than fits into memory, and
 * printing all of it would take years. The demangler has no way to stop early, so we longjmp() out
 * of it. Nothing leaks, because the demangler keeps all its data on the stack.
 */
static void take_or_leave(const char *piece, size_t len, void *ctx)
{
	struct pieces *p = ctx;

	if (!take(p, piece, len))
		longjmp(p->give_up, 1);
}

static void take_some(const char *piece, size_t len, void *ctx)
{
	take(ctx, piece, len);
}

static bool demangle_cpp(const char *name, struct pieces *p)
{
	if (setjmp(p->give_up))
		return false;
	return cplus_demangle_v3_callback(name, NO_PARAMETERS, take_or_leave, p);
}

/* ---- back references of Rust and D ---- */

static bool is_digit_of(char c, unsigned base, unsigned *ret)
{
	if (base == 26) { /* D: capitals continue the number, a lower-case letter ends it */
		*ret = (unsigned)(c - 'A');
		return c >= 'A' && c <= 'Z';
	}
	if (c >= '0' && c <= '9')
		*ret = (unsigned)(c - '0');
	else if (c >= 'a' && c <= 'z')
		*ret = (unsigned)(c - 'a') + 10;
	else if (c >= 'A' && c <= 'Z')
		*ret = (unsigned)(c - 'A') + 36;
	else
		return false;
	return true;
}

/* Returns the target of the back reference at @at, or @at if it is not a valid one. */
static size_t reference_target(const char *name, size_t at, unsigned base)
{
	size_t number = 0, i = at + 1;
	unsigned digit;

	for (; is_digit_of(name[i], base, &digit) && number < DEMANGLE_INPUT_MAX; i++)
		number = number * base + digit;
	if (base == 26) {
		if (name[i] < 'a' || name[i] > 'z')
			return at;
		number = number * base + (size_t)(name[i] - 'a');
		return number <= at ? at - number : at;
	}
	if (name[i] != '_')
		return at;
	number = i == at + 1 ? 0 : number + 1;
	return number + 2 < at ? number + 2 : at; /* positions count from after "_R" */
}

/*
 * Computes an upper bound of the demangled length: a back reference repeats at most the text
 * between its target and itself. Returns false if the bound is too large; the demangler must then
 * not be called, because it would print all of it.
 */
static bool growth_is_small(const char *name, char mark, unsigned base)
{
	static const uint64_t limit = 16 * DEMANGLE_OUTPUT_MAX;
	size_t len = strlen(name);
	CLEANUP(free_ptr) uint64_t *grown = NULL;
	bool small = true;

	if (!strchr(name, mark))
		return true;
	grown = xcalloc(len + 1, sizeof(*grown));
	for (size_t i = 0; i < len && small; i++) {
		uint64_t more = 1;

		if (name[i] == mark)
			more += grown[i] - grown[reference_target(name, i, base)];
		grown[i + 1] = grown[i] + more;
		small = grown[i + 1] <= limit;
	}
	return small;
}

/* Whether an identifier may be non-ASCII. The demangler decodes these into heap memory, which a
 * longjmp() would leak. */
static bool has_unicode(const char *name)
{
	for (const char *u = strchr(name, 'u'); u; u = strchr(u + 1, 'u'))
		if (u[1] >= '0' && u[1] <= '9')
			return true;
	return false;
}

static bool demangle_rust(const char *name, struct pieces *p)
{
	if (name[1] == 'R' && has_unicode(name)) {
		if (!growth_is_small(name, 'B', 62))
			return false;
		return rust_demangle_callback(name, NO_PARAMETERS, take_some, p);
	}
	if (setjmp(p->give_up))
		return false;
	return rust_demangle_callback(name, NO_PARAMETERS, take_or_leave, p);
}

static bool demangle_d(const char *name, struct pieces *p)
{
	CLEANUP(free_ptr) char *text = NULL;

	if (strcmp(name, "_Dmain") &&
	    (name[2] < '0' || (name[2] > '9' && name[2] != 'Q' && name[2] != '_')))
		return false;
	if (!growth_is_small(name, 'Q', 26))
		return false;
	text = dlang_demangle(name, NO_PARAMETERS);
	return text && take(p, text, strlen(text));
}

static bool demangle_any(const char *name, struct pieces *p)
{
	switch (name[1]) {
	case 'Z':
		return demangle_rust(name, p) || demangle_cpp(name, p);
	case 'R':
		return demangle_rust(name, p);
	case 'D':
		return demangle_d(name, p);
	default:
		return false;
	}
}

#define PLT_SUFFIX "@plt"

bool demangle(const char *name, struct buf *out)
{
	struct pieces p = {.out = out, .start = out->len};
	size_t len = strnlen(name, DEMANGLE_INPUT_MAX + 1);
	char bare[DEMANGLE_INPUT_MAX + 1];
	bool of_plt, known;

	if (name[0] != '_' || len > DEMANGLE_INPUT_MAX)
		return false;
	of_plt = len > strlen(PLT_SUFFIX) && !strcmp(name + len - strlen(PLT_SUFFIX), PLT_SUFFIX);
	if (of_plt) {
		len -= strlen(PLT_SUFFIX);
		memcpy(bare, name, len);
		bare[len] = '\0';
		name = bare;
	}
	known = demangle_any(name, &p);
	if (known && of_plt)
		take(&p, PLT_SUFFIX, strlen(PLT_SUFFIX));
	if (known && !p.too_long)
		return true;
	out->len = p.start;
	if (out->s)
		out->s[out->len] = '\0';
	return false;
}
