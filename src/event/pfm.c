#include "event/pfm.h"
#include "base/library.h"
#include "base/text.h"

#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* The functions of libpfm4 that we use, looked up when first needed. */
struct pfm_library {
	int (*initialize)(void);
	void (*terminate)(void);
	int (*get_pmu_info)(pfm_pmu_t, pfm_pmu_info_t *);
	int (*get_event_next)(int);
	int (*get_event_info)(int, pfm_os_t, pfm_event_info_t *);
	int (*get_event_attr_info)(int, int, pfm_os_t, pfm_event_attr_info_t *);
	int (*get_os_event_encoding)(const char *, int, pfm_os_t, void *);
};

#ifdef TACHO_STATIC
static bool load(struct pfm_library *lib)
{
	*lib = (struct pfm_library){
		pfm_initialize,
		pfm_terminate,
		pfm_get_pmu_info,
		pfm_get_event_next,
		pfm_get_event_info,
		pfm_get_event_attr_info,
		pfm_get_os_event_encoding,
	};
	return true;
}
#else
static bool load(struct pfm_library *lib)
{
	static const char *const names[] = {
		"pfm_initialize",
		"pfm_terminate",
		"pfm_get_pmu_info",
		"pfm_get_event_next",
		"pfm_get_event_info",
		"pfm_get_event_attr_info",
		"pfm_get_os_event_encoding",
	};

	return !LIBRARY_LOAD("libpfm.so.4", names, lib);
}
#endif

/* libpfm4 keeps its state in global variables, so only one thread at a time may use it. */
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

static void end(const struct pfm_library *lib)
{
	lib->terminate();
	pthread_mutex_unlock(&one_at_a_time);
}

static bool begin(struct pfm_library *lib)
{
	if (!load(lib))
		return false;
	pthread_mutex_lock(&one_at_a_time);
	if (lib->initialize() == PFM_SUCCESS)
		return true;
	pthread_mutex_unlock(&one_at_a_time);
	return false;
}

/* With LIBPFM_ENCODE_INACTIVE in the environment libpfm4 also encodes events of other CPUs. */
static bool is_present(const struct pfm_library *lib, int event)
{
	pfm_event_info_t info = {.size = sizeof(info)};
	pfm_pmu_info_t pmu = {.size = sizeof(pmu)};

	return !lib->get_event_info(event, PFM_OS_NONE, &info) &&
	       !lib->get_pmu_info(info.pmu, &pmu) && pmu.is_present;
}

bool pfm_encode(const char *text, struct perf_event_attr *attr)
{
	struct pfm_library lib;
	pfm_perf_encode_arg_t arg = {.attr = attr, .size = sizeof(arg)};
	bool known;

	if (!begin(&lib))
		return false;
	known = lib.get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT, &arg) ==
			PFM_SUCCESS &&
		is_present(&lib, arg.idx);
	end(&lib);
	/* libpfm4 also encodes kernel events and tracepoints; tacho looks those up itself. */
	return known && attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_TRACEPOINT;
}

/* Names that Intel and the kernel use for what libpfm4 abbreviates. */
static const char *const uarch_aliases[][2] = {
	{"nehalem", "nhm"},
	{"nehalemep", "nhm"},
	{"nehalemex", "nhm_ex"},
	{"westmere", "wsm"},
	{"westmereep-sp", "wsm"},
	{"westmereep-dp", "wsm_dp"},
	{"westmereex", "wsm_dp"},
	{"sandybridge", "snb"},
	{"jaketown", "snb_ep"},
	{"sandybridge-ep", "snb_ep"},
	{"ivybridge", "ivb"},
	{"ivytown", "ivb_ep"},
	{"haswell", "hsw"},
	{"haswellx", "hsw_ep"},
	{"broadwell", "bdw"},
	{"broadwellx", "bdw_ep"},
	{"skylake", "skl"},
	{"skylakex", "skx"},
	{"cascadelakex", "clx"},
	{"cascadelake", "clx"},
	{"icelake", "icl"},
	{"icelakex", "icx"},
	{"sapphirerapids", "spr"},
	{"emeraldrapids", "emr"},
	{"tigerlake", "tgl"},
	{"alderlake", "adl_glc"},
	{"alderlaken", "adl_grt"},
	{"silvermont", "slm"},
	{"goldmont", "glm"},
	{"goldmontplus", "glp"},
	{"tremont", "tmt"},
	{"bonnell", "atom"},
	{"knightslanding", "knl"},
	{"knightsmill", "knm"},
	{"amdzen1", "amd64_fam17h_zen1"},
	{"amdzen2", "amd64_fam17h_zen2"},
	{"amdzen3", "amd64_fam19h_zen3"},
	{"amdzen4", "amd64_fam19h_zen4"},
	{"amdzen5", "amd64_fam1ah_zen5"},
	{"neoverse-n1", "arm_n1"},
	{"neoverse-n2", "arm_n2"},
	{"neoverse-v1", "arm_v1"},
	{"neoverse-v2", "arm_v2"},
};

