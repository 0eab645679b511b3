#include "symbol/dwarf/state.h"

enum { VARIES = -1, ADDRESS = -2, OFFSET = -3, REF_ADDR = -4 };

/* Sizes of forms; one that is not here cannot be read. */
static const int8_t form_sizes[] = {
	[FORM_ADDR] = ADDRESS,
	[FORM_BLOCK2] = VARIES,
	[FORM_BLOCK4] = VARIES,
	[FORM_DATA2] = 2,
	[FORM_DATA4] = 4,
	[FORM_DATA8] = 8,
	[FORM_STRING] = VARIES,
	[FORM_BLOCK] = VARIES,
	[FORM_BLOCK1] = VARIES,
	[FORM_DATA1] = 1,
	[FORM_FLAG] = 1,
	[FORM_SDATA] = VARIES,
	[FORM_STRP] = OFFSET,
	[FORM_UDATA] = VARIES,
	[FORM_REF_ADDR] = REF_ADDR,
	[FORM_REF1] = 1,
	[FORM_REF2] = 2,
	[FORM_REF4] = 4,
	[FORM_REF8] = 8,
	[FORM_REF_UDATA] = VARIES,
	[FORM_INDIRECT] = VARIES,
	[FORM_SEC_OFFSET] = OFFSET,
	[FORM_EXPRLOC] = VARIES,
	[FORM_FLAG_PRESENT] = 0,
	[FORM_STRX] = VARIES,
	[FORM_ADDRX] = VARIES,
	[FORM_REF_SUP4] = 4,
	[FORM_STRP_SUP] = OFFSET,
	[FORM_DATA16] = 16,
	[FORM_LINE_STRP] = OFFSET,
	[FORM_REF_SIG8] = 8,
	[FORM_IMPLICIT_CONST] = 0,
	[FORM_LOCLISTX] = VARIES,
	[FORM_RNGLISTX] = VARIES,
	[FORM_REF_SUP8] = 8,
	[FORM_STRX1] = 1,
	[FORM_STRX2] = 2,
	[FORM_STRX3] = 3,
	[FORM_STRX4] = 4,
	[FORM_ADDRX1] = 1,
	[FORM_ADDRX2] = 2,
	[FORM_ADDRX3] = 3,
	[FORM_ADDRX4] = 4,
};

static int form_size(uint16_t form)
{
	if (form < ARRAY_LEN(form_sizes))
		return form_sizes[form];
	return form == FORM_GNU_REF_ALT || form == FORM_GNU_STRP_ALT ? OFFSET : VARIES;
}

void form_measure(struct abbrev *a, uint16_t form)
{
	int size = form_size(form);

	if (size >= 0)
		a->fixed_bytes += (uint16_t)size;
	a->addresses += size == ADDRESS;
	a->offsets += size == OFFSET;
	a->ref_addrs += size == REF_ADDR;
	/* Unknown forms also have size 0 in the table: `varies` makes die_skip() read them and
	 * fail. */
	if (size == VARIES || (!size && form != FORM_FLAG_PRESENT && form != FORM_IMPLICIT_CONST))
		a->varies = true;
}

static unsigned ref_addr_size(const struct unit *u)
{
	return u->version < 3 ? u->address_size : u->offset_size;
}

/* Forms whose size is in the data. */
static bool read_varying(struct reader *r, uint16_t form, struct value *v)
{
	switch (form) {
	case FORM_BLOCK1:
		read_skip(r, v->u = read_u8(r));
		break;
	case FORM_BLOCK2:
		read_skip(r, v->u = read_u16(r));
		break;
	case FORM_BLOCK4:
		read_skip(r, v->u = read_u32(r));
		break;
	case FORM_BLOCK:
	case FORM_EXPRLOC:
		read_skip(r, v->u = read_uleb(r));
		break;
	case FORM_STRING:
		v->u = (uintptr_t)read_string(r);
		break;
	case FORM_SDATA:
		v->u = (uint64_t)read_sleb(r);
		break;
	case FORM_UDATA:
	case FORM_REF_UDATA:
	case FORM_STRX:
	case FORM_ADDRX:
	case FORM_LOCLISTX:
	case FORM_RNGLISTX:
	case FORM_GNU_ADDR_INDEX:
	case FORM_GNU_STR_INDEX:
		v->u = read_uleb(r);
		break;
	default: /* unknown size: nothing after it can be read */
		reader_fail(r);
	}
	return !r->failed;
}

bool form_read(struct reader *r, const struct unit *u, uint16_t form, uint32_t implicit,
	       struct value *v)
{
	int size;

