/*
 * Java virtual machines (JVMs): they write names of the code that they compile only if told to, and
 * their stacks can be followed only if they keep frame pointers.
 *
 * JVMs that we start are told by the environment. Running ones are asked for the names by the
 * attach protocol of HotSpot: a socket in their /tmp, which they open on SIGQUIT if a certain file
 * exists. They answer only their own user, so a child of ours becomes that user and asks.
 *
 * Any process can pretend to be a JVM, and its user may stop or kill our child, so nothing is believed
 * of either: the child has no file of ours open, and is ended if it takes too long.
 *
 * One thread.
 */
#ifndef TACHO_COLLECT_KEEP_JVM_H
#define TACHO_COLLECT_KEEP_JVM_H

#include "base/clock.h"
#include "base/fs.h"

#include <sys/types.h>

/* At most this many JVMs are asked, all at the same time. */
#define JVM_ASKED_MAX 64
/* How long we wait for all of their answers. */
#define JVM_PATIENCE_MS 3000
/* How long we wait for children to die after that: of a file system that does not answer, a process
 * cannot be freed. */
#define JVM_DEATH_MS 1000

/* Options for a JVM that we start; the JVM prints them, too. */
#define JVM_OPTIONS                                                                                \
	"-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "                              \
	"-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"

/*
 * Puts JVM_OPTIONS into JAVA_TOOL_OPTIONS of our own environment, before the user's options, which
 * win. Unknown options would keep a JVM from starting: the first one makes it ignore these.
 */
void jvm_set_environment(void);

/* Whether a mapping of this path makes a process a JVM. */
bool jvm_is_library(const char *path);

/*
 * Asks each JVM to write its perf map, as far as that is permitted, and waits at most
 * JVM_PATIENCE_MS + JVM_DEATH_MS by @clock. Skips processes that are gone or no JVMs. Adds a note about each JVM
 * that wrote none to @notes. Returns how many have written one.
 */
size_t jvm_ask_for_maps(const pid_t *pids, size_t count, const struct clock *clock, strvec *notes);

#endif
