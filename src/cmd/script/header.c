/* --header: what the file says about itself, in lines that begin with #. */
#include "cmd/script/script.h"
#include "base/clock.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LLU(v) ((unsigned long long)(v))

static void add_text(struct buf *out, const char *title, const char *text)
{
	if (!text)
		return;
	buf_addf(out, "# %s : ", title);
	script_printable(out, text, strlen(text));
	buf_add_char(out, '\n');
}

static void add_moment(struct buf *out, const char *title, uint64_t ns)
{
	buf_addf(out, "# %s : %llu.%06llu\n", title, LLU(ns / NS_PER_SEC),
		 LLU(ns % NS_PER_SEC / 1000));
}

static void add_file(struct buf *out, const struct perfdata *p)
{
	struct stat st;
	char text[64];

	if (p->seekable && !fstat(p->fd, &st) && ctime_r(&st.st_mtime, text))
		buf_addf(out, "# captured on    : %s", text); /* ctime_r() adds the newline */
	buf_add(out, "# header version : 1\n");
	buf_addf(out, "# data offset    : %llu\n", LLU(p->data_offset));
	buf_addf(out, "# data size      : %llu\n", LLU(p->data_size));
}

static void add_event(struct buf *out, const struct stream_event *event)
{
	const struct perf_event_attr *attr = &event->attr;

	buf_add(out, "# event : name = ");
	script_printable(out, perfdata_event_name(event), strlen(perfdata_event_name(event)));
	buf_add(out, ", id = {");
	vec_each(&event->ids, id)
		buf_addf(out, "%s %llu", id == event->ids.items ? "" : ",", LLU(*id));
	buf_addf(out, " }, type = %u, config = %#llx, %s = %llu, sample_type = %#llx", attr->type,
		 LLU(attr->config), attr->freq ? "sample_freq" : "sample_period",
		 LLU(attr->sample_period), LLU(attr->sample_type));
	buf_add(out, attr->inherit ? ", inherit" : "");
	buf_add(out, attr->exclude_user ? ", exclude_user" : "");
	buf_add(out, attr->exclude_kernel ? ", exclude_kernel" : "");
	buf_addf(out, ", precise_ip = %u\n", (unsigned)attr->precise_ip);
}

static void add_facts(struct buf *out, const struct perfdata_facts *f)
{
	add_text(out, "hostname", f->hostname);
	add_text(out, "os release", f->os_release);
	add_text(out, "perf version", f->version);
	add_text(out, "arch", f->arch);
	if (f->cpus_online)
		buf_addf(out, "# nrcpus online : %u\n# nrcpus avail : %u\n", f->cpus_online,
			 f->cpus_available);
	add_text(out, "cpudesc", f->cpu_desc);
	add_text(out, "cpuid", f->cpuid);
	if (f->total_memory_kb)
		buf_addf(out, "# total memory : %llu kB\n", LLU(f->total_memory_kb));
	if (f->cmdline.len) {
		buf_add(out, "# cmdline : ");
		vec_each(&f->cmdline, word) {
			script_printable(out, *word, strlen(*word));
			buf_add_char(out, ' ');
		}
		buf_add_char(out, '\n');
	}
}

void script_header_of(const struct perfdata *p, struct buf *out)
{
	const struct perfdata_facts *f = &p->facts;

	buf_add(out, "# ========\n");
	add_file(out, p);
	add_facts(out, f);
	vec_each(&p->stream.events, event)
		add_event(out, event);
	if (f->pmus.len) {
		buf_add(out, "# pmu mappings:");
		vec_each(&f->pmus, pmu) {
			buf_add(out, pmu == f->pmus.items ? " " : ", ");
			script_printable(out, pmu->name, strlen(pmu->name));
			buf_addf(out, " = %u", pmu->type);
		}
		buf_add_char(out, '\n');
	}
	if (f->last_sample_ns) {
		add_moment(out, "time of first sample", f->first_sample_ns);
		add_moment(out, "time of last sample", f->last_sample_ns);
		buf_addf(out, "# sample duration : %10.3f ms\n",
			 (double)(f->last_sample_ns - f->first_sample_ns) / 1e6);
	}
	buf_add(out, "# missing features:");
	for (unsigned i = FEATURE_TRACING_DATA; i < FEATURE_END; i++)
		if (!(p->features.present >> i & 1))
			buf_addf(out, " %s", feature_name((enum feature)i));
	buf_add(out, "\n# ========\n#\n");
}

void script_header(struct script *s)
{
	script_header_of(s->data, &s->out);
}
