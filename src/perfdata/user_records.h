/* Internal to the reader: the records that tools write among the kernel's. */
#ifndef TACHO_PERFDATA_USER_RECORDS_H
#define TACHO_PERFDATA_USER_RECORDS_H

#include "perfdata/reader.h"

/* Takes from the record what belongs to the header or holds other records. False: stop. */
bool user_record(struct perfdata *p, const unsigned char *bytes, uint64_t file_offset,
		 uint64_t *ret_skip);

/* Bytes behind a record that asked for them. */
void user_follow(struct perfdata *p, const unsigned char *bytes, size_t size);

#endif
