/*
 * For test programs: random numbers that can be repeated, temporary directories, pretended machines, and
 * an environment in which nothing of the user's own is read. Static functions, so that a test stays one file.
 */
#ifndef TACHO_TESTS_SUPPORT_H
#define TACHO_TESTS_SUPPORT_H

#include "base/buf.h"
#include "base/fs.h"

#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- random numbers ---- */

static uint64_t dice_state = 0x9e3779b97f4a7c15ull; /* as after seed_dice(1) */

/* Any @number is a good seed, 0 too. */
static inline void seed_dice(uint64_t number)
{
	dice_state = number * 0x9e3779b97f4a7c15ull | 1;
}

/* Returns a random number below @below; the sequence depends on seed_dice() alone (xorshift). */
static inline uint64_t dice(uint64_t below)
{
	dice_state ^= dice_state << 13;
	dice_state ^= dice_state >> 7;
	dice_state ^= dice_state << 17;
	return (dice_state >> 11) % below;
}

/* Returns the positive number in the environment variable @name, or @otherwise. */
static inline uint64_t from_environment(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && atoll(text) > 0 ? (uint64_t)atoll(text) : otherwise;
}

/* Seeds dice() with $TACHO_SEED, and prints it with the number of @cases, so that a failure can be repeated. */
static inline void seed_from_environment(uint64_t cases)
{
	uint64_t number = from_environment("TACHO_SEED", 1);

	printf("# %llu cases: TACHO_SEED=%llu\n", (unsigned long long)cases,
	       (unsigned long long)number);
	/* Also if the program is killed, because it hangs. */
	fflush(stdout);
	seed_dice(number);
}

/* For qsort(). */
static inline int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- files ---- */

static char support_dir[256];

static inline int support_remove(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline void remove_tree(const char *path)
{
	nftw(path, support_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* A directory of this test's own, with the user's directories pointed into it. */
static inline int make_support_dir(void **state)
{
	const char *top = getenv("TMPDIR");
	char sub[300];

	(void)state;
	snprintf(support_dir, sizeof(support_dir), "%s/tacho-test-XXXXXX", top ? top : "/tmp");
	if (!mkdtemp(support_dir))
		return -1;
	snprintf(sub, sizeof(sub), "%s/data", support_dir);
	setenv("XDG_DATA_HOME", sub, 1);
	snprintf(sub, sizeof(sub), "%s/config", support_dir);
	setenv("XDG_CONFIG_HOME", sub, 1);
	setenv("HOME", support_dir, 1);
	return 0;
}

static inline int remove_support_dir(void **state)
{
	(void)state;
	remove_tree(support_dir);
	return 0;
}

/* "support_dir/name" in a buffer that the next call but three overwrites. */
static inline const char *in_dir(const char *name)
{
	static char paths[4][512];
	static unsigned next;
	char *path = paths[next++ % ARRAY_LEN(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", support_dir, name);
	return path;
}

static inline void write_mem(const char *name, const void *mem, size_t len)
{
	char *path = xstrdup(in_dir(name)), *slash = strrchr(path, '/');
	FILE *f;

	*slash = '\0';
	fs_mkdir_p(path);
	*slash = '/';
	f = fopen(path, "w");
	if (!f || fwrite(mem, 1, len, f) != len || fclose(f)) {
		perror(path);
		abort();
	}
	free(path);
}

static inline void write_text(const char *name, const char *text)
{
	write_mem(name, text, strlen(text));
}

/* ---- pretended machines ---- */

/* Makes the pretended machine @tree below the support directory. */
static inline int unpack_tree(const char *tree)
{
	const char *source = getenv("TACHO_SOURCE");
	char *script = xasprintf("%s/tests/trees/unpack", source ? source : ".");
	char *from = xasprintf("%s/tests/trees/%s.tree", source ? source : ".", tree);
	char *argv[] = {(char *)"python3", script, from, (char *)in_dir(tree), NULL};
	int status = -1;
	pid_t pid;

	if (!posix_spawnp(&pid, "python3", NULL, NULL, argv, environ))
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	if (status)
		fprintf(stderr, "cannot unpack %s: is TACHO_SOURCE the source directory?\n", from);
	free(script);
	free(from);
	return status ? -1 : 0;
}

static inline void use_tree(const char *tree)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s/sys", support_dir, tree);
	setenv("TACHO_SYSFS", path, 1);
	snprintf(path, sizeof(path), "%s/%s/proc", support_dir, tree);
	setenv("TACHO_PROCFS", path, 1);
}

/* Every machine of tests/trees. */
static const char *const trees[] __attribute__((unused)) = {
	"hybrid-intel", "amd-zen4",  "arm64-big-little", "arm64-server",
	"s390x",        "vm-no-pmu", "hostile",
};

static inline int unpack_all(void **state)
{
	if (make_support_dir(state))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(trees); i++)
		if (unpack_tree(trees[i]))
			return -1;
	return 0;
}

#endif
