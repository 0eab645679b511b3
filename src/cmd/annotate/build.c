#include "cmd/annotate/build.h"
#include "analyze/annotate/code.h"

void annotate_builder_init(struct annotate_builder *b, const struct profile_input *in,
			   const struct code_options *o)
{
	struct code_options options = *o;

	if (in->file && in->file->facts.arch && *in->file->facts.arch)
		options.arch = in->file->facts.arch;
	b->in = in;
	code_builder_init(&b->code, &in->profile, in->modules, &options);
}

void annotate_builder_release(struct annotate_builder *b)
{
	code_builder_release(&b->code);
}

void annotate_function(struct annotate_builder *b, event_id event, function_id function,
		       struct annotation *a)
{
	const struct profile *p = &b->in->profile;
	struct code code;

	annotation_init(a);
	annotation_set_names(a, p, event, function);
	hot_addresses(p, event, function, a);
	code_build(&b->code, function, &code);
	annotation_of_code(a, &code);
	code_release(&code);
}
