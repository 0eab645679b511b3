/*
 * The formats of tracepoints: what tracefs shows in events/SYSTEM/NAME/format, and the line that
 * `perf script` prints for the raw data of a sample. The same text stands in perf.data files, so
 * both the text and the data are hostile. That is why this is not libtraceevent: on made-up data
 * it divides by zero, follows offsets out of the sample and prints strings that have no end.
 *
 * Expressions are evaluated as the kernel's compiler would: signed fields are signed, a - b - c
 * groups from the left, casts cut. Where perf prints the same thing in another shape, its shape is
 * taken; where it prints a placeholder for what it does not know (%c, sizeof, masks of CPUs), the
 * kernel's is. A "print fmt" that calls kernel functions cannot be evaluated by anybody; then the
 * fields are listed after "[FAILED TO PARSE]", also as perf does.
 *
 * The caller owns a format and releases it. Afterwards nothing in it changes, so any number of
 * threads may print with it. Text is printed as it stands in the data, control characters too.
 */
#ifndef TACHO_EVENT_FORMAT_FORMAT_H
#define TACHO_EVENT_FORMAT_FORMAT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

struct print_program;

/* How the machine that recorded the data wrote numbers. */
struct tracepoint_abi {
	bool swap; /* the other byte order than ours */
	uint8_t long_bytes;
};

enum field_place {
	FIELD_HERE,
	FIELD_DATA_LOC, /* a word with length and offset from the start of the data */
	FIELD_REL_LOC,  /* the same, but the offset counts from behind the word */
};

struct tracepoint_field {
	char *name;
	char *type; /* as written, without the name and its brackets */
	uint32_t offset, size;
	uint32_t array_len; /* 0: no array, or its length is in the data */
	uint8_t unit_bytes; /* of one element of an array */
	enum field_place place;
	bool is_signed;
	bool is_array;
	bool is_pointer;
};

struct tracepoint_format {
	char *system, *name;
	uint16_t id;
	struct tracepoint_abi abi;
	size_t common_count; /* the first fields are those that every tracepoint has */
	VEC(struct tracepoint_field) fields;
	struct print_program *print; /* NULL: "print fmt" cannot be evaluated, … */
	char *problem;               /* … for this reason */
};

/* What only the caller can know; all of it may be NULL. */
struct format_context {
	void *arg;
	/* Name of the function at @address for %pS and %ps; NULL if there is none. */
	const char *(*symbol)(void *arg, uint64_t address, uint64_t *ret_offset);
	/* String of the kernel at @address, as printk_formats of tracefs lists them. */
	const char *(*string)(void *arg, uint64_t address);
};

/*
 * Reads the text of a format file; fails with a sentence when it is none. A "print fmt" that cannot
 * be evaluated is no failure.
 */
int tracepoint_format_parse(struct tracepoint_format *ret, const char *system, const char *text,
			    size_t len, struct tracepoint_abi abi, struct err *e);
void tracepoint_format_release(struct tracepoint_format *f);

const struct tracepoint_field *tracepoint_format_field(const struct tracepoint_format *f,
						       const char *name);

/* A number of 1, 2, 4 or 8 bytes, sign extended as the field says. */
bool tracepoint_field_value(const struct tracepoint_format *f, const struct tracepoint_field *field,
			    const void *raw, size_t raw_size, uint64_t *ret_value);

/* The bytes of a field, wherever they are; NULL if they are not all inside of the data. */
const unsigned char *tracepoint_field_bytes(const struct tracepoint_format *f,
					    const struct tracepoint_field *field, const void *raw,
					    size_t raw_size, size_t *ret_len);

/* The same up to the first NUL; it is not ended by one. */
const char *tracepoint_field_text(const struct tracepoint_format *f,
				  const struct tracepoint_field *field, const void *raw,
				  size_t raw_size, size_t *ret_len);

/* Appends one line without its end, at most FORMAT_OUTPUT_LIMIT bytes; @ctx may be NULL. */
void tracepoint_format_print(const struct tracepoint_format *f, const void *raw, size_t raw_size,
			     const struct format_context *ctx, struct buf *out);

#define FORMAT_TEXT_LIMIT   (1u << 20)
#define FORMAT_FIELD_LIMIT  512
#define FORMAT_OUTPUT_LIMIT (64u << 10)

#endif
