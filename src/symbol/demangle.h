/*
 * Demangles names of C++, Rust (both manglings) and D. Names are not trusted: those that are too
 * long, mangled or demangled, stay as they are. Any thread.
 */
#ifndef TACHO_SYMBOL_DEMANGLE_H
#define TACHO_SYMBOL_DEMANGLE_H

#include "base/buf.h"

#define DEMANGLE_INPUT_MAX  4096
#define DEMANGLE_OUTPUT_MAX 65536

/* Appends the demangled name as perf prints it (without parameter types: "ns::f<int>"). Returns
 * false and appends nothing if @name is not a mangled name or is too long. */
bool demangle(const char *name, struct buf *out);

#endif
