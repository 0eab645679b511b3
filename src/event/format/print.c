/* Prints the data of a sample as a line of text. */
#include "event/format/program.h"

#include <stdio.h>
#include <string.h>

/* ---- output ---- */

void format_put(struct format_run *run, const char *s, size_t len)
{
	size_t room = run->limit > run->out->len ? run->limit - run->out->len : 0;

	buf_add_mem(run->out, s, len < room ? len : room);
}

void format_puts(struct format_run *run, const char *s)
{
	format_put(run, s, strlen(s));
}

void format_putf(struct format_run *run, const char *fmt, ...)
{
	char text[128];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len > 0)
		format_put(run, text, (size_t)len < sizeof(text) ? (size_t)len : sizeof(text) - 1);
}

static void put_blanks(struct format_run *run, size_t count, char c)
{
	size_t room = run->limit > run->out->len ? run->limit - run->out->len : 0;

	buf_pad(run->out, count < room ? count : room, c);
}

void format_put_padded(struct format_run *run, const char *s, size_t len, size_t width, bool left)
{
	size_t blanks = width > len ? width - len : 0;

	if (!left)
		put_blanks(run, blanks, ' ');
	format_put(run, s, len);
	if (left)
		put_blanks(run, blanks, ' ');
}

/* ---- numbers ---- */

static size_t digits_of(char *end, uint64_t v, unsigned base, bool upper)
{
	const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
	char *s = end;

	for (; v; v /= base)
		*--s = digits[v % base];
	return (size_t)(end - s);
}

/* Returns the sign or base prefix before the digits. */
static const char *prefix_of(const struct piece *piece, bool negative, bool zero)
{
	switch (piece->conversion) {
	case 'd':
	case 'i':
		return negative ? "-" : piece->plus ? "+" : piece->space ? " " : "";
	case 'x':
		return piece->sharp && !zero ? "0x" : "";
	case 'X':
		return piece->sharp && !zero ? "0X" : "";
	case 'o':
		return piece->sharp && !zero ? "0" : "";
	default:
		return "";
	}
}

struct sizes {
	size_t width, precision;
	bool left, has_precision;
};

static void put_number(struct format_run *run, const struct piece *piece, struct sizes sizes,
		       uint64_t v)
{
	bool is_signed = piece->conversion == 'd' || piece->conversion == 'i', negative;
	unsigned base = piece->conversion == 'o' ? 8 : (piece->conversion | 0x20) == 'x' ? 16 : 10;
	char digits[24], *end = digits + sizeof(digits);
	size_t len, zeros, width;
	const char *prefix;

	v = format_number(v, piece->bytes * 8u, is_signed).number;
	negative = is_signed && (int64_t)v < 0;
	prefix = prefix_of(piece, negative, !v);
	len = digits_of(end, negative ? -v : v, base, piece->conversion == 'X');
	zeros = sizes.has_precision ? sizes.precision : 1;
	zeros = zeros > len ? zeros - len : 0;
	width = strlen(prefix) + zeros + len;
	if (piece->zero && !sizes.left && !sizes.has_precision && sizes.width > width) {
		zeros += sizes.width - width;
		width = sizes.width;
	}
	if (!sizes.left && sizes.width > width)
		put_blanks(run, sizes.width - width, ' ');
	format_puts(run, prefix);
	put_blanks(run, zeros, '0');
	format_put(run, end - len, len);
	if (sizes.left && sizes.width > width)
		put_blanks(run, sizes.width - width, ' ');
}

/* ---- pieces ---- */

/* As in C, a negative width means left-aligned, a negative precision means none. */
static struct sizes sizes_of(const struct format_run *run, const struct piece *piece)
{
	struct sizes s = {piece->width, piece->precision, piece->left, piece->has_precision};
	int64_t v;

	if (piece->width_arg != PIECE_NO_ARG) {
		v = (int32_t)format_eval(run, piece->width_arg).number;
		s.left = s.left || v < 0;
		s.width = (size_t)(v < 0 ? -v : v);
	}
	if (piece->precision_arg != PIECE_NO_ARG) {
		v = (int32_t)format_eval(run, piece->precision_arg).number;
		s.has_precision = v >= 0;
		s.precision = v >= 0 ? (size_t)v : 0;
	}
	return s;
}

static void put_string(struct format_run *run, const struct piece *piece, struct sizes sizes)
{
	size_t max = sizes.has_precision ? sizes.precision : SIZE_MAX;
	struct format_run inner = *run;
	struct buf text = {};

	if (!sizes.width) {
		format_put_text(run, piece->arg, max);
		return;
	}
	inner.out = &text;
	inner.limit = FORMAT_OUTPUT_LIMIT;
	format_put_text(&inner, piece->arg, max);
	format_put_padded(run, buf_str(&text), text.len, sizes.width, sizes.left);
	buf_release(&text);
}

