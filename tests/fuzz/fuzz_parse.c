/*
 * The event language, on a small machine made for it: two kinds of cores, uncore boxes, a
 * tracepoint. TACHO_FUZZ_TREE points to another one, made by tests/trees/unpack.
 */
#include "event/parse/parse.h"
#include "base/fs.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Hides libpfm4: searching its tables for each unknown name takes longer than everything else. */
void *dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}

#define DEVICES "sys/bus/event_source/devices/"
#define TRACING "sys/kernel/tracing/events/"

static const char *const machine[][2] = {
	{DEVICES "cpu_core/type", "4"},
	{DEVICES "cpu_core/cpus", "0-3"},
	{DEVICES "cpu_core/format/event", "config:0-7,32-35"},
	{DEVICES "cpu_core/format/umask", "config:8-15"},
	{DEVICES "cpu_core/format/inv", "config:23"},
	{DEVICES "cpu_core/format/ldlat", "config1:0-15"},
	{DEVICES "cpu_core/events/slots", "event=0x00,umask=0x4"},
	{DEVICES "cpu_core/events/self", "self"},
	{DEVICES "cpu_core/events/both", "slots,umask=1"},
	{DEVICES "cpu_atom/type", "10"},
	{DEVICES "cpu_atom/cpus", "4-5"},
	{DEVICES "cpu_atom/format/event", "config:0-7"},
	{DEVICES "msr/type", "11"},
	{DEVICES "msr/format/event", "config:0-63"},
	{DEVICES "msr/events/tsc", "event=0x00"},
	{DEVICES "uncore_cbox_0/type", "14"},
	{DEVICES "uncore_cbox_0/cpumask", "0"},
	{DEVICES "uncore_cbox_0/format/event", "config:0-7"},
	{DEVICES "uncore_cbox_0/events/data", "event=0x1"},
	{DEVICES "uncore_cbox_0/events/data.scale", "6.1e-5"},
	{DEVICES "uncore_cbox_0/events/data.unit", "MiB"},
	{DEVICES "uncore_cbox_1/type", "15"},
	{DEVICES "uncore_cbox_1/cpumask", "0"},
	{TRACING "sched/sched_switch/id", "316"},
	{TRACING "syscalls/sys_enter_read/id", "717"},
	{TRACING "syscalls/sys_enter_write/id", "715"},
};

static char top[] = "/tmp/tacho-fuzz-XXXXXX";

static void remove_machine(void)
{
	for (size_t i = ARRAY_LEN(machine); i-- > 0;) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", top, machine[i][0]);

		unlink(path);
		/* Every directory above, while it is empty. */
		for (char *slash; strlen(path) > sizeof(top) && (slash = strrchr(path, '/'));) {
			*slash = '\0';
			rmdir(path);
		}
	}
	rmdir(top);
}

static void make_machine(void)
{
	if (!mkdtemp(top))
		abort();
	atexit(remove_machine);
	for (size_t i = 0; i < ARRAY_LEN(machine); i++) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", top, machine[i][0]);
		char *slash = strrchr(path, '/');

		*slash = '\0';
		if (fs_mkdir_p(path) < 0)
			abort();
		*slash = '/';
		if (fs_write_atomic(path, machine[i][1], strlen(machine[i][1])) < 0)
			abort();
	}
}

static struct catalog *get_catalog(void)
{
	static struct catalog catalog;
	static char sys[256], proc[256];
	const char *tree = getenv("TACHO_FUZZ_TREE");

	if (catalog.roots.sys)
		return &catalog;
	if (!tree)
		make_machine();
	snprintf(sys, sizeof(sys), "%s/sys", tree ? tree : top);
	snprintf(proc, sizeof(proc), "%s/proc", tree ? tree : top);
	setenv("TACHO_SYSFS", sys, 1);
	setenv("TACHO_PROCFS", proc, 1);
	setenv("XDG_DATA_HOME", proc, 1);
	catalog_init(&catalog);
	return &catalog;
}

/* The sentence, the text and a mark that stands below it. */
static void check_error(const struct err *e)
{
	const char *mark = strrchr(e->text, '\n');

	if (e->code != EINVAL || !e->text[0])
		abort();
	if (mark && e->text[strlen(e->text) - 1] != '^')
		abort();
	for (const char *s = e->text; *s; s++)
		if ((unsigned char)*s < 0x20 && *s != '\n')
			abort();
}

static void check_events(const struct event_list *list)
{
	vec_each(&list->events, event) {
		if (!event->name || !event->name[0] || event->attr.size != sizeof(event->attr))
			abort();
		if (!event->units.len && !event->tool)
			abort();
		if (event->group >= list->group_count)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct catalog *catalog = get_catalog();
	struct event_list list = {};
	struct err e = {};
	char *text = malloc(size + 1);
	size_t before;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (events_parse(catalog, "{cs}", &list, &e))
		abort();
	before = list.events.len;
	if (events_parse(catalog, text, &list, &e) < 0) {
		check_error(&e);
		if (list.events.len != before || list.group_count != 1)
			abort();
	} else if (list.events.len == before) {
		abort();
	}
	check_events(&list);
	event_list_release(&list);
	free(text);
	return 0;
}
