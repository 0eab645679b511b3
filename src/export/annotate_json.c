#include "export/annotate_json.h"
#include "export/annotate_text.h"

#include <stdio.h>

static void kv_address(struct json *j, const char *key, uint64_t address)
{
	char text[32];

	/* Many readers keep numbers as doubles. */
	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	jw_kv_str(j, key, text);
}

static void kv_text(struct json *j, const char *key, const struct annotation *a, pool_text t)
{
	if (t.at)
		jw_kv_str(j, key, annotation_text(a, t));
}

static void counts(struct json *j, const struct annotation *a, enum percent_type percent,
		   uint64_t weight, uint64_t samples)
{
	jw_kv_u64(j, "samples", samples);
	jw_kv_u64(j, "weight", weight);
	jw_kv_double(j, "share_pct", annotation_share(a, percent, weight, samples));
}

static void place(struct json *j, const struct annotation *a, uint32_t line)
{
	const struct annotated_line *l = &a->lines.items[line];

	kv_text(j, "file", a, a->files.items[l->file].path);
	jw_kv_u64(j, "line", l->number);
}

static void instruction(struct json *j, const struct annotation *a,
			const struct annotated_instruction *i, enum percent_type percent)
{
	static const char *const flows[] = {[ANNOTATED_JUMP] = "jump",
					    [ANNOTATED_CALL] = "call",
					    [ANNOTATED_RETURN] = "return"};

	jw_open(j, '{');
	kv_address(j, "address", i->address);
	jw_kv_u64(j, "size", i->size);
	jw_kv_str(j, "text", annotation_text(a, i->text));
	if (flows[i->flow])
		jw_kv_str(j, "flow", flows[i->flow]);
	if (i->target)
		kv_address(j, "target", i->target);
	kv_text(j, "names", a, i->comment);
	kv_text(j, "inlined", a, i->scope);
	if (i->line)
		place(j, a, i->line - 1);
	counts(j, a, percent, i->weight, i->samples);
	jw_close(j, '}');
}

void annotate_json(const struct annotation *a, enum percent_type percent, bool no_source,
		   struct json *j)
{
	jw_open(j, '{');
	kv_text(j, "function", a, a->function);
	kv_text(j, "module", a, a->module);
	kv_text(j, "build_id", a, a->build_id);
	kv_address(j, "start", a->start);
	kv_address(j, "end", a->end);
	jw_kv_u64(j, "samples", a->samples);
	jw_kv_u64(j, "weight", a->weight);
	jw_kv_double(j, "share_of_all_pct",
		     annotation_share(a, GLOBAL_PERIOD, a->weight, a->samples));
	kv_text(j, "problem", a, a->problem);
	jw_key(j, "notes");
	jw_open(j, '[');
	vec_each(&a->notes, note)
		jw_str(j, annotation_text(a, *note));
	jw_close(j, ']');
	jw_key(j, "instructions");
	jw_open(j, '[');
	vec_each(&a->instructions, i)
		instruction(j, a, i, percent);
	jw_close(j, ']');
	jw_key(j, "lines");
	jw_open(j, '[');
	for (uint32_t n = 0; n < a->lines.len && !no_source; n++) {
		const struct annotated_line *line = &a->lines.items[n];

		if (!line->has_code)
			continue;
		jw_open(j, '{');
		place(j, a, n);
		if (line->has_text)
			jw_kv_str(j, "text", annotation_text(a, line->text));
		counts(j, a, percent, line->weight, line->samples);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	jw_close(j, '}');
}

void annotate_json_document(const struct annotation *all, size_t count, enum percent_type percent,
			    bool no_source, struct buf *out)
{
	struct json j = jw_to(out);

	jw_open(&j, '{');
	if (count) {
		jw_kv_str(&j, "event", annotation_text(all, all->event));
		jw_kv_str(&j, "percent_type", percent_type_name(percent));
		jw_kv_u64(&j, "samples", all->all_samples);
		jw_kv_u64(&j, "weight", all->all_weight);
	}
	jw_key(&j, "functions");
	jw_open(&j, '[');
	for (size_t i = 0; i < count; i++)
		annotate_json(&all[i], percent, no_source, &j);
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_add_char(out, '\n');
}
