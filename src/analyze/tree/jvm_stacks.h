/*
 * Stacks of Java virtual machines (HotSpot): are they whole, and where does the program begin?
 *
 * A thread of a JVM begins in libjvm.so, so a stack whose leaf is Java code and which has no frame of
 * libjvm.so was cut. That is what happens without -XX:+PreserveFramePointer. Methods that are not
 * compiled run in one piece of code that all maps call "Interpreter"; of these main() can be told
 * by its caller: the launcher's JavaMain calls it, and nothing else, by jni_CallStaticVoidMethod.
 *
 * Pure functions; the profile is complete and named.
 */
#ifndef TACHO_ANALYZE_TREE_JVM_STACKS_H
#define TACHO_ANALYZE_TREE_JVM_STACKS_H

#include "profile/profile.h"

/* The name that an interpreted main() is given. */
#define JVM_MAIN_NAME "main [interpreted]"

/* Names it in all stacks; returns in how many. Once, at the end: stacks are changed in place. */
size_t jvm_name_main(struct profile *p);

/* The same for one stack as names, the outermost first: its place, or -1. */
long jvm_find_main(const char *const *names, size_t count);

struct jvm_stacks {
	uint32_t pid;          /* the process with most of them */
	uint64_t java_samples; /* of it: with a leaf in Java code */
	uint64_t cut;          /* those whose stacks do not reach the thread's beginning */
};

/* Of the JVM that is cut most; false: no JVM has enough of them to be spoken of. */
bool jvm_stacks_cut(const struct profile *p, struct jvm_stacks *ret);

/* A sentence for the user with the option that helps, or NULL. The caller frees it. */
char *jvm_stacks_problem(const struct profile *p);

#endif
