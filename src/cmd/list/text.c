/* The list for people: groups with headings, the most used first, reasons where an event cannot be
 * opened. When the whole group has one reason, the heading says it once. */
#include "cmd/list/list.h"
#include "base/json.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 42
#define MOST_USED    8

void list_text_begin(struct list *list)
{
	list->term = term_of(1);
	usage_load(&list->usage);
}

static char *mask_lines(const struct list *list, const struct catalog_entry *entry)
{
	struct buf out = {};

	for (size_t i = 0; i < entry->mask_count; i++) {
		const struct catalog_mask *m = &entry->masks[i];

		buf_addf(&out, "%s    :%-*s 0x%02llx%s  ", list->term.dim, NAME_COLUMNS - 12,
			 m->name, (unsigned long long)m->code, m->is_default ? "*" : " ");
		text_add_printable(&out, m->description ? m->description : "");
		buf_addf(&out, "%s\n", list->term.reset);
	}
	return buf_steal(&out);
}

/* Returns the description of an event, or else its encoding, followed by its unit. */
static char *describe(const struct catalog_entry *entry, bool with_code)
{
	struct buf out = {};

	if (with_code && entry->has_code)
		buf_addf(&out, "0x%02llx%s", (unsigned long long)entry->code,
			 entry->mask_count ? "  " : "");
	if (with_code && entry->has_code && !entry->mask_count)
		buf_addf(&out, "/0x%02llx  ", (unsigned long long)entry->umask);
	if (entry->deprecated)
		buf_add(&out, "(deprecated) ");
	if (entry->description)
		text_add_printable(&out, entry->description);
	else if (entry->encoding && strcmp(entry->encoding, entry->name))
		text_add_printable(&out, entry->encoding);
	if (entry->unit) {
		buf_add(&out, out.len ? " [" : "[");
		text_add_printable(&out, entry->unit);
		buf_add(&out, "]");
	}
	return buf_steal(&out);
}

void list_text_entry(struct list *list, const struct catalog_entry *entry)
{
	CLEANUP(buf_release) struct buf name = {};
	struct list_line line = {.text = describe(entry, entry->source && entry->has_code)};

	/* With --uarch show the encoding: its prefix tells which CPU the event belongs to. */
	if (entry->uarch && list->query.uarch && entry->encoding && strstr(entry->encoding, "::"))
		text_add_printable(&name, entry->encoding);
	else
		text_add_printable(&name, entry->name);
	if (entry->alias)
		buf_addf(&name, " OR %s", entry->alias);
	line.name = buf_steal(&name);
	if (list->verdict.tested && list->verdict.code)
		line.reason = xstrdup(buf_str(&list->verdict.reason));
	if (entry->mask_count)
		line.masks = mask_lines(list, entry);
	line.uses = usage_of(&list->usage, entry->name);
	if (!line.uses && entry->alias)
		line.uses = usage_of(&list->usage, entry->alias);
	vec_push(&list->lines[entry->kind], line);
}

void list_text_note(struct list *list, enum event_kind kind, const char *sentence)
{
	free(list->notes[kind]);
	list->notes[kind] = xstrdup(sentence);
}

static const char *common_reason(const struct list *list, int kind)
{
	const char *reason = NULL;

	vec_each(&list->lines[kind], line) {
		if (!line->reason || (reason && strcmp(reason, line->reason)))
			return NULL;
		reason = line->reason;
	}
	return reason;
}

static void print_line(struct list *list, const struct list_line *line, bool with_reason)
{
	const struct term *t = &list->term;
	size_t columns = text_columns(line->name);
	bool absent = line->reason && with_reason;

	buf_addf(&list->out, "  %s%s", line->reason ? t->dim : "", line->name);
	if (*line->text || absent) {
		if (columns > NAME_COLUMNS) {
			buf_add_char(&list->out, '\n');
			columns = 0;
			buf_add(&list->out, "  ");
		}
		buf_pad(&list->out, NAME_COLUMNS + 1 - columns, ' ');
		if (t->tty)
			buf_add_wrapped(&list->out, line->text, NAME_COLUMNS + 3, t->width);
		else
			buf_add(&list->out, line->text);
		if (absent)
			buf_addf(&list->out, "%s[%s]", *line->text ? " " : "", line->reason);
	}
	buf_addf(&list->out, "%s\n", line->reason ? t->reset : "");
	if (line->masks)
		buf_add(&list->out, line->masks);
}

