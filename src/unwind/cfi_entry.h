/* Internal to call frame information: the entries of a section. CIEs hold what FDEs share. */
#ifndef TACHO_UNWIND_CFI_ENTRY_H
#define TACHO_UNWIND_CFI_ENTRY_H

#include "base/cursor.h"
#include "unwind/cfi.h"

#define CFI_AUGMENTATION_MAX 16u /* letters; real ones have five */

/* A section, and what pointers in it may be relative to. */
struct cfi_bytes {
	struct cfi_section section;
	uint64_t text_address, data_address;
	uint8_t address_size;
	bool swap, is_eh;
};

/* Common to many entries: the first part of their programs, encodings, alignments. */
struct cfi_cie {
	struct cursor program;
	uint64_t code_align;
	int64_t data_align;
	uint8_t address_size, encoding, return_register;
	bool has_length; /* the augmentation data of its FDEs has one ('z') */
	bool signal_frame;
};

struct cfi_fde {
	uint64_t start, end;
	struct cfi_cie cie;
	struct cursor program;
};

enum cfi_kind {
	CFI_BROKEN, /* nothing behind it can be trusted */
	CFI_END_MARK,
	CFI_CIE,
	CFI_FDE,
};

/* The frame of an entry: where its body is, and where the next entry begins. */
struct cfi_entry {
	enum cfi_kind kind;
	uint64_t body, body_size, next;
	uint64_t cie; /* of an FDE: offset of its CIE */
};

struct cfi_entry cfi_entry_at(const struct cfi_bytes *b, uint64_t offset);
bool cfi_parse_cie(const struct cfi_bytes *b, const struct cfi_entry *entry, struct cfi_cie *ret);
/* @cie is that of the entry. */
bool cfi_parse_fde(const struct cfi_bytes *b, const struct cfi_entry *entry,
		   const struct cfi_cie *cie, struct cfi_fde *ret);
/* Both, for the FDE at an offset. */
bool cfi_fde_at(const struct cfi_bytes *b, uint64_t offset, struct cfi_fde *ret);

/* A pointer at the cursor, whose data[0] is at @address. False: omitted, or it cannot be known. */
bool cfi_pointer(const struct cfi_bytes *b, struct cursor *c, uint64_t address, uint8_t encoding,
		 uint8_t address_size, uint64_t function, uint64_t *ret);

/* Runs the program of an entry up to @address. */
bool cfi_run(const struct cfi_bytes *b, const struct cfi_fde *fde, uint64_t address,
	     struct cfi_row *ret);

#endif
