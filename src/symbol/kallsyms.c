#include "symbol/kallsyms.h"
#include "base/caps.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_BYTES (1u << 20)

struct parser {
	struct kallsyms *to;
	const char *at, *end;
	/* The module of the previous line: lines of one module are adjacent. */
	const char *last_part;
	size_t last_part_len;
	uint16_t last_part_number;
	bool any_address;
};

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static const char *parse_address(const char *p, const char *end, uint64_t *ret)
{
	const char *start = p;
	uint64_t v = 0;
	int digit;

	while (p < end && p - start < 16 && (digit = hex_digit(*p)) >= 0) {
		v = v << 4 | (unsigned)digit;
		p++;
	}
	*ret = v;
	return p;
}

static uint16_t part_number(struct parser *p, const char *name, size_t len)
{
	if (len == p->last_part_len && !memcmp(name, p->last_part, len))
		return p->last_part_number;
	p->last_part = name;
	p->last_part_len = len;
	p->last_part_number = 0;
	vec_each(&p->to->parts, s) {
		if (strlen(*s) != len || memcmp(*s, name, len))
			continue;
		p->last_part_number = (uint16_t)(s - p->to->parts.items + 1);
		return p->last_part_number;
	}
	if (p->to->parts.len < KALLSYMS_PARTS_MAX) {
		vec_push(&p->to->parts, xstrndup(name, len));
		p->last_part_number = (uint16_t)p->to->parts.len;
	}
	return p->last_part_number;
}

/* Returns the number of the module "\t[name]" after the symbol; 0 if there is none. */
static uint16_t parse_part(struct parser *p, const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (end - at < 3 || at[0] != '[' || end[-1] != ']')
		return 0;
	return part_number(p, at + 1, (size_t)(end - at) - 2);
}

static bool is_code(char type)
{
	return type == 'T' || type == 't' || type == 'W' || type == 'w';
}

static bool is_name(const char *name, size_t len, const char *wanted)
{
	return len == strlen(wanted) && !memcmp(name, wanted, len);
}

static void add_symbol(struct parser *p, uint64_t address, char type, const char *name,
		       const char *end)
{
	const char *name_end = name;
	struct symbol s = {.start = address, .end = address, .type = STT_FUNC};
	size_t len;
	char *room;

	while (name_end < end && *name_end != ' ' && *name_end != '\t')
		name_end++;
	len = (size_t)(name_end - name);
	if (is_name(name, len, "_text"))
		p->to->text = address;
	else if (is_name(name, len, "_stext"))
		p->to->stext = address;
	if (!is_code(type) || !len || *name == '$')
		return;
	s.binding = type == 'W' ? STB_WEAK : type == 'T' ? STB_GLOBAL : STB_LOCAL;
	s.part = parse_part(p, name_end, end);
	room = symtab_add_names(&p->to->symbols, len, &s.name);
	if (!room) {
		p->to->symbols.refused++;
		return;
	}
	memcpy(room, name, len);
	symtab_add_symbol(&p->to->symbols, &s);
}

static void parse_line(struct parser *p, const char *end)
{
	const char *after;
	uint64_t address;

	after = parse_address(p->at, end, &address);
	if (after == p->at || end - after < 4 || after[0] != ' ' || after[2] != ' ')
		return;
	p->any_address |= address != 0;
	add_symbol(p, address, after[1], after + 3, end);
}

void kallsyms_parse(struct kallsyms *k, const char *text, size_t size)
{
	struct parser p = {.to = k, .at = text, .end = text + size};

	/*
	 * perf sets each symbol's end before it chooses among aliases: of several symbols at one
	 * address all but the last become empty and are dropped. Do the same, so that names agree.
	 */
	k->symbols.last_is_best = true;
	/* A line has some 45 bytes, of which 20 or so are the name. */
	vec_reserve(&k->symbols.symbols, size / 48 + 1);
	vec_reserve(&k->symbols.names, size / 2 + 1);
	while (p.at < p.end) {
		const char *end = memchr(p.at, '\n', (size_t)(p.end - p.at));

		if (!end)
			end = p.end;
		parse_line(&p, end);
		p.at = end + 1;
	}
	k->hidden = k->symbols.symbols.len && !p.any_address;
	if (k->hidden)
		k->symbols.symbols.len = 0;
	symtab_finish(&k->symbols);
}

int kallsyms_read(struct kallsyms *k, const char *path, struct err *e)
{
	/* Who opens the kernel's own file decides whether it has addresses. */
	int fd = strcmp(path, "/proc/kallsyms")
			 ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
			 : caps_open_proc(path, O_RDONLY);
	VEC(char) text = {};
	ssize_t n = 0;
	int code = 0;

	if (fd < 0)
		return err_set(e, errno, "cannot open '%s': %s", path, strerror(errno));
	do {
		vec_reserve(&text, text.len + BLOCK_BYTES);
		n = read(fd, text.items + text.len, text.cap - text.len);
		if (n > 0)
			text.len += (size_t)n;
		else if (n < 0 && errno != EINTR)
			code = errno;
		if (text.len > KALLSYMS_BYTES_MAX)
			code = EFBIG;
	} while (n && !code);
	close(fd);
	if (!code)
		kallsyms_parse(k, text.items, text.len);
	vec_release(&text);
	return code ? err_set(e, code, "cannot read '%s': %s", path, strerror(code)) : 0;
}

void kallsyms_release(struct kallsyms *k)
{
	symtab_release(&k->symbols);
	strvec_release(&k->parts);
}
