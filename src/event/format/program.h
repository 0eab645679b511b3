/*
 * Internal to event/format: a "print fmt" as a tree of nodes and a list of printf pieces. Built
 * once by expr.c and pieces.c, read by eval.c and print.c.
 */
#ifndef TACHO_EVENT_FORMAT_PROGRAM_H
#define TACHO_EVENT_FORMAT_PROGRAM_H

#include "event/format/format.h"

/* Above anything the kernel has (60 levels, 300 nodes), and low enough for recursion. */
#define FORMAT_DEPTH_LIMIT 200
#define FORMAT_NODE_LIMIT  16384

enum node_kind {
	NODE_NUMBER,
	NODE_UNKNOWN, /* a constant of the kernel's source whose value is not known */
	NODE_TEXT,
	NODE_FIELD,
	NODE_UNARY,
	NODE_BINARY,
	NODE_CHOICE,
	NODE_CAST,
	NODE_INDEX,
	NODE_ADDRESS,
	NODE_BYTES,     /* __get_str, __get_dynamic_array: the data that the field points to */
	NODE_BYTES_LEN, /* __get_dynamic_array_len */
	/* The kinds below are for %s only. */
	NODE_FLAGS,
	NODE_SYMBOLIC,
	NODE_HEX,
	NODE_HEX_STR,
	NODE_ARRAY,
	NODE_BITMASK,
	NODE_SOCKADDR,
};

/* An operator of one character is represented by that character. */
enum { OP_SHL = 256, OP_SHR, OP_LE, OP_GE, OP_EQ, OP_NE, OP_AND, OP_OR };

struct ctype {
	uint8_t bytes; /* 0: unknown, a cast to this type does nothing */
	uint8_t pointers;
	bool is_signed;
	bool is_bool;
};

/* A number, or a place in the sample or in the program's text. */
struct value {
	uint64_t number; /* sign extended if signed, else zero extended */
	uint8_t bits;    /* before promotion: 8, 16, 32 or 64 */
	bool is_signed;
	bool in_place; /* the value is `bytes` (NULL if the data has none), not `number` */
	bool unit_signed;
	uint8_t unit; /* size of an element of `bytes` */
	const unsigned char *bytes;
	size_t len;
};

struct node {
	enum node_kind kind;
	int op;
	uint16_t height;
	uint16_t field;
	bool is_unknown; /* the subtree contains a NODE_UNKNOWN */
	uint32_t kid[3];
	uint32_t text, text_len; /* in the program's text; for flags the delimiter */
	uint32_t item;           /* for flags: first item + 1 */
	struct ctype type;
	struct value number;
};

struct node_item {
	uint32_t node, text, text_len;
	uint32_t next; /* index + 1 */
};

enum piece_kind { PIECE_TEXT, PIECE_NUMBER, PIECE_CHAR, PIECE_STRING, PIECE_POINTER };

#define PIECE_NO_ARG UINT32_MAX

struct piece {
	enum piece_kind kind;
	char conversion;
	char suffix[4]; /* what follows %p */
	uint8_t bytes;  /* size of the printed number */
	bool left, zero, plus, space, sharp;
	bool has_precision;
	uint32_t width, precision;              /* constant ones, … */
	uint32_t width_arg, precision_arg, arg; /* … or nodes */
	uint32_t text, text_len;
};

struct print_program {
	VEC(struct node) nodes;
	VEC(struct node_item) items;
	VEC(struct piece) pieces;
	struct buf text;
};

/* Builds the program of @fmt from the text after "print fmt:"; fails with the reason. */
int print_program_parse(struct tracepoint_format *fmt, const char *text, size_t len, struct err *e);
void print_program_free(struct print_program *p);

/* Splits the printf format in p->text into pieces and gives them the arguments @args. */
int print_pieces_parse(const struct tracepoint_format *fmt, struct print_program *p, uint32_t text,
		       uint32_t text_len, const uint32_t *args, size_t arg_count, struct err *e);

struct ctype_words {
	const char *word[8];
	size_t len[8], count;
};
/* Finds the type that these words name. Returns false if it is not a known type. */
bool ctype_of(const struct ctype_words *words, uint8_t long_bytes, struct ctype *ret);

/* One sample being printed. */
struct format_run {
	const struct tracepoint_format *fmt;
	const struct print_program *program;
	const unsigned char *raw;
	size_t raw_size;
	const struct format_context *ctx;
	struct buf *out;
	size_t limit; /* of out->len */
};

struct value format_eval(const struct format_run *run, uint32_t node);
struct value format_unary(int op, struct value a);
struct value format_binary(int op, struct value a, struct value b);
struct value format_cast(struct ctype type, struct value a);
struct value format_number(uint64_t number, unsigned bits, bool is_signed);
/* Returns element @index of an array, 0 outside of it. */
struct value format_element(const struct format_run *run, struct value array, uint64_t index);
bool format_truth(struct value v);

/* Output; text beyond `limit` is dropped. */
void format_put(struct format_run *run, const char *s, size_t len);
void format_puts(struct format_run *run, const char *s);
void format_putf(struct format_run *run, const char *fmt, ...) PRINTF_LIKE(2, 3);
void format_put_padded(struct format_run *run, const char *s, size_t len, size_t width, bool left);

/* Prints %p with its suffix, if any; @width is that of "%*ph" and "%*pb". */
void format_put_pointer(struct format_run *run, const struct piece *piece, uint32_t width);
void format_put_sockaddr(struct format_run *run, struct value v, bool with_port);
void format_put_bitmask(struct format_run *run, struct value v);
/* Prints a node as %s does: text, list of flags or dump, at most @max bytes. */
void format_put_text(struct format_run *run, uint32_t node, size_t max);

#endif
