/*
 * `tacho script`: prints records in the order of time, as perf's text, as JSON lines or as a dump.
 *
 * script.c has the options and filters the records; fields.c makes a plan for each event with the
 * fields to print; text.c writes a sample's line, with parts.c for the rarer columns; record.c
 * writes all other records. To add a column: add a row to FIELD_LIST, what it needs to fields.c,
 * and its output to script_sample().
 */
#ifndef TACHO_CMD_SCRIPT_SCRIPT_H
#define TACHO_CMD_SCRIPT_SCRIPT_H

#include "base/option.h"
#include "cmd/info/info.h"
#include "cmd/terminal/pager.h"
#include "event/format/format.h"
#include "perf/record.h"
#include "perfdata/reader.h"
#include "cmd/script/names.h"

struct script_options {
	const char *input, *symfs, *kallsyms, *vmlinux;
	struct sample_filter filter;
	option_list fields;
	unsigned max_stack;
	bool ignored; /* options of perf that change nothing here */
	bool no_inline, no_demangle, hide_chains, ns, reltime, deltatime, dump, header, header_only,
		json;
	bool show_mmap, show_task, show_lost, show_switch, show_namespace, show_cgroup, show_bpf;
	bool show_text_poke, show_round;
};

/* ---- fields ---- */

#define FIELD_LIST(X)                                                                              \
	X(COMM, "comm")                                                                            \
	X(TID, "tid")                                                                              \
	X(PID, "pid")                                                                              \
	X(TIME, "time")                                                                            \
	X(CPU, "cpu")                                                                              \
	X(EVENT, "event")                                                                          \
	X(TRACE, "trace")                                                                          \
	X(IP, "ip")                                                                                \
	X(SYM, "sym")                                                                              \
	X(DSO, "dso")                                                                              \
	X(ADDR, "addr")                                                                            \
	X(SYMOFF, "symoff")                                                                        \
	X(PERIOD, "period")                                                                        \
	X(IREGS, "iregs")                                                                          \
	X(UREGS, "uregs")                                                                          \
	X(BRSTACK, "brstack")                                                                      \
	X(BRSTACKSYM, "brstacksym")                                                                \
	X(BRSTACKOFF, "brstackoff")                                                                \
	X(DATA_SRC, "data_src")                                                                    \
	X(WEIGHT, "weight")                                                                        \
	X(BPF_OUTPUT, "bpf-output")                                                                \
	X(SYNTH, "synth")                                                                          \
	X(PHYS_ADDR, "phys_addr")                                                                  \
	X(MISC, "misc")                                                                            \
	X(TOD, "tod")                                                                              \
	X(DATA_PAGE_SIZE, "data_page_size")                                                        \
	X(CODE_PAGE_SIZE, "code_page_size")                                                        \
	X(INS_LAT, "ins_lat")                                                                      \
	X(RETIRE_LAT, "retire_lat")                                                                \
	X(CGROUP, "cgroup")                                                                        \
	X(SRCLINE, "srcline")

enum script_field_number {
#define X(name, text) FIELD_NUMBER_##name,
	FIELD_LIST(X)
#undef X
};

enum script_field {
#define X(name, text) FIELD_##name = 1u << FIELD_NUMBER_##name,
	FIELD_LIST(X)
#undef X
};

/* Kinds of events, for -F TYPE:…; up to TYPE_BREAK the values are the kernel's PERF_TYPE_*. */
enum script_type {
	TYPE_HW,
	TYPE_SW,
	TYPE_TRACE,
	TYPE_CACHE,
	TYPE_RAW,
	TYPE_BREAK,
	TYPE_SYNTH,
	TYPE_OTHER,
	TYPE_COUNT,
};

/* The fields that are printed for a kind of event. */
struct script_type_fields {
	uint32_t fields;
	uint32_t asked, refused; /* added and removed by name with -F */
	bool by_user;
	bool examined; /* the first event of the kind has been looked at */
};

