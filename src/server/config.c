#include "server/config.h"
#include "base/number.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define FILE_BYTES_MAX ((size_t)1 << 20)
#define SYSTEM_FILE    "/etc/tacho.conf"

struct row {
	const char *name;
	size_t offset;
	enum config_kind kind;
	const char *standard;
};

#define ROW(name, member, kind, arg, standard, help)                                               \
	{name, offsetof(struct server_config, member), kind, standard},
static const struct row rows[] = {CONFIG_ROWS(ROW)};
#undef ROW

/* A value given for a setting, and its source. A smaller rank takes precedence. */
struct entry {
	const struct row *row;
	char *value; /* NULL: given without a value */
	char *source;
	int rank;
};

typedef VEC(struct entry) entries;

enum { RANK_OPTION, RANK_ENVIRONMENT, RANK_FILE, RANK_SYSTEM_FILE };

static void entries_release(entries *l)
{
	vec_each(l, x) {
		free(x->value);
		free(x->source);
	}
	vec_release(l);
}

static const struct row *find_row(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

static void say(entries *l, const struct row *row, const char *value, char *source, int rank)
{
	vec_push(l, (struct entry){row, value ? xstrdup(value) : NULL, source, rank});
}

static const struct entry *find_entry(const entries *l, const struct row *row)
{
	const struct entry *best = NULL;

	vec_each(l, x)
		if (x->row == row && (!best || x->rank < best->rank))
			best = x;
	return best;
}

/* ---- reading the sources ---- */

static int from_options(entries *l, const config_options *options, struct err *e)
{
	vec_each(options, o) {
		const struct row *row = find_row(o->name);

		if (!row)
			return err_set(e, EINVAL, "there is no setting '%s'", o->name);
		say(l, row, o->value, xasprintf("option --%s", o->name), RANK_OPTION);
	}
	return 0;
}

static void from_environment(entries *l)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		CLEANUP(free_ptr) char *name = xasprintf("TACHO_%s", rows[i].name);
		const char *value;

		for (char *c = name; *c; c++)
			*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
		value = getenv(name);
		if (value && *value)
			say(l, &rows[i], value, xasprintf("environment %s", name),
			    RANK_ENVIRONMENT);
	}
}

static char *trimmed(const char *s, size_t len)
{
	while (len && isspace((unsigned char)*s)) {
		s++;
		len--;
	}
	while (len && isspace((unsigned char)s[len - 1]))
		len--;
	return xstrndup(s, len);
}

/* Parses one line, "name = value", whose comment has been removed. */
static int from_line(entries *l, const char *path, unsigned number, const char *line, size_t len,
		     int rank, struct err *e)
{
	const char *equals = memchr(line, '=', len);
	CLEANUP(free_ptr) char *name = trimmed(line, equals ? (size_t)(equals - line) : len);
	CLEANUP(free_ptr) char *value = NULL;
	const struct row *row = find_row(name);
	struct suggest near = {.wanted = name};
	CLEANUP(buf_release) struct buf hint = {};

	if (!*name && !equals)
		return 0;
	if (!equals)
		return err_set(e, EINVAL, "%s:%u: '%s' is not 'name = value'", path, number, name);
	if (!row) {
		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			suggest_offer(&near, rows[i].name);
		suggest_sentence(&near, &hint);
		suggest_release(&near);
		return err_set(e, EINVAL, "%s:%u: there is no setting '%s'%s", path, number, name,
			       buf_str(&hint));
	}
	if (!strcmp(name, "config"))
		return err_set(e, EINVAL, "%s:%u: 'config' is not allowed in a settings file", path,
			       number);
	vec_each(l, x)
		if (x->row == row && x->rank == rank && row->kind != CONFIG_LIST)
			return err_set(e, EINVAL, "%s:%u: '%s' was set already, at %s", path,
				       number, name, x->source);
	value = trimmed(equals + 1, len - (size_t)(equals + 1 - line));
	if (!*value)
		return err_set(e, EINVAL, "%s:%u: '%s' has no value", path, number, name);
	say(l, row, value, xasprintf("%s:%u", path, number), rank);
	return 0;
}

/* Returns the length without the comment: '#' at the start of the line or after white space. */
static size_t without_comment(const char *line, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (line[i] == '#' && (!i || isspace((unsigned char)line[i - 1])))
			return i;
	return len;
}

