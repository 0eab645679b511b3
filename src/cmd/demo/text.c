/* Work on text: counting words, some of them by a slow search, and compressing. */
#include "cmd/demo/work.h"

#include "base/alloc.h"

#include <string.h>

#define WORDS      1500u
#define SLOTS      4096u
#define TEXT_BYTES (1u << 20)
#define PARSED     12u /* times that the text is read in a phase */
#define PACKED     24u
#define MATCH_MIN  4u
#define MATCH_MAX  64u
#define HASH_BITS  12u

struct demo_word {
	char name[16];
	uint32_t len, count;
};

static uint32_t hash_of(const char *s, size_t len)
{
	uint32_t h = 2166136261u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)s[i]) * 16777619u;
	return h ^ h >> 15;
}

static void make_word(struct demo_word *w, uint32_t *random)
{
	static const char *const parts[] = {"ka", "ro", "mi",  "ten", "sul", "a",  "ver", "po",
					    "li", "no", "che", "u",   "dra", "si", "be",  "gon"};
	unsigned count = 2 + demo_random(random) % 3;

	w->len = 0;
	for (unsigned i = 0; i < count; i++) {
		const char *part = parts[demo_random(random) % 16];
		size_t len = strlen(part);

		memcpy(w->name + w->len, part, len);
		w->len += (uint32_t)len;
	}
}

static NAMED uint32_t find_word(struct demo_text *t, const char *s, size_t len)
{
	uint32_t at = hash_of(s, len) % SLOTS;

	KEEP_FRAME();
	while (t->slots[at]) {
		const struct demo_word *w = &t->words[t->slots[at] - 1];

		if (w->len == len && !memcmp(w->name, s, len))
			return t->slots[at] - 1;
		at = (at + 1) % SLOTS;
	}
	return WORDS;
}

void demo_text_make(struct demo_text *t)
{
	uint32_t random = 42;

	*t = (struct demo_text){.words = xcalloc(WORDS, sizeof(*t->words)),
				.slots = xcalloc(SLOTS, sizeof(*t->slots)),
				.text = xcalloc(TEXT_BYTES + sizeof(t->words->name) + 1, 1)};
	for (uint32_t i = 0; i < WORDS;) {
		struct demo_word *w = &t->words[i];
		uint32_t at;

		make_word(w, &random);
		if (find_word(t, w->name, w->len) < WORDS)
			continue;
		for (at = hash_of(w->name, w->len) % SLOTS; t->slots[at];)
			at = (at + 1) % SLOTS;
		t->slots[at] = ++i;
	}
	while (t->len < TEXT_BYTES) {
		const struct demo_word *w = &t->words[demo_random(&random) % WORDS];

		memcpy(t->text + t->len, w->name, w->len);
		t->len += w->len;
		t->text[t->len++] = demo_random(&random) % 12 ? ' ' : '\n';
	}
}

void demo_text_free(struct demo_text *t)
{
	free(t->text);
	free(t->words);
	free(t->slots);
}

/* The deliberate flaw of this program: a linear search where find_word() uses a hash table. */
static NAMED uint32_t find_word_slowly(const struct demo_text *t, const char *s, size_t len)
{
	KEEP_FRAME();
	for (uint32_t i = 0; i < WORDS; i++) {
		const struct demo_word *w = &t->words[i];
		size_t same = 0;

		while (same < len && w->name[same] == s[same])
			same++;
		if (same == len && w->len == len)
			return i;
	}
	return WORDS;
}

static NAMED const char *parse_line(struct demo_text *t, const char *at, unsigned slow_of_16,
				    uint64_t *number)
{
	while (*at && *at != '\n') {
		size_t len = 0;
		uint32_t word;

		while (at[len] > ' ')
			len++;
		word = (*number)++ % 16 < slow_of_16 ? find_word_slowly(t, at, len)
						     : find_word(t, at, len);
		t->words[word].count++;
		at += len;
		at += *at == ' ';
	}
	return at + (*at == '\n');
}

NAMED uint64_t parse_text(struct demo_text *t, unsigned slow_of_16)
{
	uint64_t number = 0;

	for (unsigned round = 0; round < PARSED; round++)
		for (const char *at = t->text; *at;)
			at = parse_line(t, at, slow_of_16, &number);
	return number;
}

static NAMED uint32_t length_of_match(const char *a, const char *b, size_t max)
{
	uint32_t len = 0;

	KEEP_FRAME();
	while (len < MATCH_MAX && len < max && a[len] == b[len])
		len++;
	return len;
}

/* Returns the longest match among the last 8 places with the same hash of four letters. */
static NAMED uint32_t find_match(const struct demo_text *t, const uint32_t *last,
				 const uint32_t *before, uint32_t at)
{
	uint32_t best = 0, tries = 8;
	uint32_t place = last[hash_of(t->text + at, MATCH_MIN) >> (32 - HASH_BITS)];

	while (place && tries--) {
		uint32_t len = length_of_match(t->text + at, t->text + place - 1, t->len - at);

		if (len > best)
			best = len;
		place = before[place - 1];
	}
	return best;
}

NAMED uint64_t compress_text(const struct demo_text *t)
{
	uint32_t *last = xcalloc(1u << HASH_BITS, sizeof(*last));
	uint32_t *before = xcalloc(t->len, sizeof(*before));
	uint64_t out = 0;

	for (unsigned round = 0; round < PACKED; round++) {
		memset(last, 0, sizeof(*last) << HASH_BITS);
		for (uint32_t at = 0; at + MATCH_MIN < t->len;) {
			uint32_t *slot =
				&last[hash_of(t->text + at, MATCH_MIN) >> (32 - HASH_BITS)];
			uint32_t len = find_match(t, last, before, at);

			before[at] = *slot;
			*slot = at + 1;
			at += len >= MATCH_MIN ? len : 1;
			out += len >= MATCH_MIN ? 3 : 1;
		}
	}
	free(last);
	free(before);
	return out / PACKED;
}
