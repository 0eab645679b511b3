/*
 * Loaded event files. Each microarchitecture has a folder in the data directory:
 *	events/icelakex/events.json	every event and metric, in the form that it was published in
 *	events/icelakex/cpus		regular expressions for the CPUs it is for, one on each line
 */
#include "event/vendor.h"
#include "base/text.h"

#include <errno.h>
#include <jansson.h>
#include <regex.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EVENT_FILE_BYTES_MAX (64u << 20)
#define FOLDER_DEPTH_MAX     6
#define FILES_MAX            5000

struct source_file {
	char *path;
	char *uarch;
	json_t *root, *items; /* items is the array inside root */
};

struct map_row {
	char *cpu, *file; /* file: as in the mapfile, a folder (kernel) or a path (Intel) */
};

struct install {
	VEC(struct source_file) files;
	VEC(struct map_row) map;
	const char *uarch, *cpu; /* given by the user, or NULL */
	struct err *e;
};

static char *store_dir(const char *uarch)
{
	CLEANUP(free_ptr) char *data = fs_xdg_dir("XDG_DATA_HOME", ".local/share");

	if (!data)
		return NULL;
	return xasprintf("%s/events%s%s", data, uarch ? "/" : "", uarch ? uarch : "");
}

/* Returns whether @s is safe as the name of a folder: it cannot lead out of the store. */
static bool is_uarch_name(const char *s)
{
	size_t len = strlen(s);

	return len && len < 64 && s[0] != '.' &&
	       strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       len;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- reading the files to load ---- */

static void read_map(struct install *in, const char *dir)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/mapfile.csv", dir);
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(strvec_release) strvec lines = {};

	if (in->map.len || fs_read(path, EVENT_FILE_BYTES_MAX, &text) < 0)
		return;
	text_split(text, "\r\n", &lines);
	vec_each(&lines, line) {
		CLEANUP(strvec_release) strvec cells = {};

		text_split(*line, ",", &cells);
		if (cells.len >= 3 && (*line)[0] != '#' && strncasecmp(*line, "family", 6))
			vec_push(&in->map, (struct map_row){xstrdup(cells.items[0]),
							    xstrdup(cells.items[2])});
	}
}

/* A row of the kernel's mapfile names the file's folder, a row of Intel's the file itself. */
static bool row_is_for(const struct map_row *row, const char *path)
{
	const char *row_base = base_name(row->file);
	size_t len = strlen(row->file);
	const char *file = base_name(path);
	size_t dir_len = (size_t)(file - path);

	if (strstr(row_base, ".json"))
		return !strcasecmp(row_base, file);
	while (dir_len && path[dir_len - 1] == '/')
		dir_len--;
	return dir_len >= len && !strncmp(path + dir_len - len, row->file, len) &&
	       (dir_len == len || path[dir_len - len - 1] == '/');
}

/* "icelakex_core.json" is for icelakex; "icelakex/cache.json" too. */
static char *uarch_of_file(const struct install *in, const char *path)
{
	const char *file = base_name(path);

	if (in->uarch)
		return xstrdup(in->uarch);
	vec_each(&in->map, row)
		if (row_is_for(row, path) && !strstr(row->file, ".json"))
			return xstrdup(base_name(row->file));
	return xstrndup(file, strcspn(file, "_."));
}

static int read_source(struct install *in, const char *path)
{
	struct source_file file = {};
	CLEANUP(free_ptr) char *text = NULL;
	struct vendor_set check = {};
	json_error_t where;
	int r = fs_read(path, EVENT_FILE_BYTES_MAX, &text);

	if (r < 0)
		return err_set(in->e, -r, "cannot read '%s': %s", path, strerror(-r));
	if (in->files.len >= FILES_MAX)
		return err_set(in->e, EFBIG, "more than %d event files", FILES_MAX);
	r = vendor_parse(text, strlen(text), &check, in->e);
	vendor_release(&check);
	if (r < 0) {
		err_prefix(in->e, "cannot load '%s'", path);
		return r;
	}
	file.root = json_loads(text, JSON_REJECT_DUPLICATES, &where);
	file.items = file.root;
	if (json_is_object(file.root))
		file.items = json_object_get(
			file.root, json_object_get(file.root, "Events") ? "Events" : "Metrics");
	file.path = xstrdup(path);
	file.uarch = uarch_of_file(in, path);
	vec_push(&in->files, file);
	return 0;
}

