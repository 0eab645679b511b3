#include "export/exporter.h"

#include <string.h>

const struct exporter *const exporters[] = {&export_svg, &export_folded, &export_json, NULL};

const struct exporter *exporter_find(const char *name)
{
	for (size_t i = 0; exporters[i]; i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}
