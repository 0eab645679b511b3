/*
 * Images: the code behind mappings, each once, and what they are in the eyes of the symbol layer.
 * Internal to the history and to naming.
 */
#ifndef TACHO_RESOLVE_IMAGE_H
#define TACHO_RESOLVE_IMAGE_H

#include "perfdata/facts.h"
#include "resolve/history.h"

/* The number of the image that a record maps; 0: there is no room for more. */
uint32_t image_of_mmap(struct history *h, const struct record *r);
/* Stands for a kernel that no record tells of. */
uint32_t image_of_hidden_kernel(struct history *h);
uint32_t image_of_ksymbol(struct history *h, const struct ksymbol_view *k);

/* Its symbols have the addresses of the running machine, not those of a file. */
bool image_has_runtime_addresses(const struct image *i);

void image_find_build_id(const struct perfdata_facts *facts, struct module_request *request);

void images_release(struct history *h);

/* The image's place in code for a runtime address: what a frame keeps until it is named. */
static inline uint64_t mapping_offset(const struct mapping *m, uint64_t runtime_address)
{
	return runtime_address - m->start + m->offset;
}

#endif