static int read_folder(struct install *in, const char *dir, int depth)
{
	CLEANUP(strvec_release) strvec names = {};
	int r = fs_list(dir, &names);

	if (r < 0)
		return err_set(in->e, -r, "cannot read '%s': %s", dir, strerror(-r));
	read_map(in, dir);
	vec_each(&names, name) {
		CLEANUP(free_ptr) char *path = xasprintf("%s/%s", dir, *name);
		size_t len = strlen(*name);
		struct stat st;

		if (lstat(path, &st))
			continue;
		if (S_ISDIR(st.st_mode) && depth < FOLDER_DEPTH_MAX)
			r = read_folder(in, path, depth + 1);
		else if (S_ISREG(st.st_mode) && len > 5 && !strcmp(*name + len - 5, ".json"))
			r = read_source(in, path);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ---- merging and writing ---- */

static const char *item_name(const json_t *item)
{
	const char *name = json_string_value(json_object_get(item, "EventName"));

	return name ? name : json_string_value(json_object_get(item, "MetricName"));
}

/* Arm's files refer to events of the architecture by name and may override some members. */
static void resolve_standard(struct install *in, json_t *item)
{
	const char *wanted = json_string_value(json_object_get(item, "ArchStdEvent"));

	if (!wanted || item_name(item))
		return;
	vec_each(&in->files, file) {
		json_t *other;
		size_t i;

		json_array_foreach(file->items, i, other)
		{
			const char *name = json_string_value(json_object_get(other, "EventName"));

			if (name && !strcasecmp(name, wanted)) {
				json_object_update_missing(item, other);
				return;
			}
		}
	}
}

static char *item_key(const json_t *item)
{
	const char *unit = json_string_value(json_object_get(item, "Unit"));
	const char *name = item_name(item);

	return name ? xasprintf("%s %s", unit ? unit : "", name) : NULL;
}

/* A newly loaded item replaces the stored one of the same unit and name. */
static void merge_items(json_t *by_name, json_t *items, struct install *in)
{
	json_t *item;
	size_t i;

	json_array_foreach(items, i, item)
	{
		CLEANUP(free_ptr) char *key = NULL;

		if (in)
			resolve_standard(in, item);
		key = item_key(item);
		if (key)
			json_object_set(by_name, key, item);
	}
}

static json_t *merged(struct install *in, const char *uarch, const char *dir)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/events.json", dir);
	json_t *by_name = json_object(), *list = json_array(), *item;
	json_t *old = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
	const char *key;

	if (json_is_array(old))
		merge_items(by_name, old, NULL);
	vec_each(&in->files, file)
		if (!strcmp(file->uarch, uarch))
			merge_items(by_name, file->items, in);
	json_object_foreach(by_name, key, item) json_array_append(list, item);
	json_decref(by_name);
	json_decref(old);
	return list;
}

static void collect_cpus(const struct install *in, const char *uarch, struct buf *out)
{
	if (in->cpu)
		buf_addf(out, "%s\n", in->cpu);
	vec_each(&in->files, file) {
		if (strcmp(file->uarch, uarch) || in->cpu)
			continue;
		vec_each(&in->map, row) {
			CLEANUP(free_ptr) char *line = xasprintf("%s\n", row->cpu);

			if (row_is_for(row, file->path) && !strstr(buf_str(out), line))
				buf_add(out, line);
		}
	}
}

static int write_uarch(struct install *in, const char *uarch)
{
	CLEANUP(free_ptr) char *dir = store_dir(uarch);
	CLEANUP(free_ptr) char *events_path = dir ? xasprintf("%s/events.json", dir) : NULL;
	CLEANUP(free_ptr) char *cpus_path = dir ? xasprintf("%s/cpus", dir) : NULL;
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(buf_release) struct buf cpus = {};
	json_t *list;
	int r;

	if (!dir)
		return err_set(in->e, ENOENT, "no place to keep events: set HOME or XDG_DATA_HOME");
	r = fs_mkdir_p(dir);
	if (r < 0)
		return err_set(in->e, -r, "cannot make '%s': %s", dir, strerror(-r));
	list = merged(in, uarch, dir);
	text = json_dumps(list, JSON_INDENT(1));
	json_decref(list);
	collect_cpus(in, uarch, &cpus);
	r = fs_write_atomic(events_path, text, strlen(text));
	if (r == 0 && (cpus.len || access(cpus_path, F_OK)))
		r = fs_write_atomic(cpus_path, buf_str(&cpus), cpus.len);
	if (r < 0)
		return err_set(in->e, -r, "cannot write in '%s': %s", dir, strerror(-r));
	return 0;
}

static bool cpu_matches(const char *dir, const char *uarch, const char *cpuid);

static struct vendor_installed describe(const struct roots *roots, const struct vendor_set *set)
{
	CLEANUP(free_ptr) char *dir = store_dir(NULL);
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s/cpus", dir, set->uarch);
	char cpuid[128];
	struct stat st;

	cpuid_text(roots, cpuid, sizeof(cpuid));
	return (struct vendor_installed){.uarch = xstrdup(set->uarch),
					 .events = set->events.len,
					 .metrics = set->metrics.len,
					 .this_cpu = cpu_matches(dir, set->uarch, cpuid),
					 .any_cpu = !stat(path, &st) && st.st_size > 0};
}

static bool has_installed(const vendor_installed_list *list, const char *uarch)
{
	vec_each(list, item)
		if (!strcmp(item->uarch, uarch))
			return true;
	return false;
}

static int write_all(struct install *in, vendor_installed_list *ret)
{
	struct roots roots = roots_find();
	int r = 0;

	vec_each(&in->files, file)
		if (!is_uarch_name(file->uarch))
			return err_set(in->e, EINVAL,
				       "cannot tell the microarchitecture of '%s': give it by "
				       "--uarch NAME",
				       file->path);
	vec_each(&in->files, file) {
		struct vendor_set set = {};

		if (has_installed(ret, file->uarch))
			continue;
		r = write_uarch(in, file->uarch);
		if (r < 0)
			return r;
		r = vendor_load(&roots, file->uarch, &set, in->e);
		if (r < 0)
			return r;
		vec_push(ret, describe(&roots, &set));
		vendor_release(&set);
	}
	return 0;
}

static bool is_regex(const char *text)
{
	regex_t re;

	if (regcomp(&re, text, REG_EXTENDED | REG_NOSUB))
		return false;
	regfree(&re);
	return true;
}

int vendor_install(const char *path, const char *uarch, const char *cpu,
		   vendor_installed_list *ret_installed, struct err *e)
{
	struct install in = {.uarch = uarch, .cpu = cpu, .e = e};
	CLEANUP(free_ptr) char *real = realpath(path, NULL);
	struct stat st;
	int r;

	if (!real || stat(real, &st))
		return err_set(e, errno, "cannot open '%s': %s", path, strerror(errno));
	if (uarch && !is_uarch_name(uarch))
		return err_set(e, EINVAL,
			       "'%s' is not a name: letters, digits, '.', '_' and '-' only", uarch);
	if (cpu && !is_regex(cpu))
		return err_set(e, EINVAL, "'%s' is not a regular expression", cpu);
	if (S_ISDIR(st.st_mode)) {
		r = read_folder(&in, real, 0);
	} else {
		CLEANUP(free_ptr) char *dir = xstrndup(real, (size_t)(base_name(real) - real));

		/* The mapfile is in the file's folder, or one or two folders up. */
		for (int up = 0; up < 3 && *dir; up++) {
			read_map(&in, dir);
			dir[strlen(dir) - 1] = '\0';
			*(char *)base_name(dir) = '\0';
		}
		r = read_source(&in, real);
	}
	if (r == 0 && !in.files.len)
		r = err_set(e, ENOENT, "there are no .json files in '%s'", path);
	if (r == 0)
		r = write_all(&in, ret_installed);
	vec_each(&in.files, file) {
		free(file->path);
		free(file->uarch);
		json_decref(file->root);
	}
	vec_each(&in.map, row) {
		free(row->cpu);
		free(row->file);
	}
	vec_release(&in.files);
	vec_release(&in.map);
	return r;
}

/* ---- reading the store ---- */

static bool cpu_matches(const char *dir, const char *uarch, const char *cpuid)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/%s/cpus", dir, uarch);
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(strvec_release) strvec lines = {};
	bool found = false;

	if (!*cpuid || fs_read(path, EVENT_FILE_BYTES_MAX, &text) < 0)
		return false;
	text_split(text, "\n", &lines);
	vec_each(&lines, line) {
		/* A pattern without a stepping matches every stepping. */
		CLEANUP(free_ptr) char *whole = xasprintf("^(%s)(-[0-9A-F]+)?$", *line);
		regex_t re;

		if (found || regcomp(&re, whole, REG_EXTENDED | REG_NOSUB | REG_ICASE))
			continue;
		found = regexec(&re, cpuid, 0, NULL, 0) == 0;
		regfree(&re);
	}
	return found;
}

