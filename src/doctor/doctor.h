/*
 * tacho doctor: what works on this machine for measuring, what does not, what that costs the user,
 * and the command that changes it.
 *
 * A check looks at one thing and fills in one struct finding; the tables of checks stand in the
 * file of their topic. To add a check: write `static void check_x(struct doctor *d,
 * struct finding *f)` there and add a row to the table. To add something that --fix can do: add a
 * row to fixes[] in fix.c, and name it in finding_command() of the check.
 *
 * Files of /proc and /sys are read below d->roots, which may be a copy from another machine
 * (d->roots.foreign). Whatever asks the running kernel instead of a file must not be done then:
 * such checks call finding_untested(). A file that a copy does not have says nothing either:
 * finding_unknown(). One thread only.
 */
#ifndef TACHO_DOCTOR_DOCTOR_H
#define TACHO_DOCTOR_DOCTOR_H

#include "base/buf.h"
#include "base/err.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/term.h"
#include "event/hypervisor.h"

#include <stdint.h>

#define NOT_TESTED "not tested: another machine's files"

enum check_status { CHECK_OK, CHECK_LIMITED, CHECK_MISSING, CHECK_INFO, CHECK_STATUS_COUNT };

/* All text is plain ASCII in the end: whatever else came out of a file is replaced. */
struct finding {
	enum check_status status;
	struct buf text, cost, fix;
	bool fix_is_command;  /* to be pasted into a shell, so never folded */
	const char *fix_name; /* what --fix=NAME calls it; NULL if it cannot do it */
};

struct noise;

/* What several checks need to know, found out once. Strings are "" when unknown. */
struct doctor {
	struct roots roots;
	const char *sudo; /* what goes before a command that needs root: "sudo " or "" */
	char release[128], arch[65], cpu_model[128], product[HYPERVISOR_PRODUCT_SIZE];
	char container[32];
	const struct hypervisor *hypervisor; /* NULL: none known */
	size_t cpus;
	bool caps_known, seccomp, user_namespace;
	uint64_t caps; /* effective, and honoured by the kernel: 0 in a user namespace */
	bool paranoid_known;
	long long paranoid;
	struct noise *noise; /* who used the CPUs before; NULL for another machine */
};

struct check {
	const char *name;  /* for programs: --json */
	const char *title; /* for people, at most 16 columns */
	void (*fn)(struct doctor *d, struct finding *f);
};

/* Ended by a row of zeros. */
extern const struct check event_checks[], limit_checks[], trace_checks[], symbol_checks[],
	machine_checks[], noise_checks[];

struct check_group {
	const char *title;
	const struct check *checks;
};
/* groups.c; ended by a row of zeros. */
extern const struct check_group check_groups[];

/* ---- finding.c ---- */
void finding_set(struct finding *f, enum check_status status, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
void finding_cost(struct finding *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* A shell command that changes it, which --fix=@fix_name does as well (NULL: it cannot). */
void finding_command(struct finding *f, const char *fix_name, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
/* What to do where no command on this machine does it. */
void finding_advice(struct finding *f, const char *fmt, ...) PRINTF_LIKE(2, 3);
void finding_untested(struct finding *f);
void finding_unknown(const struct doctor *d, struct finding *f, const char *file);
void finding_release(struct finding *f);
const char *status_word(enum check_status status);

/* ---- facts.c ---- */
enum { /* numbers of capabilities, as in linux/capability.h of any version */
       DOCTOR_CAP_IPC_LOCK = 14,
       DOCTOR_CAP_SYS_PTRACE = 19,
       DOCTOR_CAP_SYS_ADMIN = 21,
       DOCTOR_CAP_SYSLOG = 34,
       DOCTOR_CAP_PERFMON = 38,
       DOCTOR_CAP_BPF = 39,
};

void doctor_init(struct doctor *d);
void doctor_release(struct doctor *d);
bool doctor_has(const struct doctor *d, int capability);
/* What comes from a file must not steer a terminal: all but printable ASCII becomes '?'. */
void doctor_make_plain(char *s);
bool doctor_may_measure_all(const struct doctor *d); /* perf_event_paranoid is no limit */

/* Number of CPUs in a list file as "0-3,8"; false if it is not there or malformed. */
bool doctor_count_cpus(size_t *ret_count, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- virtual.c ---- */
void doctor_find_hypervisor(struct doctor *d);
void doctor_find_container(struct doctor *d);

/* ---- trace.c ---- */
bool doctor_tracefs_closed(const struct roots *roots); /* mounted, but not for this user */

/* ---- run.c ---- */
/* First line that a program prints, which has one second; negative errno if it does not answer,
 * -ECHILD when it fails. @ret_path gets where it was found, both @size bytes. */
int doctor_run(const char *name, const char *arg, char *ret_line, char *ret_path, size_t size);

/* ---- noise.c ---- */
struct noise *noise_start(const struct doctor *d);
void noise_free(struct noise *n);

/* ---- fix.c ---- */
struct fix {
	const char *name;
	bool harmless;    /* done by --fix without a name */
	const char *file; /* below /proc or /sys; NULL for what is not writing a file */
	const char *value;
	const char *keep_file, *keep_line; /* makes it last: this line in this file */
};
extern const struct fix fixes[]; /* ended by a row of zeros */

const struct fix *fix_find(const char *name);
/*
 * Does the harmless fixes and those of @names (comma separated), and adds what was done to @out, as text
 * or as one JSON object. A fix that does not work adds a sentence to @failures. Returns -EINVAL for an
 * unknown name and -ENOTSUP if @roots is another machine; then nothing was changed.
 */
int fix_run(const struct roots *roots, const char *names, bool as_json, struct buf *out,
	    strvec *failures, struct err *e);

/* ---- report.c ---- */
/* @findings in the order of check_groups. */
void report_text(const struct doctor *d, const struct finding *findings, const struct term *t,
		 struct buf *out);
void report_json(const struct doctor *d, const struct finding *findings, struct buf *out);

#endif