static int from_file(entries *l, const char *path, bool must, int rank, struct err *e)
{
	CLEANUP(free_ptr) char *text = NULL;
	int r = fs_read(path, FILE_BYTES_MAX, &text);
	unsigned number = 1;

	if (!must && (r == -ENOENT || r == -EACCES || r == -ENOTDIR))
		return 0;
	if (r < 0)
		return err_set(e, -r, "cannot read the settings in '%s': %s", path, strerror(-r));
	for (const char *line = text; *line; number++) {
		size_t len = strcspn(line, "\n");

		r = from_line(l, path, number, line, without_comment(line, len), rank, e);
		if (r < 0)
			return r;
		line += len + (line[len] == '\n');
	}
	return 0;
}

static int from_files(entries *l, struct err *e)
{
	CLEANUP(free_ptr) char *dir = fs_xdg_dir("XDG_CONFIG_HOME", ".config");
	CLEANUP(free_ptr) char *path = dir ? xasprintf("%s/tacho.conf", dir) : NULL;
	const struct entry *named = find_entry(l, find_row("config"));
	int r = 0;

	if (named)
		return from_file(l, named->value, true, RANK_FILE, e);
	if (path)
		r = from_file(l, path, false, RANK_FILE, e);
	return r < 0 ? r : from_file(l, SYSTEM_FILE, false, RANK_SYSTEM_FILE, e);
}

/* ---- parsing values ---- */

static bool parse_seconds(const char *s, uint64_t *ret)
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1},     {'m', 60},        {'h', 3600},
		     {'d', 86400}, {'w', 7 * 86400}, {'y', 365 * 86400}};
	size_t len = strlen(s);
	char digits[24];
	uint64_t number;

	if (!strcmp(s, "0")) {
		*ret = 0;
		return true;
	}
	if (len < 2 || len > sizeof(digits))
		return false;
	memcpy(digits, s, len - 1);
	digits[len - 1] = '\0';
	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		if (units[i].unit == s[len - 1] && parse_u64(digits, &number) &&
		    number <= UINT32_MAX) {
			*ret = number * units[i].seconds;
			return true;
		}
	return false;
}

static bool parse_count(const char *s, unsigned *ret)
{
	static const char *const words[] = {"no", "yes", "twice"};

	for (unsigned i = 0; i < ARRAY_LEN(words); i++)
		if (!strcmp(s, words[i]) || (s[0] == (char)('0' + i) && !s[1])) {
			*ret = i;
			return true;
		}
	return false;
}

static int wrong(const struct entry *x, const char *should_be, struct err *e)
{
	return err_set(e, EINVAL, "%s: '%s' is %s, not '%s'", x->source, x->row->name, should_be,
		       x->value);
}

static int take_value(struct server_config *c, const struct entry *x, struct err *e)
{
	void *to = (char *)c + x->row->offset;
	uint64_t number;

	switch (x->row->kind) {
	case CONFIG_TEXT:
		free(*(char **)to);
		*(char **)to = xstrdup(x->value);
		break;
	case CONFIG_LIST: {
		CLEANUP(strvec_release) strvec pieces = {};

		text_split(x->value, ",", &pieces);
		vec_each(&pieces, piece)
			vec_push((strvec *)to, trimmed(*piece, strlen(*piece)));
		break;
	}
	case CONFIG_COUNT:
		if (!x->value)
			++*(unsigned *)to;
		else if (!parse_count(x->value, to))
			return wrong(x, "no, yes or twice", e);
		break;
	case CONFIG_BYTES:
		if (!parse_bytes(x->value, 1, to))
			return wrong(x, "a size such as 500M or 10G", e);
		break;
	case CONFIG_SECONDS:
		if (!parse_seconds(x->value, to))
			return wrong(x, "a time such as 12h, 30d or 1y", e);
		break;
	case CONFIG_NUMBER:
		if (!parse_u64(x->value, &number) || number > INT_MAX)
			return wrong(x, "a number", e);
		*(unsigned *)to = (unsigned)number;
		break;
	}
	return 0;
}

static void show(config_shown_list *l, const struct row *row, const struct server_config *c,
		 const char *value, const char *source)
{
	CLEANUP(buf_release) struct buf text = {};
	const void *at = (const char *)c + row->offset;

	if (row->kind == CONFIG_LIST)
		vec_each((const strvec *)at, item)
			buf_addf(&text, "%s%s", text.len ? ", " : "", *item);
	else if (row->kind == CONFIG_COUNT)
		buf_addf(&text, "%u", *(const unsigned *)at);
	else if (row->kind == CONFIG_TEXT && *(char *const *)at)
		buf_add(&text, *(char *const *)at);
	else if (value)
		buf_add(&text, value);
	vec_push(l, (struct config_shown){row->name, text.len ? buf_steal(&text) : NULL,
					  xstrdup(source)});
}

