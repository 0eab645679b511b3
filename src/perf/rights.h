/*
 * With whose rights files are opened that a measured program names: its own file, debug files,
 * sources, perf maps, JIT dumps. The program's owner chooses these names, so whoever looks at the
 * results must not see more by them than that owner could have shown.
 *
 * On the command line the user who asks sees the results: his rights hold (RIGHTS_ASKER, the
 * default). What a server keeps is seen by all its users, so there the rights of the process hold:
 * its user, groups, mount namespace and root directory (RIGHTS_TASKS). Where the process is not
 * known (it was gone already, or belongs to somebody whose rights only root can take), only files
 * are opened that every user of the machine may read. The latter holds for all files with
 * RIGHTS_PUBLIC.
 *
 * A struct rights lives as long as the process and does not change; equal ones are the same
 * pointer. Any thread, except that the rule must be set before there are others.
 */
#ifndef TACHO_PERF_RIGHTS_H
#define TACHO_PERF_RIGHTS_H

#include "base/as_user.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum rights_rule { RIGHTS_ASKER, RIGHTS_TASKS, RIGHTS_PUBLIC };

struct rights;

void rights_set_rule(enum rights_rule rule);
/* The rights of processes that are not known, in place of those that everybody has: all processes
 * are descendants of a workload of that user. */
void rights_presume_asker(void);
void rights_presume_user(const struct user_ids *ids);
/*
 * The same, and processes that are not that user's count as not known: whoever asks has the rights of
 * this user and no others, whatever a process of his becomes.
 */
void rights_limit_to_user(const struct user_ids *ids);

const struct rights *rights_of_asker(void);
/* Of a process of which nothing is known. A known process never has this pointer, unless its rights are
 * the asker's or everybody's. */
const struct rights *rights_of_unknown(void);
/*
 * Of a running process, as the rule says. A process may execute another program at any time, with
 * other rights: ask before and after looking at what belongs to it, and if the answers differ, use
 * rights_of_unknown().
 */
const struct rights *rights_of_process(uint32_t pid);
/* Whether @r are the asker's, so that nothing has to be looked up. */
bool rights_are_own(const struct rights *r);

/*
 * Opens a regular file for reading; never a file of /proc or /sys with rights that are not the
 * asker's. @flags: O_NOFOLLOW or 0. Returns a descriptor (O_CLOEXEC), -EINVAL if it is not a
 * regular file, -EACCES if the rights do not suffice, or another negative errno.
 */
int rights_open(const struct rights *r, const char *path, int flags);
/* The same for a file that @place, an O_PATH descriptor, leads to. Does not close @place. */
int rights_reopen(const struct rights *r, int place);
/* The same for the file that the process has mapped there, even if it was renamed or deleted. @r are the
 * rights of the process. Needs a capability that root has. After
 * rights_limit_to_user(), returns -EACCES for a process that is not known. */
int rights_open_mapped(const struct rights *r, uint32_t pid, uint64_t start, uint64_t end);

/*
 * Whose file a copy was made from. Anybody can make a program with any build id, so a copy stands only
 * for programs of processes of its owner, or of all users if it was root's.
 */
struct file_origin {
	uid_t owner;        /* FILE_OWNER_UNKNOWN: somebody else may have chosen the contents */
	bool for_everybody; /* every user of the machine could read the file */
};

#define FILE_OWNER_UNKNOWN ((uid_t)-1)

/* The owner counts as unknown if others can write to the file, if it lies on FUSE, or if no path
 * leads us to it: in a container, numbers of users mean other users. */
struct file_origin rights_origin(int fd);
/* Whether a copy may be used for a process with these rights. On the command line all may be: they
 * are in the asker's own cache. */
bool rights_allow_copy(const struct rights *r, const struct file_origin *origin);
/* With which rights files are opened that such a copy names. */
const struct rights *rights_of_copy(const struct rights *r);

/* Explains whose rights they are: "with the rights of user 65534, …". Nothing for the asker's. */
void rights_explain(const struct rights *r, struct buf *out);

#endif
