/* A form: the first byte says how it is cut into pieces; however that is, the file must be the same. */
#include "net/multipart.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int keep(void *ctx, const void *bytes, size_t size, struct err *e)
{
	(void)e;
	buf_add_mem(ctx, bytes, size);
	return 0;
}

static int read_form(const uint8_t *data, size_t size, size_t step, struct buf *file)
{
	struct multipart m;
	int err = 0;

	multipart_begin(&m, "XX", keep, file);
	for (size_t at = 0; at < size && !err; at += step) {
		err = multipart_feed(&m, data + at, size - at < step ? size - at : step, NULL);
		if (m.held.len > MULTIPART_HEAD_BYTES_MAX + step + sizeof(m.delimiter))
			abort();
	}
	if (!err)
		err = multipart_finish(&m, NULL);
	multipart_release(&m);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = {}, pieces = {};
	int err, pieces_err;

	if (!size)
		return 0;
	err = read_form(data + 1, size - 1, size, &whole);
	pieces_err = read_form(data + 1, size - 1, data[0] + 1u, &pieces);
	/* A head that is too long is noticed earlier or later, all else is the same. */
	if (!err && !pieces_err &&
	    (whole.len != pieces.len || (whole.len && memcmp(whole.s, pieces.s, whole.len))))
		abort();
	if (!err != !pieces_err && size < MULTIPART_HEAD_BYTES_MAX)
		abort();
	buf_release(&whole);
	buf_release(&pieces);
	return 0;
}
