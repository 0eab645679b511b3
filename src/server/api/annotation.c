#include "server/api/annotation.h"

#include "export/annotate_json.h"

static const char not_kept[] =
	"The code of this function was not stored. At the end of a run tacho "
	"stores code only for the functions with the most samples.";

static const char nameless[] =
	"There is no code to show: this entry sums up all addresses of the file "
	"that have no symbol.";

int annotation_answer(const struct leaf_weights *l, event_id event, function_id function,
		      const struct buf *bytes, struct buf *out, struct err *e)
{
	struct annotation a;
	struct code code;

	if (bytes->len) {
		int err = code_decode(bytes->s, bytes->len, &code, e);

		if (err)
			return err;
		leaf_weights_annotate(l, event, function, &code, NULL, &a);
		code_release(&code);
	} else {
		leaf_weights_annotate(l, event, function, NULL,
				      function_of(l->p, function)->named ? not_kept : nameless, &a);
	}
	annotate_json_document(&a, 1, LOCAL_PERIOD, false, out);
	annotation_release(&a);
	return 0;
}
