/*
 * Formats of tracepoints: parses the text of events/SYSTEM/NAME/format in tracefs and prints the
 * raw data of a sample as `perf script` does. perf.data files contain the same text, so neither
 * text nor data can be trusted. That is why libtraceevent is not used: on crafted data it divides
 * by zero, follows offsets out of the sample and prints strings without an end.
 *
 * Expressions are evaluated as the kernel's compiler would: signed fields are signed, a - b - c
 * groups from the left, casts truncate. Where perf and the kernel print a value differently, perf's
 * form is used; where perf prints only a placeholder (%c, sizeof, CPU masks), the kernel's form is.
 * A "print fmt" that calls kernel functions cannot be evaluated; then the fields are listed after
 * "[FAILED TO PARSE]", also as perf does.
 *
 * The caller owns a format and releases it. A parsed format never changes, so any number of threads
 * may print with it. Text is printed as it is in the data, including control characters.
 */
#ifndef TACHO_EVENT_FORMAT_FORMAT_H
#define TACHO_EVENT_FORMAT_FORMAT_H

#include "base/buf.h"
#include "base/err.h"
#include "base/vec.h"

struct print_program;

/* How the machine that recorded the data stores numbers. */
struct tracepoint_abi {
	bool swap; /* its byte order is not ours */
	uint8_t long_bytes;
};

enum field_place {
	FIELD_HERE,
	FIELD_DATA_LOC, /* a word holds length and offset from the start of the data */
	FIELD_REL_LOC,  /* the same, but the offset is from the end of that word */
};

struct tracepoint_field {
	char *name;
	char *type; /* as written, without the name and its brackets */
	uint32_t offset, size;
	uint32_t array_len; /* 0: no array, or its length is in the data */
	uint8_t unit_bytes; /* size of an element of an array */
	enum field_place place;
	bool is_signed;
	bool is_array;
	bool is_pointer;
};

struct tracepoint_format {
	char *system, *name;
	uint16_t id;
	struct tracepoint_abi abi;
	size_t common_count; /* number of leading fields that every tracepoint has */
	VEC(struct tracepoint_field) fields;
	struct print_program *print; /* NULL: "print fmt" cannot be evaluated, … */
	char *problem;               /* … for this reason */
};

/* Lookups that only the caller can do; any of them may be NULL. */
struct format_context {
	void *arg;
	/* Returns the name of the function at @address for %pS and %ps, or NULL. */
	const char *(*symbol)(void *arg, uint64_t address, uint64_t *ret_offset);
	/* Returns the kernel's string at @address, from printk_formats of tracefs, or NULL. */
	const char *(*string)(void *arg, uint64_t address);
};

/*
 * Parses the text of a format file; fails with a sentence if the text is not one. A "print fmt"
 * that cannot be evaluated is not a failure: `problem` is set.
 */
int tracepoint_format_parse(struct tracepoint_format *ret, const char *system, const char *text,
			    size_t len, struct tracepoint_abi abi, struct err *e);
void tracepoint_format_release(struct tracepoint_format *f);

const struct tracepoint_field *tracepoint_format_field(const struct tracepoint_format *f,
						       const char *name);

/* Whether the number in field @n of `fields` is an address: by its type, or because "print fmt" prints it as one. */
bool tracepoint_field_is_address(const struct tracepoint_format *f, size_t n);

/* Reads a number of 1, 2, 4 or 8 bytes, sign-extended if the field is signed. */
bool tracepoint_field_value(const struct tracepoint_format *f, const struct tracepoint_field *field,
			    const void *raw, size_t raw_size, uint64_t *ret_value);

/* Returns the bytes of a field of any enum field_place; NULL if not all are inside the data. */
const unsigned char *tracepoint_field_bytes(const struct tracepoint_format *f,
					    const struct tracepoint_field *field, const void *raw,
					    size_t raw_size, size_t *ret_len);

/* The same up to the first NUL. The text may lack a NUL: use *ret_len. */
const char *tracepoint_field_text(const struct tracepoint_format *f,
				  const struct tracepoint_field *field, const void *raw,
				  size_t raw_size, size_t *ret_len);

/* Appends one line without newline, at most FORMAT_OUTPUT_LIMIT bytes; @ctx may be NULL. */
void tracepoint_format_print(const struct tracepoint_format *f, const void *raw, size_t raw_size,
			     const struct format_context *ctx, struct buf *out);

/* The fields without "print fmt", as perf's --raw-trace: all, "name=value name=value", or one value. */
void tracepoint_format_print_fields(const struct tracepoint_format *f, const void *raw,
				    size_t raw_size, struct buf *out);
void tracepoint_format_print_field(const struct tracepoint_format *f,
				   const struct tracepoint_field *field, const void *raw,
				   size_t raw_size, struct buf *out);

/*
 * Returns where a printed text has the value of a field, behind "NAME=": flags and functions have names
 * there. NULL: it names its fields in another way.
 */
const char *tracepoint_printed_value(const char *text, const char *name, size_t *ret_len);

#define FORMAT_TEXT_LIMIT   (1u << 20)
#define FORMAT_FIELD_LIMIT  512
#define FORMAT_OUTPUT_LIMIT (64u << 10)

#endif