/* How the records of an event are printed. */
struct script_plan {
	uint32_t fields;
	bool chains;     /* the first line ends before the address, and the comm is not padded */
	struct buf name; /* padded, with ": " */
	struct tracepoint_format *format;
	VEC(const struct tracepoint_field *) named; /* those of script.named that it has */
};

struct script_cgroup {
	uint64_t id;
	char *path;
};

struct script {
	struct script_options o;
	struct perfdata *data;
	struct pager pager;
	struct buf out;
	struct script_names names;
	struct script_type_fields types[TYPE_COUNT];
	VEC(struct script_plan) plans;
	size_t name_width;
	strvec named; /* fields of tracepoints in -F, in the place of the text of the tracepoint */
	VEC(struct script_cgroup) cgroups;
	struct group_counts counts;
	uint64_t first_ns, previous_ns; /* of printed lines, for --reltime and --deltatime */
	size_t data_src_width;
	unsigned max_stack;
	struct err problem; /* why reading or writing stopped early */
	/* For script_document(): `tacho info` of the file, which follows the records. */
	struct info *document;
	bool document_begun;
	bool sampled; /* a sample was read; names and formats are known by then */
};

/* fields.c */
void script_fields_init(struct script *s);
int script_fields_parse(struct script *s, const char *text, struct err *e);
/*
 * Makes plans for the new events, or with @all for every event again, because names and formats may
 * have arrived since. Returns -EINVAL if a field named with -F was not recorded.
 */
int script_plans_make(struct script *s, bool all, struct err *e);
/* Returns -EINVAL if -F names a field that no tracepoint of the recording has. */
int script_fields_check(const struct script *s, struct err *e);
void script_plans_release(struct script *s);

/* script.c: returns the task as of the current record. */
struct thread *script_thread(struct script *s, uint32_t pid, uint32_t tid);

/* text.c: one sample, and the columns that every line begins with. */
void script_sample(struct script *s, const struct record *r, const struct stream_event *event,
		   const struct script_plan *plan, const struct thread *thread, uint64_t period);
void script_start(struct script *s, const struct script_plan *plan, const char *comm,
		  size_t comm_len, uint32_t type, uint16_t misc, const struct record_id *id);
void script_printable(struct buf *out, const char *text, size_t len);

/* parts.c: the rarer columns. */
void script_regs(struct buf *out, const struct regs_view *regs, const char *arch);
void script_branches(struct script *s, const struct record *r, uint32_t fields);
void script_data_src(struct buf *out, uint64_t data_src, size_t *width);
void script_page_size(struct buf *out, uint64_t bytes);
void script_bpf_output(struct buf *out, const struct bytes_view *raw);
const char *script_reg_name(unsigned reg, const char *arch);

/* record.c: records that are not samples. Those without a time are not sorted. */
void script_record(struct script *s, const struct record *r, const struct stream_event *event,
		   const struct script_plan *plan);
void script_record_body(struct buf *out, const struct record *r);

/* json.c, dump.c, header.c */
void script_json(struct script *s, const struct record *r, const struct stream_record *raw,
		 const struct script_plan *plan);
void script_dump(struct script *s, const struct record *r, const struct stream_record *raw);
void script_dump_user(struct script *s, const unsigned char *bytes, uint64_t file_offset);
void script_header(struct script *s);
void script_header_of(const struct perfdata *p, struct buf *out);

/* Writes all of @info->file, which must be open but not read yet, to @fd as one JSON document. */
int script_document(struct info *info, int fd, struct err *e);

/* Returns access to the recorded kernel's strings and symbols, for the text of tracepoints. */
struct format_context script_format_context(const struct script *s);

/* Writes the buffered text. Returns false if that fails, e.g. because the reader has gone. */
bool script_flush(struct script *s);
/* Returns the cgroup's path, or NULL if it is unknown. */
const char *script_cgroup_path(const struct script *s, uint64_t id);

#endif