int vendor_load(const struct roots *roots, const char *uarch, struct vendor_set *ret_set,
		struct err *e)
{
	CLEANUP(free_ptr) char *dir = store_dir(NULL);
	CLEANUP(free_ptr) char *path = NULL;
	CLEANUP(free_ptr) char *text = NULL;
	CLEANUP(strvec_release) strvec names = {};
	struct vendor_set set = {};
	char cpuid[128];
	int r;

	if (!dir || fs_list(dir, &names) < 0)
		return -ENOENT;
	cpuid_text(roots, cpuid, sizeof(cpuid));
	vec_each(&names, name)
		if (!path && (uarch ? !strcasecmp(*name, uarch) : cpu_matches(dir, *name, cpuid))) {
			path = xasprintf("%s/%s/events.json", dir, *name);
			set.uarch = xstrdup(*name);
		}
	if (!path)
		return -ENOENT;
	r = fs_read(path, EVENT_FILE_BYTES_MAX, &text);
	if (r < 0)
		err_set(e, -r, "cannot read '%s': %s", path, strerror(-r));
	else if ((r = vendor_parse(text, strlen(text), &set, e)) < 0)
		err_prefix(e, "%s", path);
	if (r < 0) {
		vendor_release(&set);
		return r;
	}
	vendor_sort(&set);
	*ret_set = set;
	return 0;
}

