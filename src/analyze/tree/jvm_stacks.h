/*
 * Stacks of Java virtual machines (HotSpot): are they whole, and where does the program begin?
 *
 * A thread of a JVM begins in libjvm.so, so a stack with Java code as its leaf and no frame of
 * libjvm.so was cut. That happens without -XX:+PreserveFramePointer. Methods that are not compiled
 * run in one piece of code that all maps call "Interpreter". Among those, main() is recognized by
 * its caller: the launcher's JavaMain calls only main() by jni_CallStaticVoidMethod.
 *
 * Pure functions; the profile is complete and named.
 */
#ifndef TACHO_ANALYZE_TREE_JVM_STACKS_H
#define TACHO_ANALYZE_TREE_JVM_STACKS_H

#include "profile/profile.h"

/* The name that an interpreted main() is given. */
#define JVM_MAIN_NAME "main [interpreted]"

/* Names main() in all stacks; returns in how many. Call it once, when the profile is complete:
 * stacks are changed in place. */
size_t jvm_name_main(struct profile *p);

/* Returns the index of main() in a stack of names, the outermost first, or -1. */
long jvm_find_main(const char *const *names, size_t count);

struct jvm_stacks {
	uint32_t pid;          /* the process with the most cut stacks */
	uint64_t java_samples; /* its samples with a leaf in Java code */
	uint64_t cut;          /* those of them whose stacks do not reach the thread's start */
};

/* Finds the JVM with the most cut stacks. Returns false if none has any, or too few samples. */
bool jvm_stacks_cut(const struct profile *p, struct jvm_stacks *ret);

/* Returns a sentence for the user with the option that helps, or NULL. The caller frees it. */
char *jvm_stacks_problem(const struct profile *p);

#endif
