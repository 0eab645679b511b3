/* Why /proc/kallsyms shows this process no addresses, and what would change that. Any thread. */
#ifndef TACHO_SYMBOL_KERNEL_HIDDEN_H
#define TACHO_SYMBOL_KERNEL_HIDDEN_H

#include <stdbool.h>

/*
 * Returns what to do, as the rest of a sentence: "run as root, or: sysctl kernel.kptr_restrict=0".
 * The caller frees it. @proc: where procfs is mounted.
 */
char *kernel_hidden_remedy(const char *proc);

/* The same for given values of kptr_restrict and perf_event_paranoid. */
char *kernel_hidden_remedy_for(long long restrict_level, long long paranoid, bool root);

/* The message for a recording without the kernel's addresses; must not be freed. */
extern const char kernel_hidden_when_recorded[];

#endif
