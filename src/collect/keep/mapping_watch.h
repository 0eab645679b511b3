/*
 * Reports new executable mappings soon after they were made, for users that must act before the
 * process is gone. The rings of the recording are read once a second or when they fill, which is
 * too late; the watch has small rings of its own that carry nothing else. Without the memory or the
 * permission for them there is no watch.
 *
 * Belongs to one thread after the opening.
 */
#ifndef TACHO_COLLECT_KEEP_MAPPING_WATCH_H
#define TACHO_COLLECT_KEEP_MAPPING_WATCH_H

#include "perf/record.h"
#include "perf/target.h"
#include "perf/topology.h"

struct mapping_watch;

/* Returns NULL if there can be no watch; many tasks, for example, would need too many rings. */
struct mapping_watch *mapping_watch_open(const struct target *target,
					 const struct topology *topology);
/* Calls @see for each mapping since the last call. */
void mapping_watch_read(struct mapping_watch *w, void (*see)(void *ctx, const struct record *r),
			void *ctx);
/* Whether there is something to read; any thread may ask. */
bool mapping_watch_has_news(const struct mapping_watch *w);
/* Whether mappings may have been lost: a ring was found full. Any thread may ask. */
bool mapping_watch_has_lost(const struct mapping_watch *w);
void mapping_watch_close(struct mapping_watch *w);

#endif
