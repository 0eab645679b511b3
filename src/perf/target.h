/*
 * Where to measure: on tasks wherever they run, or on CPUs whatever they run; and the places, one
 * perf event each, that this comes to for an event. Counting and sampling share it.
 */
#ifndef TACHO_PERF_TARGET_H
#define TACHO_PERF_TARGET_H

#include "event/event.h"

#include <sys/resource.h>
#include <sys/types.h>

struct target {
	VEC(pid_t) tasks; /* empty: CPUs */
	VEC(int) cpus;    /* empty with tasks: any CPU */
	VEC(struct target_cgroup {
		char *name;
		int fd;
	})
	cgroups;          /* with CPUs: only tasks of these */
	bool inherit;     /* children are measured with their parent */
	bool tasks_apart; /* each task's counts are wanted, not only their sum */
	bool on_exec;     /* starts by itself when the task executes a program */
};

void target_release(struct target *target);

/* A place where one event is opened. */
struct place {
	pid_t pid;
	int cpu, task, cgroup; /* task and cgroup by their index in the target, -1: none */
	unsigned flags;
};

typedef VEC(struct place) place_list;

void places_of(const struct event_unit *unit, const struct target *target, place_list *places);

/*
 * Opens @attr at @place. Where only user mode may be watched, that is measured, and *user_only
 * says so, unless the user chose the modes himself (@chosen). A file descriptor or a negative errno.
 */
int place_open(struct perf_event_attr *attr, const struct place *place, int leader_fd, bool chosen,
	       bool *user_only);

/* As many open files as we may have; *ret_before is for files_restore(): a workload must not
 * inherit ours. */
void files_raise(struct rlimit *ret_before);
void files_restore(const struct rlimit *before);

/* The sentence for EMFILE. */
int files_too_few(size_t event_count, const struct target *target, struct err *e);

#endif