bool pfm_uarch_matches(const char *uarch, const char *pmu)
{
	size_t len = strlen(uarch), pmu_len = strlen(pmu);

	if (text_glob(uarch, pmu))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(uarch_aliases); i++)
		if (!strcasecmp(uarch_aliases[i][0], uarch) && !strcmp(uarch_aliases[i][1], pmu))
			return true;
	/* "zen4" means amd64_fam19h_zen4: the last word of a name is enough. */
	return pmu_len > len && pmu[pmu_len - len - 1] == '_' &&
	       !strcasecmp(pmu + pmu_len - len, uarch);
}

#define MASKS_MAX 512

static size_t read_masks(const struct pfm_library *lib, int event, int count,
			 struct catalog_mask *masks)
{
	size_t n = 0;

	for (int i = 0; i < count && n < MASKS_MAX; i++) {
		pfm_event_attr_info_t info = {.size = sizeof(info)};

		if (lib->get_event_attr_info(event, i, PFM_OS_NONE, &info) ||
		    info.type != PFM_ATTR_UMASK)
			continue;
		masks[n++] = (struct catalog_mask){.name = info.name,
						   .description = info.desc,
						   .code = info.code,
						   .is_default = info.is_dfl};
	}
	return n;
}

static bool visit_pmu(const struct pfm_library *lib, const pfm_pmu_info_t *pmu, bool with_masks,
		      pfm_visitor visit, void *ctx)
{
	struct catalog_mask masks[MASKS_MAX];

	for (int i = pmu->first_event; i != -1; i = lib->get_event_next(i)) {
		pfm_event_info_t info = {.size = sizeof(info)};
		struct pfm_event event = {.pmu = pmu->name, .pmu_description = pmu->desc};

		if (lib->get_event_info(i, PFM_OS_NONE, &info))
			continue;
		event.name = info.name;
		event.description = info.desc;
		event.code = info.code;
		event.present = pmu->is_present;
		event.uncore = pmu->type == PFM_PMU_TYPE_UNCORE;
		event.masks = masks;
		event.mask_count = with_masks ? read_masks(lib, i, info.nattrs, masks) : 0;
		if (!visit(ctx, &event))
			return false;
	}
	return true;
}

/* Skips libpfm4's copies of the kernel's event tables: those are not machine events. */
static bool next_pmu(const struct pfm_library *lib, int *at, pfm_pmu_info_t *info)
{
	while (++*at < PFM_PMU_MAX) {
		*info = (pfm_pmu_info_t){.size = sizeof(*info)};
		if (!lib->get_pmu_info((pfm_pmu_t)*at, info) &&
		    info->type != PFM_PMU_TYPE_OS_GENERIC)
			return true;
	}
	return false;
}

size_t pfm_visit(const char *uarch, bool with_masks, pfm_visitor visit, void *ctx)
{
	struct pfm_library lib;
	pfm_pmu_info_t pmu;
	size_t matched = 0;

	if (!begin(&lib))
		return 0;
	for (int i = -1; next_pmu(&lib, &i, &pmu);) {
		bool wanted = !uarch                  ? pmu.is_present
			      : !strcmp(uarch, "all") ? true
						      : pfm_uarch_matches(uarch, pmu.name);

		if (!wanted)
			continue;
		matched++;
		if (!visit_pmu(&lib, &pmu, with_masks, visit, ctx))
			break;
	}
	end(&lib);
	return matched;
}

void pfm_pmus(uarch_visitor visit, void *ctx)
{
	struct pfm_library lib;
	pfm_pmu_info_t pmu;

	if (!begin(&lib))
		return;
	for (int i = -1; next_pmu(&lib, &i, &pmu);)
		visit(ctx, pmu.name, pmu.desc, pmu.is_present);
	end(&lib);
}
