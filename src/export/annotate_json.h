/* An annotation as a JSON object; docs/FORMATS.md has its keys. Pure; any thread. */
#ifndef TACHO_EXPORT_ANNOTATE_JSON_H
#define TACHO_EXPORT_ANNOTATE_JSON_H

#include "analyze/annotate/annotate.h"
#include "base/json.h"

void annotate_json(const struct annotation *a, enum percent_type percent, bool no_source,
		   struct json *out);

/* Some functions of an event, with what all of it has: one object and a newline. */
void annotate_json_document(const struct annotation *all, size_t count, enum percent_type percent,
			    bool no_source, struct buf *out);

#endif
