/* Small files and directories, with a limit on every size. Callers free what they are given. */
#ifndef TACHO_BASE_FS_H
#define TACHO_BASE_FS_H

#include "base/buf.h"
#include "base/vec.h"

#include <stdint.h>

typedef VEC(char *) strvec;

void strvec_release(strvec *v);
void strvec_sort(strvec *v);

/* Whole file into a new string, trailing white space cut; -EFBIG above @limit_bytes. */
int fs_read(const char *path, size_t limit_bytes, char **ret_text);

/* First line of a small file (sysfs, procfs) into @line; false if it cannot be read. */
bool fs_line(char *line, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The first @size - 1 bytes of a file that may be endless; false if it cannot be read. */
bool fs_head(char *text, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* A small file that holds one number. */
bool fs_number(long long *ret_value, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Names in a directory, sorted, without dot files; at most 100,000. */
int fs_list(const char *path, strvec *ret_names);

/* Replaces @path in one step, so that a reader sees the old or the new text, never half. */
int fs_write_atomic(const char *path, const char *text, size_t len);

int fs_mkdir_p(const char *path);
/* The same; directories that are not there yet are made for the user alone. */
int fs_mkdir_private(const char *path);
bool fs_exists(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* $XDG_<kind>_HOME/tacho or its default under $HOME; NULL without a home. */
char *fs_xdg_dir(const char *env_name, const char *below_home);

#endif
