/*
 * Ends a program with all its descendants. A process that calls tree_adopt() becomes the parent of
 * descendants whose own parent ends, so none of them escapes. No cgroup is used: moving a program
 * into one changes what it may use.
 */
#ifndef TACHO_COLLECT_TREE_H
#define TACHO_COLLECT_TREE_H

#include "base/vec.h"

#include <stdbool.h>
#include <sys/types.h>

typedef VEC(pid_t) pid_list;

void tree_adopt(void);

/* Reaps adopted processes that have ended, so that they do not stay as zombies. Stops at the child
 * @own, which is left to its owner. */
void tree_reap(pid_t own);

/* Returns false for zombies, too. */
bool task_is_alive(pid_t task);

/* Continues a process of ours that was stopped. Returns true if a debugger holds it, so that it
 * cannot go on. */
bool task_continue(pid_t task);

/* Lists all processes below @root, without @root. */
void tree_list(pid_t root, pid_list *ret);

/*
 * Ends all processes below @root, and @root if @itself: by SIGTERM, and those that still run after
 * two seconds by SIGKILL, after all of them were stopped, so that none forks meanwhile. What becomes our
 * child and has ended is reaped while others still end; but not @root and @own (0: none), which are left
 * to their owner.
 */
void tree_end(pid_t root, bool itself, pid_t own);
/* The same, but by SIGKILL at once. */
void tree_kill(pid_t root, bool itself, pid_t own);

/* Ends all processes with the variable @mark ("NAME=VALUE") in their environment, and what is below
 * them, wherever they are; but not us, nor what we descend from. */
void tree_end_marked(const char *mark);

#endif
