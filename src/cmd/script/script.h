/*
 * `tacho script`: records in the order of time, as perf's text, as JSON lines or as a dump.
 *
 * script.c has the options and lets every record through the filters; fields.c works out
 * once for each event what is printed of it; text.c writes a sample's line, with
 * parts.c for the rarer columns; record.c writes all other records. To add a column:
 * a row in FIELD_LIST, what it needs in fields.c, and its place in script_sample().
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
	bool ignored; /* what is so anyway */
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

/* Kinds of events, for -F TYPE:…; the first are the kernel's types. */
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

/* What is printed of a kind of event. */
struct script_type_fields {
	uint32_t fields;
	uint32_t asked, refused; /* by name, on the command line */
	bool by_user;
	bool examined; /* the first event of the kind has been looked at */
};

/* What is printed of an event. */
struct script_plan {
	uint32_t fields;
	bool chains;     /* the first line ends before the address, and the comm is not padded */
	struct buf name; /* padded, with ": " */
	struct tracepoint_format *format;
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
	VEC(struct script_cgroup) cgroups;
	struct group_counts counts;
	uint64_t first_ns, previous_ns; /* of what was printed, for --reltime and --deltatime */
	size_t data_src_width;
	unsigned max_stack;
	struct err problem; /* that ended it */
	/* All records in one JSON document, with what tacho info says at the end: */
	struct info *document;
	bool document_begun;
	bool sampled; /* a sample has come: names and formats are known by then */
};

/* fields.c */
void script_fields_init(struct script *s);
int script_fields_parse(struct script *s, const char *text, struct err *e);
/*
 * Plans for the events that are new, or for all again, because names and formats may have come
 * since. Fails if a field was asked for that is not there.
 */
int script_plans_make(struct script *s, bool all, struct err *e);
void script_plans_release(struct script *s);

/* script.c: the task as it is now. */
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

/* record.c: records that are not samples; those that stand for nobody's time go unsorted. */
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

/* Everything of @info->file, which is opened but not read, as one JSON document to @fd. */
int script_document(struct info *info, int fd, struct err *e);

/* What the file knows of the kernel that it came from, for the text of its tracepoints. */
struct format_context script_format_context(const struct script *s);

/* Where the text goes, as far as it is written; false once nobody reads it. */
bool script_flush(struct script *s);
/* The cgroup's path, or NULL. */
const char *script_cgroup_path(const struct script *s, uint64_t id);

#endif
