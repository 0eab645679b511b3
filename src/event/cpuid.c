#include "event/vendor.h"
#include "base/number.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CPUINFO_BYTES_MAX (4 << 20)

void cpuid_text(const struct roots *roots, char *text, size_t size)
{
	CLEANUP(free_ptr) char *path = xasprintf("%s/cpuinfo", roots->proc);
	CLEANUP(free_ptr) char *info = NULL;
	char vendor[64], family[16], model[16], stepping[16], midr_text[32];
	uint64_t midr;

	text[0] = '\0';
	if (fs_line(midr_text, sizeof(midr_text),
		    "%s/devices/system/cpu/cpu0/regs/identification/midr_el1", roots->sys) &&
	    parse_u64(midr_text, &midr)) {
		/* Clear variant and revision: a mapfile entry is for all of them. */
		snprintf(text, size, "0x%016llx", (unsigned long long)(midr & ~0xf0000full));
		return;
	}
	if (fs_read(path, CPUINFO_BYTES_MAX, &info) < 0)
		return;
	if (text_field(info, "vendor_id", vendor, sizeof(vendor)) &&
	    text_field(info, "cpu family", family, sizeof(family)) &&
	    text_field(info, "model", model, sizeof(model)) &&
	    text_field(info, "stepping", stepping, sizeof(stepping)))
		snprintf(text, size, "%s-%d-%X-%X", vendor, atoi(family), (unsigned)atoi(model),
			 (unsigned)atoi(stepping));
}
