#include "cmd/info/info.h"
#include "base/json.h"

static void add_machine(struct json *j, const struct perfdata *p)
{
	const struct perfdata_facts *f = &p->facts;

	jw_key(j, "machine");
	jw_open(j, '{');
	jw_kv_str(j, "hostname", f->hostname);
	jw_kv_str(j, "os_release", f->os_release);
	jw_kv_str(j, "arch", f->arch);
	jw_kv_str(j, "cpu", f->cpu_desc);
	jw_kv_str(j, "cpuid", f->cpuid);
	jw_kv_u64(j, "cpus_online", f->cpus_online);
	jw_kv_u64(j, "cpus_available", f->cpus_available);
	jw_kv_u64(j, "memory_kb", f->total_memory_kb);
	jw_close(j, '}');
	jw_kv_str(j, "recorded_by", f->version);
	jw_key(j, "command");
	jw_open(j, '[');
	vec_each(&f->cmdline, word)
		jw_str(j, *word);
	jw_close(j, ']');
	if (f->has_clock) {
		jw_key(j, "clock");
		jw_open(j, '{');
		jw_kv_u64(j, "id", f->clock_id);
		jw_kv_u64(j, "wall_ns", f->wall_ns);
		jw_kv_u64(j, "clock_ns", f->clock_ns);
		jw_close(j, '}');
	}
}

static void add_event(struct json *j, const struct stream_event *event,
		      const struct event_summary *s)
{
	const struct perf_event_attr *a = &event->attr;
	CLEANUP(buf_release) struct buf type = {};

	info_sample_type(a->sample_type, &type);
	jw_open(j, '{');
	jw_kv_str(j, "name", perfdata_event_name(event));
	jw_kv_u64(j, "samples", s->samples);
	jw_kv_u64(j, "period", s->period);
	jw_kv_u64(j, "lost", s->lost);
	jw_kv_u64(j, "frames", s->frames);
	jw_kv_u64(j, "first_ns", s->first_ns);
	jw_kv_u64(j, "last_ns", s->last_ns);
	jw_kv_u64(j, "type", a->type);
	jw_kv_u64(j, "config", a->config);
	jw_kv_u64(j, a->freq ? "frequency" : "sample_period", a->sample_period);
	jw_kv_str(j, "sample_type", buf_str(&type));
	jw_kv_u64(j, "read_format", a->read_format);
	jw_kv_u64(j, "ids", event->ids.len);
	jw_kv_u64(j, "leader", event->leader);
	jw_close(j, '}');
}

static void add_records(struct json *j, const struct stream *s)
{
	jw_key(j, "records");
	jw_open(j, '{');
	for (uint32_t type = 0; type <= COUNTED_TYPES; type++) {
		const char *name = perfdata_record_name(type);
		CLEANUP(free_ptr) char *number = NULL;

		if (!s->counts[type])
			continue;
		if (!name)
			number = xasprintf("type %u%s", type,
					   type == COUNTED_TYPES ? " and above" : "");
		jw_key(j, name ? name : number);
		jw_open(j, '{');
		jw_kv_u64(j, "count", s->counts[type]);
		jw_kv_u64(j, "bytes", s->bytes_by_type[type]);
		jw_close(j, '}');
	}
	jw_close(j, '}');
}

void info_json(struct info *info)
{
	static const struct event_summary nothing;
	const struct perfdata *p = info->file;
	const struct summary *s = &info->summary;
	CLEANUP(strvec_release) strvec odd = {};
	struct json j = jw_to(&info->out);

	jw_open(&j, '{');
	jw_kv_str(&j, "file", p->path);
	jw_kv_u64(&j, "bytes", perfdata_bytes(p));
	jw_kv_str(&j, "form", p->directory ? "directory" : p->pipe ? "pipe" : "file");
	jw_kv_bool(&j, "foreign_byte_order", p->stream.swap);
	jw_kv_bool(&j, "compressed", perfdata_is_compressed(p));
	add_machine(&j, p);
	jw_key(&j, "events");
	jw_open(&j, '[');
	for (size_t i = 0; i < p->stream.events.len; i++)
		add_event(&j, &p->stream.events.items[i],
			  i < s->events.len ? &s->events.items[i] : &nothing);
	jw_close(&j, ']');
	add_records(&j, &p->stream);
	jw_kv_u64(&j, "samples", summary_samples(s));
	jw_kv_u64(&j, "first_ns", s->first_ns);
	jw_kv_u64(&j, "last_ns", s->last_ns);
	jw_kv_u64(&j, "lost_records", s->lost_records);
	jw_kv_u64(&j, "lost_samples", s->lost_samples);
	jw_kv_u64(&j, "throttled", s->throttled);
	jw_kv_u64(&j, "late", p->stream.order.late);
	jw_kv_u64(&j, "damages", p->stream.damage_count);
	info_oddities(info, &odd);
	jw_key(&j, "odd");
	jw_open(&j, '[');
	vec_each(&odd, sentence)
		jw_str(&j, *sentence);
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_add_char(&info->out, '\n');
}
