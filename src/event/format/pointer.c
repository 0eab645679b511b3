/* Prints %p with its suffixes: symbols, network addresses, UUIDs, dumps, bit sets. */
#include "event/format/program.h"

#include <string.h>

#define FAMILY_INET  2
#define FAMILY_INET6 10

static void put_address(struct format_run *run, uint64_t address)
{
	if (address)
		format_putf(run, "0x%llx", (unsigned long long)address);
	else
		format_puts(run, "(nil)");
}

static void put_symbol(struct format_run *run, uint64_t address, bool with_offset)
{
	uint64_t offset = 0;
	const char *name =
		run->ctx->symbol ? run->ctx->symbol(run->ctx->arg, address, &offset) : NULL;

	if (!name) {
		format_putf(run, "0x%llx", (unsigned long long)address);
		return;
	}
	format_puts(run, name);
	if (with_offset)
		format_putf(run, "+0x%llx", (unsigned long long)offset);
}

/* ---- network ---- */

static void put_ip4(struct format_run *run, const unsigned char *b, bool zeros)
{
	format_putf(run, zeros ? "%03d.%03d.%03d.%03d" : "%d.%d.%d.%d", b[0], b[1], b[2], b[3]);
}

static unsigned group_of(const unsigned char *b, int i)
{
	return (unsigned)b[2 * i] << 8 | b[2 * i + 1];
}

/* Returns the longest run of zero groups in [0, groups), the first if several are equally long. */
static int longest_zeros(const unsigned char *b, int groups, int *ret_len)
{
	int best = -1, best_len = 1;

	for (int i = 0; i < groups; i++) {
		int len = 0;

		while (i + len < groups && !group_of(b, i + len))
			len++;
		if (len > best_len) {
			best = i;
			best_len = len;
		}
		i += len;
	}
	*ret_len = best < 0 ? 0 : best_len;
	return best;
}

static void put_ip6_short(struct format_run *run, const unsigned char *b)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	bool with_ip4 = !memcmp(b, mapped, sizeof(mapped));
	int groups = with_ip4 ? 6 : 8, len, zeros = longest_zeros(b, groups, &len);
	bool colon = false;

	for (int i = 0; i < groups; i++) {
		if (i == zeros) {
			format_puts(run, "::");
			i += len - 1;
			colon = false;
			continue;
		}
		format_putf(run, "%s%x", colon ? ":" : "", group_of(b, i));
		colon = true;
	}
	if (!with_ip4)
		return;
	if (colon)
		format_puts(run, ":");
	put_ip4(run, b + 12, false);
}

static void put_ip6(struct format_run *run, const unsigned char *b, bool colons)
{
	for (int i = 0; i < 8; i++)
		format_putf(run, "%s%04x", i && colons ? ":" : "", group_of(b, i));
}

static void put_ip(struct format_run *run, const char *suffix, struct value v)
{
	bool six = suffix[1] == '6';

	if (!v.bytes || v.len != (six ? 16 : 4))
		format_puts(run, six ? "INVALIDIPv6" : "INVALIDIPv4");
	else if (!six)
		put_ip4(run, v.bytes, suffix[0] == 'i');
	else if (suffix[0] == 'I' && suffix[2] == 'c')
		put_ip6_short(run, v.bytes);
	else
		put_ip6(run, v.bytes, suffix[0] == 'I');
}

void format_put_sockaddr(struct format_run *run, struct value v, bool with_port)
{
	uint16_t family;

	if (!v.bytes || v.len < 8)
		return;
	memcpy(&family, v.bytes, sizeof(family));
	if (run->fmt->abi.swap)
		family = __builtin_bswap16(family);
	if (family == FAMILY_INET) {
		put_ip4(run, v.bytes + 4, false);
	} else if (family == FAMILY_INET6 && v.len >= 24) {
		format_puts(run, with_port ? "[" : "");
		put_ip6_short(run, v.bytes + 8);
		format_puts(run, with_port ? "]" : "");
	} else {
		return;
	}
	if (with_port)
		format_putf(run, ":%u", (unsigned)v.bytes[2] << 8 | v.bytes[3]);
}

static void put_mac(struct format_run *run, const char *suffix, struct value v)
{
	bool reversed = strchr(suffix, 'R');
	const char *between = suffix[0] == 'm' ? "" : strchr(suffix, 'F') ? "-" : ":";

	if (!v.bytes || v.len != 6) {
		format_puts(run, "INVALIDMAC");
		return;
	}
	for (int i = 0; i < 6; i++)
		format_putf(run, "%s%02x", i ? between : "", v.bytes[reversed ? 5 - i : i]);
}

