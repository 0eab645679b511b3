#include "base/as_user.h"
#include "base/number.h"

#include <errno.h>
#include <grp.h>
#include <pthread.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of an entry in the table of users. */
#define ENTRY_BYTES_MAX 16384

static const struct user_ids *chosen;

/* ---- users ---- */

bool user_ids_find(const char *name, struct user_ids *ret)
{
	char buffer[ENTRY_BYTES_MAX];
	struct passwd entry, *user = NULL;
	struct user_ids ids = {};
	uint64_t number;
	int count = 0;

	getpwnam_r(name, &entry, buffer, sizeof(buffer), &user);
	if (!user && parse_u64(name, &number) && number < UINT32_MAX)
		getpwuid_r((uid_t)number, &entry, buffer, sizeof(buffer), &user);
	if (!user)
		return false;
	ids.uid = user->pw_uid;
	ids.gid = user->pw_gid;
	/* The first call only says how many there are. */
	getgrouplist(user->pw_name, ids.gid, NULL, &count);
	vec_reserve(&ids.groups, (size_t)count + 1);
	if (getgrouplist(user->pw_name, ids.gid, ids.groups.items, &count) < 0) {
		user_ids_release(&ids);
		return false;
	}
	ids.groups.len = (size_t)count;
	*ret = ids;
	return true;
}

void user_ids_release(struct user_ids *ids)
{
	vec_release(&ids->groups);
}

void as_user_choose(const struct user_ids *ids)
{
	chosen = ids;
}

const struct user_ids *as_user_chosen(void)
{
	return chosen;
}

/* ---- changing a thread ---- */

/* The functions of the C library would change all threads. */
static int set_groups(const id_list *groups)
{
	return (int)syscall(SYS_setgroups, groups->len, groups->items);
}

static int set_caps(const struct __user_cap_data_struct *caps)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};

	return (int)syscall(SYS_capset, &header, caps);
}

static bool read_own(struct own_rights *ret)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	int count = getgroups(0, NULL);

	*ret = (struct own_rights){.gid = getegid()};
	if (count < 0 || syscall(SYS_capget, &header, ret->caps))
		return false;
	vec_reserve(&ret->groups, (size_t)count + 1);
	count = getgroups(count, ret->groups.items);
	ret->groups.len = count < 0 ? 0 : (size_t)count;
	return count >= 0;
}

void as_user_end(struct own_rights *own)
{
	int code = errno;

	/* With the rights of another user this program must not go on. */
	if (set_caps(own->caps))
		abort();
	setfsuid(geteuid());
	setfsgid(own->gid);
	if (set_groups(&own->groups) || setfsgid((gid_t)-1) != (int)own->gid ||
	    setfsuid((uid_t)-1) != (int)geteuid())
		abort();
	vec_release(&own->groups);
	errno = code;
}

bool as_user_begin(const struct user_ids *ids, bool keep_caps, struct own_rights *ret)
{
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3];

	/* In a user namespace groups may be fixed: then no rights can be taken. */
	if (!read_own(ret) || set_groups(&ids->groups)) {
		vec_release(&ret->groups);
		return false;
	}
	memcpy(none, ret->caps, sizeof(none));
	for (unsigned i = 0; i < ARRAY_LEN(none); i++)
		none[i].effective = 0;
	setfsgid(ids->gid);
	setfsuid(ids->uid);
	/* Setting them does not fail, it just does not happen. */
	if (setfsgid((gid_t)-1) == (int)ids->gid && setfsuid((uid_t)-1) == (int)ids->uid &&
	    (keep_caps || set_caps(none) == 0))
		return true;
	as_user_end(ret);
	return false;
}

/* ---- a thread of the user's ---- */

struct user_call {
	const struct user_ids *ids;
	bool traces;
	long (*call)(void *ctx);
	void *ctx;
	long result;
};

/* There is no way back: not even saved ids or permitted capabilities are left. */
static bool become(const struct user_ids *ids, bool traces)
{
	struct __user_cap_data_struct caps[_LINUX_CAPABILITY_U32S_3] = {};

	if (traces) {
		caps[CAP_TO_INDEX(CAP_SYS_PTRACE)].permitted = CAP_TO_MASK(CAP_SYS_PTRACE);
		caps[CAP_TO_INDEX(CAP_SYS_PTRACE)].effective = CAP_TO_MASK(CAP_SYS_PTRACE);
	}
	return !prctl(PR_SET_KEEPCAPS, traces, 0, 0, 0) && !set_groups(&ids->groups) &&
	       !syscall(SYS_setresgid, ids->gid, ids->gid, ids->gid) &&
	       !syscall(SYS_setresuid, ids->uid, ids->uid, ids->uid) &&
	       /* Whatever fs.suid_dumpable is: the user may send a signal that leaves a core file. */
	       !prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) && !set_caps(caps);
}

static void *call_main(void *arg)
{
	struct user_call *c = arg;

	c->result = become(c->ids, c->traces) ? c->call(c->ctx) : -errno;
	return NULL;
}

long as_user_call(const struct user_ids *ids, bool traces, long (*call)(void *ctx), void *ctx)
{
	struct user_call c = {.ids = ids, .traces = traces, .call = call, .ctx = ctx};
	pthread_t thread;
	int code = pthread_create(&thread, NULL, call_main, &c);

	if (code)
		return -code;
	pthread_join(thread, NULL);
	return c.result;
}
