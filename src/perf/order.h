/*
 * Records in the order of their time. They come ring by ring, each ring in order in itself, so the
 * queue keeps what it is given as ascending runs, and merges these when a round is over: that is
 * nearly free where a sort would not be. The bytes stay in the blocks they were read into; a block
 * lives as long as a record in it waits.
 *
 * Memory is bounded: above ORDER_BYTES_MAX or ORDER_ENTRIES_MAX of waiting records the older half is
 * given out early, and what then comes too late is counted.
 */
#ifndef TACHO_PERF_ORDER_H
#define TACHO_PERF_ORDER_H

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

#define BLOCK_BYTES       (1u << 20) /* and aligned to it, so that a record's address gives its block */
#define ORDER_BYTES_MAX   (256u << 20)
#define ORDER_ENTRIES_MAX (3u << 20)

struct block {
	uint32_t waiting;     /* records in the queue, and holds */
	bool filling;         /* somebody still writes to it */
	bool outside;         /* file_offset is that of a compressed record, for all of it */
	bool copies;          /* before each record stand 8 bytes: its offset in the file */
	uint64_t file_offset; /* of data[0] */
	unsigned char data[];
};

#define BLOCK_ROOM (BLOCK_BYTES - sizeof(struct block))

struct order_entry {
	uint64_t time_ns;
	unsigned char *bytes;
	uint32_t event;
};

struct order_run {
	size_t next, end; /* in entries */
};

struct order {
	VEC(struct order_entry) entries;
	VEC(struct order_run) runs;
	VEC(struct block *) spare; /* to be used again */
	size_t waiting;
	uint64_t block_count;   /* alive, without the spare ones */
	uint64_t filling;       /* of these, those that somebody writes to: one or two a part */
	uint64_t newest_ns;     /* of all that came */
	uint64_t next_flush_ns; /* what the next round may give out */
	uint64_t given_ns;      /* the newest that was given out */
	uint64_t late;          /* given out after a newer one */
	uint64_t worst_late_ns;
	bool whole; /* wait for the end: rounds are not to be trusted */
	/* False: stop. */
	bool (*give)(void *ctx, const struct order_entry *entry);
	void *ctx;
	bool stopped;
};

struct block *order_block_new(struct order *o);
/* The writer has left it: from now on it lives as long as its records. */
void order_block_close(struct order *o, struct block *b);
/* Keeps a block while somebody outside of the queue reads from it. */
void order_block_hold(struct block *b);
void order_block_let_go(struct order *o, struct block *b);
struct block *block_of(const void *bytes);
/* Where in the file a record lies, or the compressed one that holds it. */
uint64_t block_offset_of(const void *bytes);

/* The record waits for its turn. */
void order_push(struct order *o, uint64_t time_ns, unsigned char *bytes, uint32_t event);

/* A round is over: what is older than everything of the round before is given out. */
void order_round(struct order *o);
/* What is not newer than this is given out. */
void order_flush_until(struct order *o, uint64_t limit_ns);
void order_flush_all(struct order *o);
void order_release(struct order *o);

#endif