/* Sets a setting from all entries of the source that takes precedence, or from its default. */
static int settle(struct server_config *c, const entries *l, const struct row *row,
		  config_shown_list *shown, struct err *e)
{
	const struct entry *best = find_entry(l, row), *last = best;
	const struct entry standard = {row, (char *)row->standard, (char *)"default", 0};
	int r = 0;

	if (!best && row->standard)
		r = take_value(c, &standard, e);
	vec_each(l, x)
		if (best && x->row == row && x->rank == best->rank && r >= 0) {
			r = take_value(c, x, e);
			last = x;
		}
	if (r >= 0 && shown)
		show(shown, row, c, last ? last->value : row->standard,
		     best ? best->source : "default");
	return r;
}

int config_load(struct server_config *ret, const config_options *options,
		config_shown_list *ret_shown, struct err *e)
{
	CLEANUP(entries_release) entries said = {};
	int r = from_options(&said, options, e);

	*ret = (struct server_config){.data = fs_xdg_dir("XDG_DATA_HOME", ".local/share")};
	if (r < 0)
		return r;
	from_environment(&said);
	r = from_files(&said, e);
	for (size_t i = 0; i < ARRAY_LEN(rows) && r >= 0; i++)
		r = settle(ret, &said, &rows[i], ret_shown, e);
	if (r >= 0 && !ret->data)
		r = err_set(e, EINVAL,
			    "there is no home directory to keep data in: name one with --data DIR");
	return r < 0 ? r : 0;
}

void config_release(struct server_config *c)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		void *at = (char *)c + rows[i].offset;

		if (rows[i].kind == CONFIG_TEXT) {
			free(*(char **)at);
			*(char **)at = NULL;
		} else if (rows[i].kind == CONFIG_LIST) {
			strvec_release(at);
		}
	}
}

void config_shown_release(config_shown_list *l)
{
	vec_each(l, x) {
		free(x->value);
		free(x->source);
	}
	vec_release(l);
}

/* ---- addresses ---- */

int config_address(const char *listen, char **ret_host, uint16_t *ret_port, struct err *e)
{
	const char *colon = strrchr(listen, ':');
	size_t len = colon ? (size_t)(colon - listen) : 0;
	bool bracketed = len > 1 && listen[0] == '[' && listen[len - 1] == ']';
	uint64_t port;

	if (!colon || !parse_u64(colon + 1, &port) || port > UINT16_MAX ||
	    (!bracketed && memchr(listen, ':', len)))
		return err_set(e, EINVAL,
			       "cannot listen on '%s': it is HOST:PORT, such as 127.0.0.1:5000 or "
			       "[::1]:5000",
			       listen);
	*ret_host = bracketed ? xstrndup(listen + 1, len - 2)
		    : len     ? xstrndup(listen, len)
			      : xstrdup("0.0.0.0");
	*ret_port = (uint16_t)port;
	return 0;
}

bool config_is_loopback(const char *host)
{
	struct in6_addr six;
	struct in_addr four;

	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, host, &six) == 1)
		return IN6_IS_ADDR_LOOPBACK(&six);
	return !strcmp(host, "localhost");
}

int config_check_safety(const struct server_config *c, struct err *e)
{
	CLEANUP(free_ptr) char *host = NULL;
	uint16_t port;
	int r = config_address(c->listen, &host, &port, e);

	if (r < 0 || !host)
		return r;
	if (!c->tls_cert != !c->tls_key)
		return err_set(e, EINVAL, "--tls-cert and --tls-key belong together: %s is missing",
			       c->tls_cert ? "the key" : "the certificate");
	if (c->insecure >= 2)
		return 0;
	if (c->no_token)
		return err_set(
			e, EINVAL,
			"without a token everybody who can connect may run programs as you; if "
			"that is what you want, say --insecure twice");
	if (!config_is_loopback(host) && !c->tls_cert)
		return err_set(e, EINVAL,
			       "'%s' can be reached by others, and without TLS they can read the "
			       "token: give --tls-cert and --tls-key, or use ssh -L to reach "
			       "127.0.0.1; if you are sure, say --insecure twice",
			       c->listen);
	return 0;
}