/* ---- bytes ---- */

static void put_uuid(struct format_run *run, char order, struct value v)
{
	static const unsigned char little[16] = {3, 2, 1,  0,  5,  4,  7,  6,
						 8, 9, 10, 11, 12, 13, 14, 15};
	bool is_little = (order | 0x20) == 'l', upper = order == 'L' || order == 'B';

	if (!v.bytes || v.len != 16) {
		format_puts(run, "INVALIDUUID");
		return;
	}
	for (int i = 0; i < 16; i++) {
		unsigned byte = v.bytes[is_little ? little[i] : i];

		if (i == 4 || i == 6 || i == 8 || i == 10)
			format_puts(run, "-");
		format_putf(run, upper ? "%02X" : "%02x", byte);
	}
}

/* As the kernel, prints one byte without a width and never more than 64. */
static void put_dump(struct format_run *run, char between, struct value v, uint32_t width)
{
	char separator[2] = {between == 'C'   ? ':'
			     : between == 'D' ? '-'
			     : between == 'N' ? '\0'
					      : ' '};
	size_t count = !width ? 1 : width < 64 ? width : 64;

	for (size_t i = 0; v.bytes && i < v.len && i < count; i++)
		format_putf(run, "%s%02x", i ? separator : "", v.bytes[i]);
}

/* ---- sets of bits ---- */

/* Bits are numbered within machine words, so the byte order decides which byte has a bit. */
static bool bit_of(const struct format_run *run, struct value v, size_t bit)
{
	bool big = (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) != run->fmt->abi.swap;
	size_t byte = bit / 8, word = run->fmt->abi.long_bytes;

	if (big)
		byte = byte / word * word + (word - 1 - byte % word);
	return byte < v.len && v.bytes[byte] >> (bit % 8) & 1;
}

static size_t bits_in(struct value v, size_t most)
{
	size_t bits = v.bytes ? v.len * 8 : 0;

	return bits < most ? bits : most;
}

/* Prints words of 32 bits, the highest first. */
static void put_bits(struct format_run *run, struct value v, size_t bits)
{
	for (size_t words = (bits + 31) / 32; words--;) {
		size_t in_word = bits - words * 32 < 32 ? bits - words * 32 : 32;
		uint32_t word = 0;

		for (size_t i = 0; i < in_word; i++)
			word |= (uint32_t)bit_of(run, v, words * 32 + i) << i;
		format_putf(run, "%0*x%s", (int)(in_word + 3) / 4, word, words ? "," : "");
		if (run->out->len >= run->limit)
			return;
	}
}

static void put_bit_list(struct format_run *run, struct value v, size_t bits)
{
	bool first = true;

	for (size_t i = 0; i < bits && run->out->len < run->limit; i++) {
		size_t start = i;

		if (!bit_of(run, v, i))
			continue;
		while (i + 1 < bits && bit_of(run, v, i + 1))
			i++;
		format_putf(run, "%s%zu", first ? "" : ",", start);
		if (i > start)
			format_putf(run, "-%zu", i);
		first = false;
	}
}

void format_put_bitmask(struct format_run *run, struct value v)
{
	put_bits(run, v, bits_in(v, SIZE_MAX));
}

/* ---- all suffixes ---- */

void format_put_pointer(struct format_run *run, const struct piece *piece, uint32_t width)
{
	struct value v = format_eval(run, piece->arg);
	const char *suffix = piece->suffix;

	switch (suffix[0]) {
	case 'S':
	case 's':
	case 'F':
	case 'f':
	case 'B':
		put_symbol(run, v.number, suffix[0] == 'S' || suffix[0] == 'F' || suffix[0] == 'B');
		break;
	case 'I':
	case 'i':
		if (suffix[1] == 'S')
			format_put_sockaddr(run, v, suffix[2] == 'p');
		else
			put_ip(run, suffix, v);
		break;
	case 'M':
	case 'm':
		put_mac(run, suffix, v);
		break;
	case 'U':
		put_uuid(run, suffix[1], v);
		break;
	case 'h':
		put_dump(run, suffix[1], v, width);
		break;
	case 'b':
		if (suffix[1] == 'l')
			put_bit_list(run, v, bits_in(v, width));
		else
			put_bits(run, v, bits_in(v, width));
		break;
	default:
		put_address(run, v.number);
		break;
	}
}