static int by_uses(const void *a, const void *b)
{
	const struct list_line *x = *(struct list_line *const *)a,
			       *y = *(struct list_line *const *)b;

	return x->uses < y->uses ? 1 : x->uses > y->uses ? -1 : strcmp(x->name, y->name);
}

static void print_most_used(struct list *list)
{
	VEC(const struct list_line *) used = {};

	for (int kind = 0; kind < KIND_COUNT; kind++)
		vec_each(&list->lines[kind], line)
			if (line->uses)
				vec_push(&used, line);
	if (used.len && list->shown > MOST_USED) {
		qsort(used.items, used.len, sizeof(*used.items), by_uses);
		buf_addf(&list->out, "%sMost used%s\n", list->term.bold, list->term.reset);
		for (size_t i = 0; i < used.len && i < MOST_USED; i++)
			print_line(list, used.items[i], true);
	}
	vec_release(&used);
}

static void print_kind(struct list *list, int kind)
{
	const struct term *t = &list->term;
	const char *reason = common_reason(list, kind), *note = list->notes[kind];

	if (!list->lines[kind].len && !note)
		return;
	buf_addf(&list->out, "%s%s%s%s", list->out.len ? "\n" : "", t->bold,
		 event_kind_title((enum event_kind)kind), t->reset);
	if (reason || note)
		buf_addf(&list->out, " %s— %s%s", t->yellow, reason ? reason : note, t->reset);
	buf_add_char(&list->out, '\n');
	vec_each(&list->lines[kind], line)
		print_line(list, line, !reason);
}

void list_text_finish(struct list *list)
{
	print_most_used(list);
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		print_kind(list, kind);
		vec_each(&list->lines[kind], line) {
			free(line->name);
			free(line->text);
			free(line->reason);
			free(line->masks);
		}
		vec_release(&list->lines[kind]);
		free(list->notes[kind]);
	}
}

static void json_hex(struct json *j, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%02llx", (unsigned long long)value);
	jw_kv_str(j, key, text);
}

static void json_masks(struct json *j, const struct catalog_entry *entry)
{
	jw_key(j, "umasks");
	jw_open(j, '[');
	for (size_t i = 0; i < entry->mask_count; i++) {
		jw_open(j, '{');
		jw_kv_str(j, "name", entry->masks[i].name);
		jw_kv_str(j, "description", entry->masks[i].description);
		json_hex(j, "code", entry->masks[i].code);
		if (entry->masks[i].is_default)
			jw_kv_bool(j, "default", true);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

void list_json_entry(struct list *list, const struct catalog_entry *entry)
{
	struct json j = jw_to(&list->out);
	unsigned uses = usage_of(&list->usage, entry->name);

	buf_add(&list->out, list->shown == 1 ? "[\n" : ",\n");
	jw_open(&j, '{');
	jw_kv_str(&j, "name", entry->name);
	if (entry->alias)
		jw_kv_str(&j, "alias", entry->alias);
	jw_kv_str(&j, "group", event_kind_name(entry->kind));
	if (entry->pmu)
		jw_kv_str(&j, "pmu", entry->pmu);
	if (entry->uarch)
		jw_kv_str(&j, "uarch", entry->uarch);
	jw_kv_str(&j, "source", entry->source);
	jw_kv_str(&j, "description", entry->description ? entry->description : "");
	if (entry->details)
		jw_kv_str(&j, "details", entry->details);
	if (entry->encoding)
		jw_kv_str(&j, "encoding", entry->encoding);
	if (entry->unit)
		jw_kv_str(&j, "unit", entry->unit);
	if (entry->scale != 1)
		jw_kv_double(&j, "scale", entry->scale);
	if (entry->has_code) {
		json_hex(&j, "code", entry->code);
		if (!entry->mask_count)
			json_hex(&j, "umask", entry->umask);
		else
			json_masks(&j, entry);
	}
	if (entry->deprecated)
		jw_kv_bool(&j, "deprecated", true);
	if (uses)
		jw_kv_u64(&j, "uses", uses);
	jw_key(&j, "available");
	if (list->verdict.tested)
		jw_bool(&j, !list->verdict.code);
	else if (!entry->openable && !list->availability.roots->foreign &&
		 (entry->kind == KIND_SW || entry->kind == KIND_RAW))
		jw_bool(&j, true);
	else
		jw_null(&j);
	if (list->verdict.tested && list->verdict.code)
		jw_kv_str(&j, "reason", buf_str(&list->verdict.reason));
	jw_close(&j, '}');
}
