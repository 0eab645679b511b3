/* Shared by the files that implement remake.h: the layout of code, and writing records. */
#ifndef TACHO_SERVER_EXPORT_REMAKE_INTERNAL_H
#define TACHO_SERVER_EXPORT_REMAKE_INTERNAL_H

#include "perf/build_id.h"
#include "perfdata/writer.h"
#include "server/export/remake.h"

/* ---- remake_layout.c ---- */

enum remade_kind {
	REMADE_NOWHERE, /* no code, or unknown: its frames get address 0 */
	REMADE_FILE,    /* mapped into each process that has samples in it */
	REMADE_RUNTIME, /* run-time code (perf maps): keeps the addresses that it ran at */
	REMADE_KERNEL,  /* the kernel or one of its modules: mapped once for all processes */
	REMADE_SYMBOL,  /* kernel code outside of modules, with a KSYMBOL record of its own */
};

/* The place of a module: [start, start + size) holds its code from address `first` on. */
struct remade_module {
	enum remade_kind kind;
	uint64_t start, size, first;
};

typedef VEC(struct remade_module) remade_modules;

void remake_layout(const struct profile *p, remade_modules *ret);

/* Returns the made-up address of a frame, or 0 if its module has no place. */
uint64_t remade_ip(const remade_modules *modules, const struct profile_frame *f);

/* ---- remake_records.c ---- */

struct remade_stamp {
	uint32_t pid, tid, cpu;
	uint64_t time_ns, id;
};

#define REMADE_CHAIN_MAX 4096u /* frames and context marks in the call chain of a sample */

/* The build id of the module's mapping, or one that was found otherwise; size 0: none. */
struct build_id remade_build_id(const struct profile *p, const struct profile_module *m);
void remade_mapping(struct buf *out, const struct profile *p, uint32_t module,
		    const struct remade_module *place, const struct remade_stamp *stamp);
void remade_comm(struct buf *out, const char *comm, const struct remade_stamp *stamp);
void remade_lost(struct buf *out, uint64_t lost, const struct remade_stamp *stamp);

struct remade_sample {
	struct remade_stamp stamp;
	uint64_t ip, address, period;
	const uint64_t *chain;
	size_t chain_len;
	bool kernel, with_address, with_chain;
};

void remade_sample(struct buf *out, const struct remade_sample *s);

#endif
