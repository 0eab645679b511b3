#include "cmd/info/info.h"
#include "base/text.h"
#include "perfdata/inflate.h"

#include <string.h>
#include <time.h>

void info_sample_type(uint64_t sample_type, struct buf *out)
{
	static const char *const names[] = {
		"IP",
		"TID",
		"TIME",
		"ADDR",
		"READ",
		"CALLCHAIN",
		"ID",
		"CPU",
		"PERIOD",
		"STREAM_ID",
		"RAW",
		"BRANCH_STACK",
		"REGS_USER",
		"STACK_USER",
		"WEIGHT",
		"DATA_SRC",
		"IDENTIFIER",
		"TRANSACTION",
		"REGS_INTR",
		"PHYS_ADDR",
		"AUX",
		"CGROUP",
		"DATA_PAGE_SIZE",
		"CODE_PAGE_SIZE",
		"WEIGHT_STRUCT",
	};

	for (size_t i = 0; i < 64; i++) {
		if (!(sample_type >> i & 1))
			continue;
		if (out->len)
			buf_add_char(out, '|');
		if (i < ARRAY_LEN(names))
			buf_add(out, names[i]);
		else
			buf_addf(out, "bit %zu", i);
	}
}

static void heading(struct info *info, const char *text)
{
	buf_addf(&info->out, "\n%s%s%s\n", info->term.bold, text, info->term.reset);
}

/* Begins a row with "  label    "; the caller appends the value and a newline. */
static struct buf *row(struct info *info, const char *label)
{
	buf_addf(&info->out, "  %s%-10s%s", info->term.dim, label, info->term.reset);
	return &info->out;
}

static void row_text(struct info *info, const char *label, const char *text)
{
	if (!text || !*text)
		return;
	text_add_printable(row(info, label), text);
	buf_add_char(&info->out, '\n');
}

static void add_compression(const struct perfdata *p, struct buf *out)
{
	uint64_t in_bytes = 0, out_bytes = 0;

	vec_each(&p->parts, part)
		if (part->inflate) {
			in_bytes += inflate_bytes_in(part->inflate);
			out_bytes += inflate_bytes_out(part->inflate);
		}
	if (in_bytes)
		buf_addf(out, ", compressed %.1f : 1", (double)out_bytes / (double)in_bytes);
}

static void add_form(struct info *info)
{
	const struct perfdata *p = info->file;
	struct buf *out = row(info, "file");
	uint64_t bytes = perfdata_bytes(p);

	text_add_printable(out, p->path);
	if (bytes) {
		buf_add(out, ", ");
		buf_add_size(out, bytes);
	}
	buf_add(out, p->pipe ? ", pipe form" : "");
	if (p->directory)
		buf_addf(out, " in %zu files", p->parts.len);
	if (perfdata_is_compressed(p))
		add_compression(p, out);
	buf_add_char(out, '\n');
}

static void add_machine(struct info *info)
{
	const struct perfdata_facts *f = &info->file->facts;
	struct buf *out = &info->out;
	CLEANUP(buf_release) struct buf command = {}, machine = {};

	vec_each(&f->cmdline, word)
		buf_addf(&command, "%s%s", command.len ? " " : "", *word);
	row_text(info, "command", buf_str(&command));
	row_text(info, "by", f->version);
	if (f->hostname)
		buf_add(&machine, f->hostname);
	if (f->os_release)
		buf_addf(&machine, "%sLinux %s", machine.len ? ", " : "", f->os_release);
	if (f->arch)
		buf_addf(&machine, " %s", f->arch);
	row_text(info, "machine", buf_str(&machine));
	if (f->cpus_online || f->cpu_desc) {
		row(info, "cpu");
		text_add_printable(out, f->cpu_desc ? f->cpu_desc : "");
		if (f->cpus_online)
			buf_addf(out, "%s%u online", f->cpu_desc ? ", " : "", f->cpus_online);
		if (f->total_memory_kb) {
			buf_add(out, ", ");
			buf_add_size(out, f->total_memory_kb * 1024);
			buf_add(out, " of memory");
		}
		buf_add_char(out, '\n');
	}
}

static void add_times(struct info *info)
{
	const struct perfdata_facts *f = &info->file->facts;
	const struct summary *s = &info->summary;
	struct buf *out;

	if (!s->last_ns)
		return;
	out = row(info, "time");
	buf_addf(out, "%llu.%09llu to %llu.%09llu, ", (unsigned long long)s->first_ns / 1000000000,
		 (unsigned long long)s->first_ns % 1000000000,
		 (unsigned long long)s->last_ns / 1000000000,
		 (unsigned long long)s->last_ns % 1000000000);
	buf_add_fixed(out, (double)(s->last_ns - s->first_ns) / 1e9, 3, 0);
	buf_add(out, " s\n");
	if (f->has_clock) {
		time_t at = (time_t)((f->wall_ns + s->first_ns - f->clock_ns) / 1000000000);
		char text[64];
		struct tm tm;

		if (localtime_r(&at, &tm) && strftime(text, sizeof(text), "%F %T %z", &tm))
			row_text(info, "begun", text);
	}
}

