/*
 * Ending a program with everything that it has started. A process that calls tree_adopt() is given
 * the children of those below it that end, so nothing gets away from it. No cgroup is used: moving
 * a program into one changes what it may use.
 */
#ifndef TACHO_COLLECT_TREE_H
#define TACHO_COLLECT_TREE_H

#include <stdbool.h>
#include <sys/types.h>

void tree_adopt(void);

/* Takes note of adopted processes that have ended, so that they do not stay as zombies; children
 * with the number @own are left to their owner. */
void tree_reap(pid_t own);

/* Ends all processes below @root, and itself if asked for: by SIGTERM, and those that do not
 * listen for two seconds by SIGKILL. */
void tree_end(pid_t root, bool itself);

#endif
