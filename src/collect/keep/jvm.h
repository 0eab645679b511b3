/*
 * Java virtual machines: they name the code that they have made only if they are told to, and their
 * stacks can be followed only if they keep frame pointers.
 *
 * Those that we start are told by the environment. Those that run are asked for the names by the
 * attach protocol of HotSpot: a socket in their /tmp, opened by them when a certain file is there
 * and SIGQUIT comes. They listen to nobody but their own user, so a child of ours asks.
 *
 * One thread.
 */
#ifndef TACHO_COLLECT_KEEP_JVM_H
#define TACHO_COLLECT_KEEP_JVM_H

#include "base/fs.h"

#include <sys/types.h>

/* That many are asked at most; they are all asked at the same time, */
#define JVM_ASKED_MAX 64
/* and this is how long we wait for all of them. */
#define JVM_PATIENCE_MS 3000

/* What a JVM that we start is told; it prints it, too. */
#define JVM_OPTIONS                                                                                \
	"-XX:+IgnoreUnrecognizedVMOptions -XX:+PreserveFramePointer "                              \
	"-XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"

/*
 * Puts them into JAVA_TOOL_OPTIONS of our own environment, before what is there: the user's win.
 * Unknown options would keep a JVM from starting, so the first of them makes it ignore these.
 */
void jvm_set_environment(void);

/* Whether a mapping of this path makes a process a JVM. */
bool jvm_is_library(const char *path);

/*
 * Has each write its perf map, as far as it is permitted and within the patience. Processes that are
 * gone or no JVMs are passed over. Sentences about those that gave none are added to @notes.
 * Returns how many have done so.
 */
size_t jvm_ask_for_maps(const pid_t *pids, size_t count, strvec *notes);

#endif