static void add_event_details(struct info *info, const struct stream_event *event)
{
	const struct perf_event_attr *a = &event->attr;
	CLEANUP(buf_release) struct buf type = {};
	struct buf *out = &info->out;

	info_sample_type(a->sample_type, &type);
	buf_addf(out, "  %53s %s\n", "", buf_str(&type));
	buf_addf(out,
		 "  %53s type %u, config 0x%llx, read_format 0x%llx, %zu ids, clock "
		 "%s%s%s%s%s%s%s\n",
		 "", a->type, (unsigned long long)a->config, (unsigned long long)a->read_format,
		 event->ids.len,
		 !a->use_clockid                 ? "of perf"
		 : a->clockid == CLOCK_MONOTONIC ? "monotonic"
						 : "other",
		 a->inherit ? ", inherit" : "", a->exclude_user ? ", no user" : "",
		 a->exclude_kernel ? ", no kernel" : "", a->precise_ip ? ", precise" : "",
		 a->enable_on_exec ? ", on exec" : "", a->write_backward ? ", backward" : "");
}

static void add_events(struct info *info)
{
	static const struct event_summary nothing;
	const struct stream *st = &info->file->stream;
	struct buf *out = &info->out;

	heading(info, "Events");
	buf_addf(out, "  %s%12s %20s %12s%s  event\n", info->term.dim, "samples", "period", "rate",
		 info->term.reset);
	for (size_t i = 0; i < st->events.len; i++) {
		const struct stream_event *event = &st->events.items[i];
		const struct event_summary *s =
			i < info->summary.events.len ? &info->summary.events.items[i] : &nothing;
		CLEANUP(buf_release) struct buf rate = {};

		buf_add(out, "  ");
		buf_add_grouped(out, s->samples, 12);
		buf_add_char(out, ' ');
		buf_add_grouped(out, s->period, 20);
		if (event->attr.sample_period)
			buf_addf(&rate, event->attr.freq ? "%llu Hz" : "every %llu",
				 (unsigned long long)event->attr.sample_period);
		buf_addf(out, " %12s  ", buf_str(&rate));
		text_add_printable(out, perfdata_event_name(event));
		if (event->leader != i) {
			buf_add(out, "  (in the group of ");
			text_add_printable(out,
					   perfdata_event_name(&st->events.items[event->leader]));
			buf_add_char(out, ')');
		}
		if (s->frames && s->samples)
			buf_addf(out, "  (%.1f frames a stack)",
				 (double)s->frames / (double)s->samples);
		buf_add_char(out, '\n');
		if (info->o.verbose)
			add_event_details(info, event);
	}
}

static void add_records(struct info *info)
{
	const struct stream *s = &info->file->stream;
	struct buf *out = &info->out;

	heading(info, "Records");
	for (uint32_t type = 0; type <= COUNTED_TYPES; type++) {
		const char *name = perfdata_record_name(type);

		if (!s->counts[type])
			continue;
		buf_add(out, "  ");
		buf_add_grouped(out, s->counts[type], 12);
		buf_add_char(out, ' ');
		buf_add_grouped(out, s->bytes_by_type[type], 20);
		if (name)
			buf_addf(out, " bytes  %s\n", name);
		else
			buf_addf(out, " bytes  of unknown type %u%s\n", type,
				 type == COUNTED_TYPES ? " or above" : "");
	}
}

static void add_losses(struct info *info)
{
	const struct summary *s = &info->summary;
	struct buf *out = &info->out;
	uint64_t lost = s->lost_samples > s->lost_records ? s->lost_samples : s->lost_records;
	uint64_t samples = summary_samples(s);

	heading(info, "Losses");
	if (!lost) {
		buf_add(out, "  none\n");
		return;
	}
	buf_addf(out, "  %s", info->term.red);
	buf_add_grouped(out, lost, 0);
	buf_addf(out,
		 " lost%s, %.1f %% of what was sampled: larger rings (-m) or a lower rate (-F) "
		 "help\n",
		 info->term.reset, 100.0 * (double)lost / (double)(lost + samples));
}

void info_text(struct info *info)
{
	CLEANUP(strvec_release) strvec odd = {};

	buf_addf(&info->out, "%sRecording%s\n", info->term.bold, info->term.reset);
	add_form(info);
	add_machine(info);
	add_times(info);
	add_events(info);
	add_records(info);
	add_losses(info);
	info_oddities(info, &odd);
	if (!odd.len)
		return;
	heading(info, "Odd");
	vec_each(&odd, sentence) {
		CLEANUP(buf_release) struct buf clean = {};

		text_add_printable(&clean, *sentence);
		buf_add(&info->out, "  ");
		buf_add_wrapped(&info->out, buf_str(&clean), 2, info->term.width - 2);
		buf_add_char(&info->out, '\n');
	}
}
