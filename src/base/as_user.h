/*
 * Doing things with the rights of another user and no others, which only root can. There are two ways:
 *
 * as_user_begin() changes what counts for files in this thread: fsuid, fsgid, groups and effective
 * capabilities. The real ids stay, so that the user can neither signal nor trace this process.
 *
 * as_user_call() starts a thread that becomes the user for good, with the real ids, too, by which
 * perf_event_open(2) decides. While it runs, the user may send signals to this process, as to any of
 * his: not for a process whose end would harm others.
 */
#ifndef TACHO_BASE_AS_USER_H
#define TACHO_BASE_AS_USER_H

#include "base/vec.h"

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef VEC(uint32_t) id_list;

struct user_ids {
	uid_t uid;
	gid_t gid;
	id_list groups;
};

/* Looks up a user by name or number. Returns false if there is none. Any thread. */
bool user_ids_find(const char *name, struct user_ids *ret);
void user_ids_release(struct user_ids *ids);

/*
 * The user with whose rights this process measures, NULL: with its own. perf_open(), bpf_call() and
 * caps_open_proc() act as this user, so that the kernel decides what he may measure, at the moment at
 * which it is opened. Must be chosen before there are other threads; keeps the pointer.
 */
void as_user_choose(const struct user_ids *ids);
const struct user_ids *as_user_chosen(void);

/* What a thread had before. */
struct own_rights {
	id_list groups;
	gid_t gid;
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3];
};

/* @keep_caps: for root's rights. Returns false, with nothing changed, if they cannot be taken. Must not
 * be nested. */
bool as_user_begin(const struct user_ids *ids, bool keep_caps, struct own_rights *ret);
/* Keeps errno. */
void as_user_end(struct own_rights *own);

/*
 * Returns what @call returns, or a negative errno if it could not be made. @traces: the thread has
 * CAP_SYS_PTRACE, to reach a process that has not become the user yet.
 */
long as_user_call(const struct user_ids *ids, bool traces, long (*call)(void *ctx), void *ctx);

#endif