	if (form == FORM_INDIRECT) {
		uint64_t real = read_uleb(r);

		/* The real form must not be indirect again, and has no place for a constant. */
		if (real == FORM_INDIRECT || real == FORM_IMPLICIT_CONST || real > UINT16_MAX)
			reader_fail(r);
		form = (uint16_t)real;
	}
	v->form = form;
	size = form_size(form);
	switch (size) {
	case VARIES:
		return read_varying(r, form, v);
	case ADDRESS:
		v->u = read_sized(r, u->address_size);
		break;
	case OFFSET:
		v->u = read_sized(r, u->offset_size);
		break;
	case REF_ADDR:
		v->u = read_sized(r, ref_addr_size(u));
		break;
	case 16:
		v->u = 0;
		read_skip(r, 16);
		break;
	case 0:
		v->u = implicit;
		if (form == FORM_FLAG_PRESENT)
			v->u = 1;
		else if (form != FORM_IMPLICIT_CONST)
			reader_fail(r);
		break;
	default:
		v->u = read_sized(r, (unsigned)size);
	}
	return !r->failed;
}

void die_read(struct reader *r, const struct unit *u, const struct abbrevs *table,
	      const struct abbrev *a, struct die *die)
{
	const struct abbrev_attribute *at;
	struct value unwanted;

	die->present = 0;
	if (!a->count)
		return;
	at = table->attributes.items + a->first;
	for (unsigned i = 0; i < a->count && !r->failed; i++, at++) {
		bool wanted = at->slot != DIE_IGNORED;

		if (form_read(r, u, at->form, at->implicit,
			      wanted ? &die->values[at->slot] : &unwanted) &&
		    wanted)
			die->present |= 1u << at->slot;
	}
}

void die_skip(struct reader *r, const struct unit *u, const struct abbrevs *table,
	      const struct abbrev *a)
{
	const struct abbrev_attribute *at;
	struct value unwanted;

	if (!a->varies) {
		read_skip(r, a->fixed_bytes + (uint64_t)a->addresses * u->address_size +
				     (uint64_t)a->offsets * u->offset_size +
				     (uint64_t)a->ref_addrs * ref_addr_size(u));
		return;
	}
	at = table->attributes.items + a->first;
	for (unsigned i = 0; i < a->count && !r->failed; i++, at++)
		form_read(r, u, at->form, at->implicit, &unwanted);
}

static const char *string_at(struct dwarf_bytes section, uint64_t offset)
{
	struct reader r = reader_at(section, offset, false);

	return r.failed ? NULL : read_string(&r);
}

static const char *string_of_index(struct dwarf *d, const struct unit *u, uint64_t index)
{
	const struct dwarf_sections *s = &d->sections;
	struct reader r;
	uint64_t offset;

	if (u->alt || index > s->str_offsets.size / u->offset_size)
		return NULL;
	r = reader_at(s->str_offsets, u->str_offsets_base, s->swap);
	read_skip(&r, index * u->offset_size);
	offset = read_sized(&r, u->offset_size);
	return r.failed ? NULL : string_at(s->str, offset);
}

const char *value_string(struct dwarf *d, const struct unit *u, const struct value *v)
{
	switch (v->form) {
	case FORM_STRING:
		return (const char *)(uintptr_t)v->u;
	case FORM_STRP:
		return string_at(u->alt ? d->sections.alt_str : d->sections.str, v->u);
	case FORM_LINE_STRP:
		return u->alt ? NULL : string_at(d->sections.line_str, v->u);
	case FORM_GNU_STRP_ALT:
	case FORM_STRP_SUP:
		return string_at(d->sections.alt_str, v->u);
	case FORM_STRX:
	case FORM_STRX1:
	case FORM_STRX2:
	case FORM_STRX3:
	case FORM_STRX4:
	case FORM_GNU_STR_INDEX:
		return string_of_index(d, u, v->u);
	default:
		return NULL;
	}
}

bool unit_address(struct dwarf *d, const struct unit *u, uint64_t index, uint64_t *ret)
{
	struct reader r;

	if (!u->address_size || index > d->sections.addr.size / u->address_size)
		return false;
	r = reader_at(d->sections.addr, u->addr_base, d->sections.swap);
	read_skip(&r, index * u->address_size);
	*ret = read_sized(&r, u->address_size);
	return !r.failed;
}

bool value_address(struct dwarf *d, const struct unit *u, const struct value *v, uint64_t *ret)
{
	switch (v->form) {
	case FORM_ADDR:
		*ret = v->u;
		return true;
	case FORM_ADDRX:
	case FORM_ADDRX1:
	case FORM_ADDRX2:
	case FORM_ADDRX3:
	case FORM_ADDRX4:
	case FORM_GNU_ADDR_INDEX:
		return unit_address(d, u, v->u, ret);
	default:
		return false;
	}
}

bool value_reference(const struct unit *u, const struct value *v, bool *ret_alt, uint64_t *ret)
{
	*ret_alt = u->alt;
	*ret = v->u;
	switch (v->form) {
	case FORM_REF1:
	case FORM_REF2:
	case FORM_REF4:
	case FORM_REF8:
	case FORM_REF_UDATA:
		if (v->u >= u->end - u->offset)
			return false;
		*ret = u->offset + v->u;
		return true;
	case FORM_REF_ADDR:
		return true;
	case FORM_GNU_REF_ALT:
	case FORM_REF_SUP4:
	case FORM_REF_SUP8:
		*ret_alt = true;
		return true;
	default: /* FORM_REF_SIG8 leads to types only */
		return false;
	}
}
