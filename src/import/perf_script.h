/*
 * What perf script prints, with its default fields or others: a line that begins a sample,
 *
 *	comm  pid/tid [cpu] seconds:  period event:
 *
 * of which everything but the name and a number may be missing, then its frames from the innermost,
 *
 *		address symbol+0xoffset (module)
 *
 * and an empty line. A sample without callers has its frame behind the event. Frames are kept by
 * symbol and module, not by address. A name may contain blanks and numbers: the last number before
 * the CPU or the time is the thread.
 */
#ifndef TACHO_IMPORT_PERF_SCRIPT_H
#define TACHO_IMPORT_PERF_SCRIPT_H

#include "import/text.h"

/* It has a line that begins a sample and, if more follows, something that can follow. */
bool perf_script_detect(const char *text, size_t len);

/* A line that begins a sample. False: it is none. *ret_rest is what stands behind the event. */
bool perf_script_header(const char *line, size_t len, struct text_sample *ret,
			const char **ret_rest);

#endif