int vendor_list(const struct roots *roots, vendor_installed_list *ret_installed)
{
	CLEANUP(free_ptr) char *dir = store_dir(NULL);
	CLEANUP(strvec_release) strvec names = {};

	if (!dir || fs_list(dir, &names) < 0)
		return 0;
	vec_each(&names, name) {
		struct vendor_set set = {};

		if (vendor_load(roots, *name, &set, NULL) < 0)
			continue;
		vec_push(ret_installed, describe(roots, &set));
		vendor_release(&set);
	}
	return 0;
}

int vendor_remove(const char *uarch, struct err *e)
{
	CLEANUP(free_ptr) char *dir = is_uarch_name(uarch) ? store_dir(uarch) : NULL;
	CLEANUP(free_ptr) char *events = dir ? xasprintf("%s/events.json", dir) : NULL;
	CLEANUP(free_ptr) char *cpus = dir ? xasprintf("%s/cpus", dir) : NULL;

	if (!dir || access(dir, F_OK))
		return err_set(e, ENOENT,
			       "no events are loaded for '%s' (tacho events shows which are)",
			       uarch);
	if ((unlink(events) && errno != ENOENT) || (unlink(cpus) && errno != ENOENT) || rmdir(dir))
		return err_set(e, errno, "cannot remove '%s': %s", dir, strerror(errno));
	return 0;
}

void vendor_installed_release(vendor_installed_list *list)
{
	vec_each(list, item)
		free(item->uarch);
	vec_release(list);
}
