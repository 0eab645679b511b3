/*
 * Names as the programmer wrote them: C++, Rust (both manglings), D. Names are hostile: those that
 * are too long stay as they are. Any thread.
 */
#ifndef TACHO_SYMBOL_DEMANGLE_H
#define TACHO_SYMBOL_DEMANGLE_H

#include "base/buf.h"

#define DEMANGLE_INPUT_MAX  4096
#define DEMANGLE_OUTPUT_MAX 65536

/* True and the name appended, as perf prints it (without parameters' types: "ns::f<int>"); false if
 * it is not a mangled name. */
bool demangle(const char *name, struct buf *out);

#endif
