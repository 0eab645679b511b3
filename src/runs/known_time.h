/*
 * What time it is, as far as that is known. Runs are deleted by their age, and a wall clock that is
 * years ahead makes every run old. So the clock is believed only while it agrees with the time that is
 * known to have passed since tacho looked at it last:
 *
 * - While the machine has not been booted since: the time since boot tells. A clock that is further
 *   ahead than KNOWN_TIME_TOLERANCE_MS was set.
 * - After a boot nobody knows for how long the machine was off. A clock that has moved on by up to
 *   KNOWN_TIME_GAP_MS is believed; of a larger step, nothing is.
 *
 * A clock that is not believed makes no run older: the known time goes on by the time that passes. When
 * the clock has gone on evenly for as long as runs are kept, it is believed again: by then, runs from
 * before are that old whatever the clock says, and later ones have the dates of this clock.
 *
 * The state is kept in the store across starts. Without one, the end of the newest run is the last time
 * that is known. Pure functions on the caller's struct.
 */
#ifndef TACHO_RUNS_KNOWN_TIME_H
#define TACHO_RUNS_KNOWN_TIME_H

#include <stdbool.h>
#include <stdint.h>

#define KNOWN_TIME_TOLERANCE_MS 3600000ll        /* an hour */
#define KNOWN_TIME_GAP_MS       (7 * 86400000ll) /* a week */
#define BOOT_ID_BYTES           37

/* The clocks at one moment. */
struct moment {
	int64_t wall_ms;          /* since 1970 */
	int64_t boot_ms;          /* since the machine was booted */
	char boot[BOOT_ID_BYTES]; /* which boot that was; "": not known */
};

struct known_time {
	int64_t known_ms;   /* wall-clock time by what is known to have passed; 0: unknown */
	int64_t steady_ms;  /* how long the clock has gone on evenly */
	struct moment seen; /* when it was looked at last */
};

/* Begins without a state from an earlier start. @newest_ms: the end of the newest run; 0: none. */
void known_time_begin(struct known_time *t, int64_t newest_ms);
/* Time has passed, and the clocks are at @now. @enough_ms: how long runs are kept. */
void known_time_pass(struct known_time *t, const struct moment *now, int64_t enough_ms);
/* The time by which ages are reckoned: a clock that is behind makes no run older, either. */
int64_t known_time_ms(const struct known_time *t);
/* How far the clock is ahead of what is known; 0: it is believed. */
int64_t known_time_ahead_ms(const struct known_time *t);

/* As text for the store, which the caller frees; parses it, false if it is not valid. */
char *known_time_text(const struct known_time *t);
bool known_time_parse(struct known_time *ret, const char *text);

#endif