static void put_piece(struct format_run *run, const struct piece *piece)
{
	struct sizes sizes;
	char c;

	if (piece->kind == PIECE_TEXT) {
		format_put(run, buf_str(&run->program->text) + piece->text, piece->text_len);
		return;
	}
	sizes = sizes_of(run, piece);
	switch (piece->kind) {
	case PIECE_NUMBER:
		put_number(run, piece, sizes, format_eval(run, piece->arg).number);
		break;
	case PIECE_CHAR:
		c = (char)format_eval(run, piece->arg).number;
		format_put_padded(run, &c, c ? 1 : 0, sizes.width, sizes.left);
		break;
	case PIECE_STRING:
		put_string(run, piece, sizes);
		break;
	default:
		format_put_pointer(run, piece, (uint32_t)sizes.width);
		break;
	}
}

/* ---- fields, if "print fmt" cannot be evaluated ---- */

static bool printable(const unsigned char *s, size_t len)
{
	for (size_t i = 0; i < len && s[i]; i++)
		if ((s[i] < ' ' && (s[i] < '\t' || s[i] > '\r')) || s[i] > '~')
			return false;
	return true;
}

static bool is_text(const struct tracepoint_field *field)
{
	return field->is_array && (strstr(field->type, "char") || strstr(field->type, "u8") ||
				   strstr(field->type, "s8"));
}

static void put_array_field(struct format_run *run, const struct tracepoint_field *field)
{
	size_t len;
	const unsigned char *bytes =
		tracepoint_field_bytes(run->fmt, field, run->raw, run->raw_size, &len);

	if (is_text(field) && (!bytes || printable(bytes, len))) {
		if (bytes)
			format_put(run, (const char *)bytes, strnlen((const char *)bytes, len));
		return;
	}
	format_puts(run, "ARRAY[");
	for (size_t i = 0; bytes && i < len; i++)
		format_putf(run, "%s%02x", i ? ", " : "", bytes[i]);
	format_puts(run, "]");
}

static void put_field(struct format_run *run, const struct tracepoint_field *field)
{
	bool is_long = strstr(field->type, "long");
	uint64_t v = 0;

	if (field->is_array) {
		put_array_field(run, field);
		return;
	}
	tracepoint_field_value(run->fmt, field, run->raw, run->raw_size, &v);
	if (field->is_pointer || (is_long && !field->is_signed))
		format_putf(run, "0x%llx", (unsigned long long)v);
	else if (is_long && field->size == 4)
		format_putf(run, "0x%x", (uint32_t)v);
	else if (field->is_signed)
		format_putf(run, "%lld", (long long)v);
	else
		format_putf(run, "%llu", (unsigned long long)v);
}

static void put_fields(struct format_run *run)
{
	for (size_t i = run->fmt->common_count; i < run->fmt->fields.len; i++) {
		const struct tracepoint_field *field = &run->fmt->fields.items[i];

		format_puts(run, i > run->fmt->common_count ? " " : "");
		format_puts(run, field->name);
		format_puts(run, "=");
		put_field(run, field);
	}
}

static struct format_run run_of(const struct tracepoint_format *f, const void *raw, size_t raw_size,
				const struct format_context *ctx, struct buf *out)
{
	static const struct format_context nothing;

	return (struct format_run){.fmt = f,
				   .program = f->print,
				   .raw = raw,
				   .raw_size = raw_size,
				   .ctx = ctx ? ctx : &nothing,
				   .out = out,
				   .limit = out->len + FORMAT_OUTPUT_LIMIT};
}

void tracepoint_format_print(const struct tracepoint_format *f, const void *raw, size_t raw_size,
			     const struct format_context *ctx, struct buf *out)
{
	struct format_run run = run_of(f, raw, raw_size, ctx, out);

	if (!f->print) {
		format_puts(&run, "[FAILED TO PARSE]");
		format_puts(&run, f->fields.len > f->common_count ? " " : "");
		put_fields(&run);
		return;
	}
	vec_each(&f->print->pieces, piece)
		put_piece(&run, piece);
}

void tracepoint_format_print_fields(const struct tracepoint_format *f, const void *raw,
				    size_t raw_size, struct buf *out)
{
	struct format_run run = run_of(f, raw, raw_size, NULL, out);

	put_fields(&run);
}

void tracepoint_format_print_field(const struct tracepoint_format *f,
				   const struct tracepoint_field *field, const void *raw,
				   size_t raw_size, struct buf *out)
{
	struct format_run run = run_of(f, raw, raw_size, NULL, out);

	put_field(&run, field);
}

const char *tracepoint_printed_value(const char *text, const char *name, size_t *ret_len)
{
	size_t len = strlen(name);

	for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
		const char *value = at + len + 1;

		if (at[len] != '=' || (at != text && !strchr(" ,([", at[-1])))
			continue;
		*ret_len = strcspn(value, " ");
		if (*ret_len && value[*ret_len - 1] == ',')
			--*ret_len;
		return value;
	}
	return NULL;
}
