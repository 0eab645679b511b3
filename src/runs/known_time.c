#include "runs/known_time.h"
#include "base/buf.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* No time of a real clock is larger, and sums of a few do not overflow. */
#define MS_MAX (1ll << 53)

void known_time_begin(struct known_time *t, int64_t newest_ms)
{
	*t = (struct known_time){.known_ms = newest_ms, .seen = {.wall_ms = newest_ms}};
}

static bool agree(int64_t a, int64_t b)
{
	return llabs(a - b) <= KNOWN_TIME_TOLERANCE_MS;
}

void known_time_pass(struct known_time *t, const struct moment *now, int64_t enough_ms)
{
	const struct moment *seen = &t->seen;
	int64_t moved = now->wall_ms - seen->wall_ms, passed;
	bool even;

	if (!t->known_ms) {
		*t = (struct known_time){.known_ms = now->wall_ms, .seen = *now};
		return;
	}
	if (*now->boot && !strcmp(now->boot, seen->boot) && now->boot_ms >= seen->boot_ms) {
		passed = now->boot_ms - seen->boot_ms;
		even = agree(moved, passed);
	} else {
		even = moved >= -KNOWN_TIME_TOLERANCE_MS && moved <= KNOWN_TIME_GAP_MS;
		passed = even && moved > 0 ? moved : 0;
	}
	t->known_ms += passed;
	t->steady_ms = even ? t->steady_ms + passed : 0;
	if (agree(t->known_ms, now->wall_ms) || t->steady_ms >= enough_ms)
		t->known_ms = now->wall_ms;
	t->seen = *now;
}

int64_t known_time_ms(const struct known_time *t)
{
	return t->seen.wall_ms < t->known_ms ? t->seen.wall_ms : t->known_ms;
}

int64_t known_time_ahead_ms(const struct known_time *t)
{
	int64_t ahead = t->seen.wall_ms - t->known_ms;

	return ahead > KNOWN_TIME_TOLERANCE_MS ? ahead : 0;
}

/* ---- as text ---- */

char *known_time_text(const struct known_time *t)
{
	json_t *json = json_pack("{s:I, s:I, s:I, s:I, s:s}", "known_ms", (json_int_t)t->known_ms,
				 "steady_ms", (json_int_t)t->steady_ms, "wall_ms",
				 (json_int_t)t->seen.wall_ms, "boot_ms",
				 (json_int_t)t->seen.boot_ms, "boot", t->seen.boot);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	return text;
}

static bool take_ms(const json_t *json, const char *name, int64_t *ret)
{
	const json_t *value = json_object_get(json, name);

	*ret = json_integer_value(value);
	return json_is_integer(value) && *ret >= 0 && *ret <= MS_MAX;
}

bool known_time_parse(struct known_time *ret, const char *text)
{
	json_t *json = json_loads(text, 0, NULL);
	const char *boot = json_string_value(json_object_get(json, "boot"));
	bool valid;

	*ret = (struct known_time){};
	valid = boot && strlen(boot) < sizeof(ret->seen.boot) &&
		take_ms(json, "known_ms", &ret->known_ms) &&
		take_ms(json, "steady_ms", &ret->steady_ms) &&
		take_ms(json, "wall_ms", &ret->seen.wall_ms) &&
		take_ms(json, "boot_ms", &ret->seen.boot_ms);
	if (valid)
		snprintf(ret->seen.boot, sizeof(ret->seen.boot), "%s", boot);
	else
		*ret = (struct known_time){};
	json_decref(json);
	return valid;
}
