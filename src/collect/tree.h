/*
 * Ending a program with everything that it has started. A process that calls tree_adopt() is given
 * the children of those below it that end, so nothing gets away from it. No cgroup is used: moving
 * a program into one changes what it may use.
 */
#ifndef TACHO_COLLECT_TREE_H
#define TACHO_COLLECT_TREE_H

#include "base/vec.h"

#include <stdbool.h>
#include <sys/types.h>

typedef VEC(pid_t) pid_list;

void tree_adopt(void);

/* Takes note of adopted processes that have ended, so that they do not stay as zombies; children
 * with the number @own are left to their owner. */
void tree_reap(pid_t own);

/* False also of one that its parent has not looked at yet. */
bool task_is_alive(pid_t task);

/* A process of ours that somebody has stopped goes on. True: a debugger holds it, and it cannot. */
bool task_continue(pid_t task);

/* All processes below @root, without itself. */
void tree_list(pid_t root, pid_list *ret);

/* Ends all processes below @root, and itself if asked for: by SIGTERM, and those that do not
 * listen for two seconds by SIGKILL. */
void tree_end(pid_t root, bool itself);
/* The same by SIGKILL from the beginning. */
void tree_kill(pid_t root, bool itself);

#endif
