/* Regular expressions come from whoever may look at a run. */
#include "analyze/paths/frame_filter.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {
		"main", "std::vector<int, std::allocator<int> >::push_back(int const&)",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "[libx.so]"};
	char *expression = xstrndup((const char *)data, size);
	struct call_paths c;
	struct profile p;
	bool *nodes = NULL;
	struct err e;

	profile_init(&p);
	call_paths_init(&c);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		call_path_of(&c, &p,
			     profile_stack(
				     &p, (stack_id){(uint32_t)i},
				     profile_frame_named(&p, names[i], strlen(names[i]), CODE_USER))
				     .n);
	if (frame_filter_make(&nodes, &c, &p, expression, &e) == 0 && nodes[0])
		abort(); /* the root is nobody's */
	free(nodes);
	call_paths_release(&c);
	profile_release(&p);
	free(expression);
	return 0;
}
